/**
 * URLs of this server: one for clients on this host, and the advertised URL for other hosts. The two URLs differ if
 * `--advertise-address` specifies the address of another host, such as a load balancer.
 */
import { networkInterfaces } from 'node:os'
import type { ServerOptions } from '../flags/options.ts'

type Addresses = Pick<ServerOptions, 'advertiseAddress' | 'bindAddress'>

/**
 * Returns a URL on which the server listens, for the administrator's kubeconfig, the console link and the server's own
 * requests.
 */
export function servedUrl({ advertiseAddress, bindAddress }: Addresses, port: number, isLocal = isLocalAddress): URL {
  if (!isWildcard(bindAddress)) return urlOf(bindAddress, port)
  const isServed = bindAddress === '::' || !isIpv6(advertiseAddress)
  return urlOf(isServed && isLocal(advertiseAddress) ? advertiseAddress : '127.0.0.1', port)
}

/** Returns the URL of this server for clients on other hosts. */
export function advertisedUrl(options: Addresses, port: number): URL {
  return options.advertiseAddress === '' ? servedUrl(options, port) : urlOf(options.advertiseAddress, port)
}

function urlOf(address: string, port: number): URL {
  return new URL(`https://${isIpv6(address) ? `[${address}]` : address}:${port}`)
}

function isLocalAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some((each) => each.address === address))
}

function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

function isIpv6(address: string): boolean {
  return address.includes(':')
}

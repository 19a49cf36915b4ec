/**
 * Which addresses this server connects to because an object names them, a Node's status or a Pod's: none of this machine
 * itself, and none that lead no further than the next link, where clouds answer with credentials.
 */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { formatIp, parseIp } from '../model/ip-range.ts'
import { CallError } from '../outbound/call-error.ts'
import type { Address } from '../outbound/service-address.ts'

const refused = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
] as const)
  refused.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  refused.addSubnet(network, prefix, 'ipv6')

/** Whether it is an address that leads to another machine. IPv4 addresses written as IPv6 are what they stand for. */
export function leadsAway(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && !refused.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/**
 * The address of a host, by which it is to be connected to: resolved once, so that what was checked is what is used.
 * Throws CallError where it may not be connected to, or does not exist.
 */
export async function resolveAway(host: string, port: number, own: Address | undefined): Promise<string> {
  const addresses = isIP(host) === 0 ? await resolve(host) : [host]
  const [first] = addresses
  if (first === undefined) throw new CallError('connection', 'no such host')
  if (!addresses.every(leadsAway) || addresses.some((address) => isOwn(address, port, own)))
    throw new CallError('connection', 'address not allowed: it is of this machine, or of the local link')
  return first
}

async function resolve(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    throw new CallError('connection', 'no such host')
  }
}

function isOwn(address: string, port: number, own: Address | undefined): boolean {
  if (own === undefined || port !== own.port) return false
  const local = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const wanted = canonical(address)
  return [own.host, ...local.map((each) => each.address)].some((each) => canonical(each) === wanted)
}

/** Each address has one spelling here: `::ffff:10.0.0.1` is 10.0.0.1. What is none stays as it is. */
function canonical(address: string): string {
  const ip = parseIp(address)
  return ip === undefined ? address : formatIp(ip)
}

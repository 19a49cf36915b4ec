/**
 * Opens a connection to a server, directly or through a proxy, and negotiates the HTTP version. The connection uses TLS
 * unless the URL starts with `http:`, as the URL of `orchctl proxy` does.
 */
import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { TransportError } from '../requests/transport.ts'
import type { ClientCertificate } from './credentials.ts'

export interface DialOptions {
  /**
   * URL of the server, such as https://127.0.0.1:6443. An http URL is not secure and must not be used with credentials.
   */
  readonly server: string
  /** CA certificates for verifying the server, in PEM format. Defaults to the well-known CAs. */
  readonly authority?: string
  /** Whether to skip verification of the server's certificate. */
  readonly insecure?: boolean
  /** Name to verify in the server's certificate, if it differs from the host in the URL. */
  readonly serverName?: string
  /** URL of an HTTP proxy, such as http://127.0.0.1:3128. */
  readonly proxy?: string
  /** ALPN protocols to offer. Defaults to HTTP/2, then HTTP/1.1. */
  readonly protocols?: readonly string[]
}

const connectMs = 10_000

/** An open connection. A TLS connection knows the negotiated protocol. */
export interface Dialed extends Socket {
  readonly alpnProtocol?: string | false | null
}

/** Whether requests to the server are encrypted. */
export function isSecure(server: string): boolean {
  return new URL(server).protocol === 'https:'
}

/**
 * Opens a connection. Resolves when the connection is open and the server is verified, unless verification is disabled.
 */
export async function dial(options: DialOptions, certificate: ClientCertificate | undefined): Promise<Dialed> {
  const { hostname, port } = new URL(options.server)
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (isSecure(options.server) ? 443 : 80)) }
  try {
    const tunnel = options.proxy === undefined ? undefined : await openTunnel(options.proxy, target)
    if (!isSecure(options.server)) return tunnel ?? (await opened('connect', target))
    return await opened('secureConnect', {
      ...tlsOptions(options, certificate),
      ...target,
      ...(tunnel && { socket: tunnel }),
    })
  } catch (error) {
    throw new TransportError(`cannot connect to ${options.server}`, { cause: error })
  }
}

function opened(ready: 'connect' | 'secureConnect', options: ConnectionOptions & { port: number }): Promise<Dialed> {
  return new Promise((resolve, reject) => {
    // Load only `connect`. An `import` would evaluate all exports of the module, including the well-known CAs.
    const socket: Dialed =
      ready === 'connect'
        ? process.getBuiltinModule('node:net').connect(options)
        : process.getBuiltinModule('node:tls').connect(options)
    const timer = setTimeout(() => socket.destroy(new Error('no response in time')), connectMs)
    socket.setNoDelay(true)
    socket.once(ready, () => {
      clearTimeout(timer)
      socket.off('error', reject)
      socket.off('close', fail)
      resolve(socket)
    })
    const fail = () => {
      clearTimeout(timer)
      reject(new Error('the connection was closed before it could be used'))
    }
    socket.once('error', reject)
    socket.once('close', fail)
  })
}

function tlsOptions(
  { server, authority, insecure, serverName, protocols = ['h2', 'http/1.1'] }: DialOptions,
  certificate: ClientCertificate | undefined,
): ConnectionOptions {
  const name = serverName ?? new URL(server).hostname
  return {
    ALPNProtocols: [...protocols],
    ...(authority === undefined ? {} : { ca: authority }),
    ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    ...(insecure ? { rejectUnauthorized: false } : {}),
    // SNI does not allow IP addresses. The certificate is still verified against the address.
    ...(isAddress(name) ? {} : { servername: name }),
  }
}

function isAddress(name: string): boolean {
  return process.getBuiltinModule('node:net').isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

async function openTunnel(proxy: string, target: { host: string; port: number }): Promise<Socket> {
  const { tunnelThrough } = await import('./proxy-tunnel.ts')
  return await tunnelThrough(proxy, { ...target, timeoutMs: connectMs })
}

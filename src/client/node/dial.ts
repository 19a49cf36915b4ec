/**
 * Opens a connection to a server, straight or through a proxy, and finds out which HTTP the server speaks. It is secure,
 * unless the address of the server begins with http, as that of `orchctl proxy` does.
 */
import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { TransportError } from '../requests/transport.ts'
import type { ClientCertificate } from './credentials.ts'

export interface DialOptions {
  /** Such as https://127.0.0.1:6443; http://127.0.0.1:8001 is not secure, and no place for credentials. */
  readonly server: string
  /** PEM of the authorities that the server's certificate may be signed by; left out: the well-known ones. */
  readonly authority?: string
  /** Whether any certificate of the server will do. */
  readonly insecure?: boolean
  /** The name that the server's certificate must be for, where that is not the one in its address. */
  readonly serverName?: string
  /** The HTTP proxy on the way to it, such as http://127.0.0.1:3128. */
  readonly proxy?: string
  /** Which HTTP to offer; left out: HTTP/2 before HTTP/1.1. */
  readonly protocols?: readonly string[]
}

const connectMs = 10_000

/** A connection, and the protocol that was agreed on when it was secured. */
export interface Dialed extends Socket {
  readonly alpnProtocol?: string | false | null
}

/** Whether nobody else could read or change what is sent to the server. */
export function isSecure(server: string): boolean {
  return new URL(server).protocol === 'https:'
}

/** Resolves when the server is known to be the one that is meant, or is not to be known at all. */
export async function dial(options: DialOptions, certificate: ClientCertificate | undefined): Promise<Dialed> {
  const { hostname, port } = new URL(options.server)
  const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (isSecure(options.server) ? 443 : 80)) }
  try {
    const tunnel = options.proxy === undefined ? undefined : await tunnelThrough(options.proxy, target)
    if (!isSecure(options.server)) return tunnel ?? (await opened('connect', target))
    return await opened('secureConnect', {
      ...tlsOptions(options, certificate),
      ...target,
      ...(tunnel && { socket: tunnel }),
    })
  } catch (error) {
    throw new TransportError(`${options.server} is not reached`, { cause: error })
  }
}

function opened(ready: 'connect' | 'secureConnect', options: ConnectionOptions & { port: number }): Promise<Dialed> {
  return new Promise((resolve, reject) => {
    // Not imported: that would look at all that the module has, and load the well-known authorities.
    const socket: Dialed =
      ready === 'connect'
        ? process.getBuiltinModule('node:net').connect(options)
        : process.getBuiltinModule('node:tls').connect(options)
    const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), connectMs)
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
    // An address is not a name that a client may ask for; certificates are held against it all the same.
    ...(isAddress(name) ? {} : { servername: name }),
  }
}

function isAddress(name: string): boolean {
  return process.getBuiltinModule('node:net').isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

/** Asks the proxy to connect us. Its name and password, if it wants them, stand in its address. */
async function tunnelThrough(proxy: string, target: { host: string; port: number }): Promise<Socket> {
  const { protocol, hostname, port, username, password } = new URL(proxy)
  const { request } = protocol === 'https:' ? await import('node:https') : await import('node:http')
  const authority = target.host.includes(':') ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return await new Promise((resolve, reject) => {
    const call = request({
      host: hostname.replace(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port }),
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        ...(username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }),
      },
      agent: false,
    })
    const timer = setTimeout(() => call.destroy(new Error('no answer in time')), connectMs)
    call.once('close', () => clearTimeout(timer))
    const refuse = (status: number | undefined) =>
      reject(new Error(`the proxy ${new URL(proxy).host} answered ${status} when asked to connect`))
    call.once('connect', (answer, socket) => {
      clearTimeout(timer)
      if (answer.statusCode === 200) return resolve(socket as Socket)
      socket.destroy()
      refuse(answer.statusCode)
    })
    call.once('response', (answer) => {
      answer.destroy()
      refuse(answer.statusCode)
    })
    call.once('error', (error) =>
      reject(new Error(`the proxy ${new URL(proxy).host} is not reached`, { cause: error })),
    )
    call.end()
  })
}

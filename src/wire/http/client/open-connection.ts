/** Opens connections for HTTP/1.1, with or without TLS. The server is verified before any data is sent. */
import type { Socket } from 'node:net'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { readFairly } from '../fair-reading.ts'

/**
 * Checks the server's certificate after the TLS handshake. Returns why the server must not be trusted, or undefined if
 * it is trusted.
 */
export type ServerVerifier = (socket: TLSSocket, options: ConnectionOptions) => Error | undefined

/** The address of a server and the TLS settings. */
export interface TlsTarget extends ConnectionOptions {
  readonly host: string
  readonly port: number
  /** Verifies the server in place of Node's own check. */
  readonly verifier?: ServerVerifier | undefined
  /** Called for each TLS session that a later connection can resume. */
  readonly onSession?: ((session: Buffer) => void) | undefined
}

/** Maximum time in milliseconds to establish a connection. */
const connectMs = 60_000

type OnSocket = (socket: Socket) => void

/**
 * Opens a TLS connection. Throws Node's error if the connection cannot be established or the server is not trusted.
 * `onSocket` is called before the connection is established.
 */
export function openTls({ verifier, onSession, ...target }: TlsTarget, onSocket?: OnSocket): Promise<TLSSocket> {
  const options = {
    ...target,
    ...(verifier === undefined ? {} : { rejectUnauthorized: false }),
    ALPNProtocols: ['http/1.1'],
    noDelay: true,
    timeout: connectMs,
    // SNI does not allow IP addresses. Without a server name, Node checks the certificate against `host`.
    servername: isAddress(target.servername ?? target.host) ? '' : (target.servername ?? target.host),
  }
  // Load only `connect`. An `import` would evaluate all exports of the module, including the list of well-known CAs,
  // whose evaluation takes a long time.
  const socket = process.getBuiltinModule('node:tls').connect(options)
  if (onSession !== undefined) socket.on('session', onSession)
  onSocket?.(socket)
  return ready(socket, 'secureConnect', () => verifier?.(socket, options))
}

/**
 * Opens a TCP connection. Throws Node's error if the connection cannot be established. `onSocket` is called before the
 * connection is established.
 */
export function openTcp(host: string, port: number, onSocket?: OnSocket): Promise<Socket> {
  const socket = process.getBuiltinModule('node:net').connect({ host, port, noDelay: true, timeout: connectMs })
  onSocket?.(socket)
  return ready(socket, 'connect', () => undefined)
}

function isAddress(name: string): boolean {
  return process.getBuiltinModule('node:net').isIP(name) !== 0
}

function ready<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  faultOf: () => Error | undefined,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const onTimeout = () => socket.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }))
    socket.once('error', reject)
    socket.once('close', () => reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' })))
    socket.once('timeout', onTimeout)
    socket.once(event, () => {
      socket.off('timeout', onTimeout)
      socket.setTimeout(0)
      const fault = faultOf()
      if (fault !== undefined) {
        socket.destroy(fault)
        return
      }
      readFairly(socket)
      // Keep the error listener, because the new owner adds its own only in a later microtask.
      resolve(socket)
    })
  })
}

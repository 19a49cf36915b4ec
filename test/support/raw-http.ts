/**
 * Sends raw requests that no well-behaved client would send, over HTTP/1.1 and HTTP/2. Returns the complete responses.
 */
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import type { Served } from './server.ts'

export interface RawAnswer {
  readonly status: number
  readonly text: string
}

const patienceMs = 60_000

export function caOf({ directory }: Served): string {
  return readFileSync(join(directory, 'data/pki/ca.crt'), 'utf8')
}

/** TLS contexts by CA, which are cached because parsing a CA takes as long as a handshake. */
const contexts = new Map<string, SecureContext>()

function contextOf(server: Served): SecureContext {
  const ca = caOf(server)
  const context = contexts.get(ca) ?? createSecureContext({ ca })
  contexts.set(ca, context)
  return context
}

/** Opens a TLS connection. If `localAddress` is set, connects from that loopback address. */
export async function openSocket(server: Served, alpn: string, localAddress = '127.0.0.1'): Promise<TLSSocket> {
  const secureContext = contextOf(server)
  const address = { host: '127.0.0.1', port: server.port, localAddress }
  const socket = connectTls({ ...address, secureContext, ALPNProtocols: [alpn] })
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  return socket
}

/** Sends bytes on a new connection, and returns everything received until the server closes the connection. */
export async function sendBytes(server: Served, bytes: string | Buffer): Promise<string> {
  const socket = await openSocket(server, 'http/1.1')
  socket.write(bytes)
  return await untilClosed(socket)
}

/**
 * Returns everything that a server sends until it closes or resets the connection. Fails if the server does neither.
 */
export function untilClosed(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`the server did not close the connection; so far it sent ${JSON.stringify(text.slice(0, 500))}`))
    }, patienceMs)
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(text)
    })
  })
}

/** Returns the status codes of all responses in a text. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
}

/** Sends one HTTP/1.1 request with the given header lines on a separate connection. */
export async function sendHead(server: Served, lines: readonly string[], body = ''): Promise<RawAnswer> {
  const head = [...lines, 'Host: 127.0.0.1', 'Connection: close', '', ''].join('\r\n')
  const text = await sendBytes(server, Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]))
  return { status: statusesOf(text)[0] ?? 0, text }
}

export function openSession(server: Served): ClientHttp2Session {
  // By default, Node's client cannot send the same header twice.
  const lenient = { ca: caOf(server), strictSingleValueFields: false }
  const session = connectHttp2(server.url, lenient)
  // Callers learn about the end of the session through its streams.
  session.on('error', () => {})
  return session
}

/** Sends one HTTP/2 request on a separate connection. Status 0 means that the server reset the stream. */
export async function sendHttp2(
  server: Served,
  headers: OutgoingHttpHeaders | readonly string[],
  body: readonly (string | Buffer)[] = [],
): Promise<RawAnswer> {
  const session = openSession(server)
  try {
    return await ask(session, headers, body)
  } finally {
    session.destroy()
  }
}

/** Sends one HTTP/2 request on an existing session. */
export function ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders | readonly string[],
  body: readonly (string | Buffer)[] = [],
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers as OutgoingHttpHeaders, { endStream: body.length === 0 })
    const timer = setTimeout(() => reject(new Error('no answer to a request in HTTP/2')), patienceMs)
    let status = 0
    let text = ''
    stream.on('response', (head) => (status = head[':status'] ?? 0))
    stream.on('data', (chunk) => (text += chunk))
    stream.on('error', () => {})
    stream.on('close', () => {
      clearTimeout(timer)
      resolve({ status, text })
    })
    for (const chunk of body) stream.write(chunk)
    if (body.length > 0) stream.end()
  })
}

/**
 * The client's transport over the network, for Node: HTTP/2 over TLS, with a client certificate or a token.
 *
 * Requests share a connection; a further one is opened when the first is full, up to a limit. A connection that ends
 * is replaced by the next request that needs it, one that answers no ping is cut. `close` ends them all.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2'
import { orAborted } from '../../base/abort.ts'
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../transport.ts'

export interface HttpTransportOptions {
  /** Such as https://127.0.0.1:6443; a path in it comes before all others. */
  readonly server: string
  /** PEM of the authorities that the server's certificate may be signed by; left out: the well-known ones. */
  readonly authority?: string
  /** PEM of the client's certificate and key. */
  readonly certificate?: { readonly certificate: string; readonly key: string }
  /** A bearer token, asked for before every request. */
  readonly token?: () => string | Promise<string>
  /** Whether any certificate of the server will do. */
  readonly insecure?: boolean
  /** The name that the server's certificate must be for, where that is not the one in its address. */
  readonly serverName?: string
  /** Go out with every request. */
  readonly headers?: { readonly [name: string]: string | readonly string[] }
  /** How often a connection is tried; one that has not answered by the next time is cut. */
  readonly pingMs?: number
}

const maxConnections = 8
/** Servers allow 100 streams and more. */
const maxStreams = 100
const connectMs = 10_000
const usualPingMs = 30_000

export class HttpTransport {
  readonly #options: HttpTransportOptions
  readonly #prefix: string
  readonly #connections = new Set<Connection>()
  #closed = false

  constructor(options: HttpTransportOptions) {
    this.#options = options
    this.#prefix = new URL(options.server).pathname.replace(/\/$/, '')
  }

  readonly send: Transport = async (request) => {
    const token = await this.#options.token?.()
    const headers = token === undefined ? request.headers : { ...request.headers, authorization: `Bearer ${token}` }
    const connection = this.#connection()
    return await connection.send({ ...request, headers, path: this.#prefix + request.path })
  }

  /** Cuts off what is under way. */
  close(): void {
    this.#closed = true
    for (const connection of this.#connections) connection.destroy()
  }

  #connection(): Connection {
    if (this.#closed) throw new TransportError('the transport is closed')
    for (const connection of this.#connections) if (connection.hasRoom) return connection
    if (this.#connections.size >= maxConnections)
      throw new TransportError(`more than ${maxConnections * maxStreams} requests at once`)
    const connection: Connection = new Connection(this.#options, () => this.#connections.delete(connection))
    this.#connections.add(connection)
    return connection
  }
}

class Connection {
  /** Requests under way. */
  #streams = 0
  readonly #session: ClientHttp2Session
  readonly #opened: Promise<void>
  readonly #server: string
  readonly #headers: HttpTransportOptions['headers']

  /** `onLeaving` is called when it takes no further requests. */
  constructor(options: HttpTransportOptions, onLeaving: () => void) {
    this.#server = options.server
    this.#headers = options.headers
    this.#session = connect(new URL(options.server).origin, secureOptions(options))
    this.#opened = this.#open()
    const pings = keepAlive(this.#session, options.pingMs ?? usualPingMs)
    this.#session.on('goaway', onLeaving)
    this.#session.on('close', () => {
      clearInterval(pings)
      onLeaving()
    })
  }

  #open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(new TransportError(`${this.#server} is not reached`, { cause: error }))
      const timer = setTimeout(() => this.#session.destroy(new Error('no answer in time')), connectMs)
      this.#session.once('connect', () => {
        clearTimeout(timer)
        resolve()
      })
      // Later errors end the streams, which report them.
      this.#session.on('error', fail)
      this.#session.once('close', () => {
        clearTimeout(timer)
        fail(undefined)
      })
    })
  }

  /** Whether it takes a further request. */
  get hasRoom(): boolean {
    return this.#streams < maxStreams && !this.#ended
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    this.#streams++
    const stream = await this.#begin(request).catch((error: unknown) => {
      this.#streams--
      throw error
    })
    stream.once('close', () => this.#streams--)
    return await answerOf(stream, request.signal)
  }

  destroy(): void {
    this.#session.destroy()
  }

  // One that was destroyed is not `closed`, and may take a while to say that it is.
  get #ended(): boolean {
    return this.#session.closed || this.#session.destroyed
  }

  async #begin({ method, path, headers, body, signal }: TransportRequest): Promise<ClientHttp2Stream> {
    await orAborted(this.#opened, signal)
    if (this.#ended) throw new TransportError(`the connection to ${this.#server} has ended`)
    const stream = this.#session.request(
      { ...headers, ...this.#headers, ':method': method, ':path': path },
      { endStream: body === undefined, signal },
    )
    if (body !== undefined) stream.end(body)
    return stream
  }
}

function secureOptions({
  authority,
  certificate,
  insecure,
  serverName,
}: HttpTransportOptions): SecureClientSessionOptions {
  return {
    ...(authority === undefined ? {} : { ca: authority }),
    ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    ...(insecure ? { rejectUnauthorized: false } : {}),
    ...(serverName === undefined ? {} : { servername: serverName }),
  }
}

/** Cuts a connection whose other end has gone without a word. */
function keepAlive(session: ClientHttp2Session, pingMs: number): NodeJS.Timeout {
  let answered = true
  const ping = () => {
    if (session.connecting || session.destroyed) return
    if (!answered) return session.destroy(new Error('no answer to a ping'))
    answered = false
    session.ping(() => {
      answered = true
    })
  }
  return setInterval(ping, pingMs).unref()
}

function answerOf(stream: ClientHttp2Stream, signal: AbortSignal): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const fail = (cause?: unknown) =>
      reject(signal.aborted ? signal.reason : new TransportError('the connection broke before an answer', { cause }))
    stream.on('error', fail)
    stream.once('close', () => fail())
    stream.once('response', (headers) =>
      resolve({ status: Number(headers[':status']), headers: plain(headers), body: bodyOf(stream, signal) }),
    )
  })
}

/** Leaving the iteration destroys the stream, which the server notices. */
async function* bodyOf(stream: ClientHttp2Stream, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) yield chunk
  } catch (error) {
    signal.throwIfAborted()
    throw new TransportError('the connection broke in the middle of an answer', { cause: error })
  }
  signal.throwIfAborted()
  // A connection that breaks ends its streams as if they were complete, but for these marks.
  if (stream.aborted || (stream.rstCode ?? 0) !== 0)
    throw new TransportError('the connection broke in the middle of an answer')
}

function plain(headers: IncomingHttpHeaders): { [name: string]: string } {
  const entries = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : `${value}`]),
  )
}

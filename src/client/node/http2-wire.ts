/**
 * HTTP/2: requests share a connection; a further one is opened when the first is full, up to a limit. A connection that
 * ends is replaced by the next request that needs it, one that answers no ping is cut.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2'
import { orAborted } from '../../base/concurrency/abort.ts'
import { TransportError, type TransportResponse } from '../requests/transport.ts'
import type { Dialed } from './dial.ts'
import type { Wire, WireRequest } from './wire.ts'

export interface Http2WireOptions {
  readonly server: string
  readonly dial: () => Promise<Dialed>
  /** How often a connection is tried; one that has not answered by the next time is cut. */
  readonly pingMs: number
}

const maxConnections = 8
/** Servers allow 100 streams and more. */
const maxStreams = 100

export class Http2Wire implements Wire {
  readonly #options: Http2WireOptions
  readonly #connections = new Set<Connection>()

  /** `first` is a connection that is there already. */
  constructor(options: Http2WireOptions, first: Dialed) {
    this.#options = options
    this.#add(Promise.resolve(first))
  }

  async send(request: WireRequest): Promise<TransportResponse> {
    return await this.#connection().send(request)
  }

  retire(): void {
    for (const connection of this.#connections) connection.retire()
  }

  destroy(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  #connection(): Connection {
    for (const connection of this.#connections) if (connection.hasRoom) return connection
    if (this.#connections.size >= maxConnections)
      throw new TransportError(`more than ${maxConnections * maxStreams} requests at once`)
    return this.#add(this.#options.dial())
  }

  #add(socket: Promise<Dialed>): Connection {
    const connection: Connection = new Connection(this.#options, socket, () => this.#connections.delete(connection))
    this.#connections.add(connection)
    return connection
  }
}

class Connection {
  /** Requests under way. */
  #streams = 0
  /** Whether it takes no further requests, and whether it was cut off. */
  #left = false
  #destroyed = false
  #session: ClientHttp2Session | undefined
  readonly #opening: Promise<ClientHttp2Session>
  readonly #server: string

  /** `onLeaving` is called when it takes no further requests. */
  constructor({ server, pingMs }: Http2WireOptions, socket: Promise<Dialed>, onLeaving: () => void) {
    this.#server = server
    const leave = () => {
      this.#left = true
      onLeaving()
    }
    this.#opening = socket.then((secure) => {
      const session = openSession(server, secure, pingMs)
      session.once('goaway', leave)
      session.once('close', leave)
      if (this.#destroyed) session.destroy()
      this.#session = session
      return session
    })
    this.#opening.catch(leave) // Those who wait for it get the error.
  }

  /** Whether it takes a further request. */
  get hasRoom(): boolean {
    return this.#streams < maxStreams && !this.#left
  }

  async send(request: WireRequest): Promise<TransportResponse> {
    this.#streams++
    const stream = await this.#begin(request).catch((error: unknown) => {
      this.#streams--
      throw error
    })
    stream.once('close', () => this.#streams--)
    return await answerOf(stream, request.signal)
  }

  retire(): void {
    this.#left = true
    this.#opening.then(
      (session) => session.close(),
      () => {},
    )
  }

  destroy(): void {
    this.#left = true
    this.#destroyed = true
    // Without an error, answers that are under way would seem complete.
    this.#session?.destroy(new Error('the connection was closed'))
  }

  async #begin({ method, path, headers, body, signal }: WireRequest): Promise<ClientHttp2Stream> {
    const session = this.#session ?? (await orAborted(this.#opening, signal))
    // One that was destroyed is not `closed`, and may take a while to say that it is.
    if (session.closed || session.destroyed) throw new TransportError(`the connection to ${this.#server} has ended`)
    const stream = session.request(
      { ...headers, ':method': method, ':path': path },
      { endStream: body === undefined, signal },
    )
    if (body !== undefined) stream.end(body)
    return stream
  }
}

function openSession(server: string, socket: Dialed, pingMs: number): ClientHttp2Session {
  const session = connect(new URL(server).origin, { createConnection: () => socket })
  // Errors end the streams, which report them.
  session.on('error', () => {})
  const pings = keepAlive(session, pingMs)
  session.once('close', () => clearInterval(pings))
  return session
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

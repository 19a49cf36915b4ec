/**
 * HTTP/2, in which requests share a connection. If all connections are full, another connection is opened, up to a
 * limit. A connection that has ended is replaced on demand, and a connection that does not respond to a ping is closed.
 * A request that reaches a server while the server is closing the connection is sent again on another connection.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import { orAborted } from '../../base/concurrency/abort.ts'
import { TransportError, type TransportResponse } from '../requests/transport.ts'
import type { Dialed } from './dial.ts'
import type { Wire, WireRequest } from './wire.ts'

export interface Http2WireOptions {
  readonly server: string
  readonly dial: () => Promise<Dialed>
  /** Ping interval in milliseconds. A connection that has not responded by the next ping is closed. */
  readonly pingMs: number
}

const maxConnections = 8
/** Maximum number of concurrent streams on a connection. All servers allow at least 100. */
const maxStreams = 100
/** Maximum number of times to repeat a request that the server refused without processing it. */
const maxRefusals = 3

/**
 * The error for a request whose stream the server refused. The server guarantees that it has not processed the request.
 */
class RefusedRequest extends TransportError {}

export class Http2Wire implements Wire {
  readonly #options: Http2WireOptions
  readonly #connections = new Set<Connection>()
  #isDestroyed = false

  /** Creates the set of connections. `first` is open already. */
  constructor(options: Http2WireOptions, first: Dialed) {
    this.#options = options
    this.#add(Promise.resolve(first))
  }

  async send(request: WireRequest): Promise<TransportResponse> {
    for (let refusals = 0; ; refusals++)
      try {
        return await this.#connection().send(request)
      } catch (error) {
        if (!(error instanceof RefusedRequest) || refusals === maxRefusals || this.#isDestroyed) throw error
      }
  }

  retire(): void {
    for (const connection of this.#connections) connection.retire()
  }

  destroy(): void {
    this.#isDestroyed = true
    for (const connection of this.#connections) connection.destroy()
  }

  #connection(): Connection {
    for (const connection of this.#connections) if (connection.hasRoom) return connection
    if (this.#connections.size >= maxConnections)
      throw new TransportError(`too many concurrent requests: the limit is ${maxConnections * maxStreams}`)
    return this.#add(this.#options.dial())
  }

  #add(socket: Promise<Dialed>): Connection {
    const connection: Connection = new Connection(this.#options, socket, () => this.#connections.delete(connection))
    this.#connections.add(connection)
    return connection
  }
}

class Connection {
  /** Number of active requests on the connection. */
  #streams = 0
  /** Whether the connection is only finishing its current requests. */
  #isDraining = false
  #destroyed = false
  #session: ClientHttp2Session | undefined
  readonly #opening: Promise<ClientHttp2Session>
  readonly #server: string
  readonly #leave: () => void

  /** Starts HTTP/2 on a connection. `onLeaving` is called when the connection accepts no more requests. */
  constructor({ server, pingMs }: Http2WireOptions, socket: Promise<Dialed>, onLeaving: () => void) {
    this.#server = server
    const leave = () => {
      this.#isDraining = true
      onLeaving()
    }
    this.#leave = leave
    this.#opening = socket.then((secure) => {
      const session = openSession(server, secure, pingMs)
      session.once('goaway', leave)
      session.once('close', leave)
      if (this.#destroyed) session.destroy()
      this.#session = session
      return session
    })
    this.#opening.catch(leave) // The error is ignored here, because callers that wait for the connection receive it.
  }

  /** Whether the connection accepts another request. */
  get hasRoom(): boolean {
    return this.#streams < maxStreams && !this.#isDraining
  }

  async send(request: WireRequest): Promise<TransportResponse> {
    this.#streams++
    const stream = await this.#begin(request).catch((error: unknown) => {
      this.#streams--
      throw error
    })
    stream.once('close', () => this.#streams--)
    try {
      return await answerOf(stream, request.signal)
    } catch (error) {
      if (error instanceof RefusedRequest) this.#leave()
      throw error
    }
  }

  retire(): void {
    this.#isDraining = true
    this.#opening.then(
      (session) => session.close(),
      () => {},
    )
  }

  destroy(): void {
    this.#isDraining = true
    this.#destroyed = true
    // Pass an error. Without one, interrupted responses would look complete.
    this.#session?.destroy(new Error('the connection was closed'))
  }

  async #begin({ method, path, headers, body, signal }: WireRequest): Promise<ClientHttp2Stream> {
    const session = this.#session ?? (await orAborted(this.#opening, signal))
    // Check both flags. A destroyed session is not `closed` until its close event, which can be late.
    if (session.closed || session.destroyed) throw new RefusedRequest(`the connection to ${this.#server} is closed`)
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
  // Ignore the error here, because each stream of the session reports it.
  session.on('error', () => {})
  const pings = keepAlive(session, pingMs)
  session.once('close', () => clearInterval(pings))
  return session
}

/** Closes a connection whose peer no longer responds. */
function keepAlive(session: ClientHttp2Session, pingMs: number): NodeJS.Timeout {
  let answered = true
  const ping = () => {
    if (session.connecting || session.destroyed) return
    if (!answered) return session.destroy(new Error('no response to a ping'))
    answered = false
    session.ping(() => {
      answered = true
    })
  }
  return setInterval(ping, pingMs).unref()
}

function answerOf(stream: ClientHttp2Stream, signal: AbortSignal): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const fail = (cause?: unknown) => {
      const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
      const Failure = isRefused ? RefusedRequest : TransportError
      reject(signal.aborted ? signal.reason : new Failure('the connection closed before a response arrived', { cause }))
    }
    stream.on('error', fail)
    stream.once('close', () => fail())
    stream.once('response', (headers) =>
      resolve({ status: Number(headers[':status']), headers: plain(headers), body: responseBody(stream, signal) }),
    )
  })
}

/** Yields the body. If the caller stops iterating, the stream is destroyed, so that the server stops sending. */
async function* responseBody(stream: ClientHttp2Stream, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) yield chunk
  } catch (error) {
    signal.throwIfAborted()
    throw new TransportError('the connection closed before the response was complete', { cause: error })
  }
  signal.throwIfAborted()
  // If the connection breaks, its streams end as if they were complete. Only these properties distinguish the two
  // cases.
  if (stream.aborted || (stream.rstCode ?? 0) !== 0)
    throw new TransportError('the connection closed before the response was complete')
}

function plain(headers: IncomingHttpHeaders): { [name: string]: string } {
  const entries = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : `${value}`]),
  )
}

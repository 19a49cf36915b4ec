/**
 * One gRPC session with one member of the cluster. The session is opened with a deadline, monitored by pings, and used
 * for calls and streams.
 *
 * If the member stops responding, the session is destroyed and all its calls fail. No call waits for an unreachable
 * member beyond the call's deadline. connection.ts selects the member and decides which calls to retry.
 */

import { isIP, type Socket, connect as tcpConnect } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { isError } from '../../../base/text/errors.ts'
import { encodeHeaders } from '../../../wire/http2/header-block.ts'
import { CallError, failureOf, MessageCutter, timeoutHeader } from './grpc.ts'
import {
  type Headers,
  Http2Client,
  type Stream,
  type StreamFailure,
  type StreamReader,
  type StreamRequest,
} from './http2-client.ts'
import type { Method } from './messages.ts'

export interface Tls {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
}

export interface SessionOptions {
  readonly endpoint: URL
  readonly tls: Tls | undefined
  readonly connectMs: number
  readonly signal: AbortSignal
}

// Maximum time in milliseconds to wait for the response to a ping. A working member responds immediately. By default, a
// member closes sessions that send more than one ping in five seconds.
const pingAnswerMs = 1_500
/**
 * How often sessions are checked for silence and pinged, in milliseconds. Sessions are checked frequently while calls
 * wait for a response, and less often while only watches are open.
 */
const calls = { silenceMs: 1_500, pingSpacingMs: 6_000 }
const watches = { silenceMs: 15_000, pingSpacingMs: 15_000 }

export class Session {
  readonly endpoint: URL
  #pinged = 0
  #calls = 0
  #streams = 0
  readonly #watchdog: NodeJS.Timeout
  readonly #http: Http2Client
  /**
   * The encoded headers of the last request for each method. Most requests can reuse them, because nearly all requests
   * have the same timeout.
   */
  readonly #headers = new Map<Method, { timeout: string | undefined; encoded: Buffer }>()

  /** Resolves when the member has accepted the connection, including TLS, and has responded with HTTP/2. */
  static async open({ endpoint, tls, connectMs, signal }: SessionOptions): Promise<Session> {
    const opening = new Opening(connectMs, signal)
    try {
      const socket = await opening.connect(endpoint, tls)
      return new Session(endpoint, await opening.greet(socket))
    } finally {
      opening.done()
    }
  }

  private constructor(endpoint: URL, http: Http2Client) {
    this.endpoint = endpoint
    this.#http = http
    this.#watchdog = setInterval(() => this.#checkSilence(), 500)
    this.#watchdog.unref()
  }

  /** Whether a new call can be made. False if the session is closed or the member has sent GOAWAY. */
  get usable(): boolean {
    return this.#http.usable
  }

  /** Whether the session and all its calls have ended. */
  get isClosed(): boolean {
    return this.#http.destroyed
  }

  /** Sends one request and returns its response before `deadline`, which is on the monotonic clock. */
  call(method: Method, request: Buffer, deadline: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const remainingMs = Math.max(0, deadline - performance.now())
      const answer = new Answer((bytes) => this.#http.consumed(stream, bytes))
      answer.onSettled = () => {
        clearTimeout(timer)
        this.#calls--
        this.#http.cancel(stream)
        if (answer.failure === undefined) resolve(answer.message!)
        else reject(answer.failure)
      }
      const headers = this.#headersOf(method, timeoutHeader(remainingMs))
      const stream = this.#open({ headers, body: request, ends: true }, answer)
      this.#calls++
      const timer = setTimeout(() => answer.settle(late(stream)), remainingMs)
    })
  }

  /** Sends one request and yields messages until the member ends the stream or `signal` aborts. */
  async *stream(method: Method, request: Buffer, signal: AbortSignal): AsyncGenerator<Buffer> {
    if (signal.aborted) return
    const arrivals = new Arrivals()
    const stream = this.#open({ headers: this.#headersOf(method), body: request, ends: false }, arrivals)
    const cutter = new MessageCutter()
    const cancel = () => arrivals.end()
    signal.addEventListener('abort', cancel)
    this.#streams++
    try {
      for (let chunk = await arrivals.next(); chunk !== undefined; chunk = await arrivals.next()) {
        if (signal.aborted) return
        this.#http.consumed(stream, chunk.length)
        yield* cutter.push(chunk)
      }
      if (!signal.aborted) throw arrivals.failure ?? new CallError('the etcd member closed the stream', { sent: true })
    } finally {
      this.#streams--
      signal.removeEventListener('abort', cancel)
      this.#http.cancel(stream)
    }
  }

  /** Rejects new calls. The session ends after the active calls. */
  retire(): void {
    this.#http.close()
  }

  /** Ends the session and all its calls and streams immediately. */
  destroy(): void {
    clearInterval(this.#watchdog)
    this.#http.destroy()
  }

  #open(request: StreamRequest, reader: StreamReader): Stream {
    if (!this.usable) throw new CallError('the etcd session is closed', { sent: false })
    return this.#http.open(request, reader)
  }

  #headersOf(method: Method, timeout?: string): Buffer {
    const cachedHeaders = this.#headers.get(method)
    if (cachedHeaders !== undefined && cachedHeaders.timeout === timeout) return cachedHeaders.encoded
    const encoded = encodeHeaders([
      ...[':method', 'POST'],
      ...[':scheme', this.endpoint.protocol.slice(0, -1)],
      ...[':path', method],
      ...[':authority', this.endpoint.host],
      ...['content-type', 'application/grpc'],
      ...['te', 'trailers'],
      // With this header, a member without a leader returns an error instead of delaying the call.
      ...['hasleader', 'true'],
      ...(timeout === undefined ? [] : ['grpc-timeout', timeout]),
    ])
    this.#headers.set(method, { timeout, encoded })
    return encoded
  }

  // If a call or stream is in progress, sends a ping to a silent member to find out whether the member is unreachable
  // or only slow.
  #checkSilence(): void {
    if (this.isClosed) clearInterval(this.#watchdog)
    if (this.#calls + this.#streams === 0 || this.isClosed) return
    const { silenceMs, pingSpacingMs } = this.#calls > 0 ? calls : watches
    const now = performance.now()
    if (now - this.#http.heard < silenceMs || now - this.#pinged < pingSpacingMs) return
    this.#pinged = now
    this.#http.ping()
    // If this process was busy, a response may still be waiting in the socket, so the socket is read before the member
    // is considered unreachable. The ping response may be queued behind other data, but any data received since the
    // ping proves that the member is alive.
    const verdict = () => setImmediate(() => this.#http.heard > now || this.destroy())
    setTimeout(verdict, pingAnswerMs).unref()
  }
}

/** Collects the response of a call. Only the first outcome is used. */
class Answer implements StreamReader {
  message: Buffer | undefined
  failure: CallError | undefined
  onSettled: () => void = () => {}
  #isSettled = false
  #isOk = false
  readonly #cutter = new MessageCutter()
  readonly #onTaken: (bytes: number) => void

  constructor(onTaken: (bytes: number) => void) {
    this.#onTaken = onTaken
  }

  headers(headers: Headers): void {
    const failure = failureOf(headers) ?? httpFailure(headers)
    if (failure) this.settle(failure)
    else this.#isOk ||= headers.get('grpc-status') === '0'
  }

  data(chunk: Buffer): void {
    this.#onTaken(chunk.length)
    try {
      for (const message of this.#cutter.push(chunk)) this.message ??= message
    } catch (error) {
      this.settle(error as CallError)
    }
  }

  end(): void {
    this.settle(this.#isOk && this.message !== undefined ? undefined : broken({ sent: true }))
  }

  fail(failure: StreamFailure): void {
    this.settle(broken(failure))
  }

  /** Settles the call with a failure or with the received message. */
  settle(failure: CallError | undefined): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.failure = failure
    this.onSettled()
  }
}

/** Buffers the data of a stream until the reader requests it. */
class Arrivals implements StreamReader {
  failure: CallError | undefined
  readonly #chunks: Buffer[] = []
  #isOver = false
  #wake: () => void = () => {}

  headers(headers: Headers): void {
    this.failure ??= failureOf(headers) ?? httpFailure(headers)
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  fail(failure: StreamFailure): void {
    this.failure ??= broken(failure)
    this.end()
  }

  /** Returns the next chunk, or undefined at the end of the stream. */
  async next(): Promise<Buffer | undefined> {
    while (this.#chunks.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#chunks.shift()
  }
}

/** Opens a connection to a member. The attempt is abandoned after a timeout or when the signal aborts. */
class Opening {
  readonly #connectMs: number
  readonly #signal: AbortSignal
  readonly #timer: NodeJS.Timeout
  #giveUp: (reason: Error) => void = () => {}
  readonly #stop = () => this.#giveUp(new Error('the connection was closed'))

  constructor(connectMs: number, signal: AbortSignal) {
    this.#connectMs = connectMs
    this.#signal = signal
    this.#timer = setTimeout(() => this.#giveUp(new Error(`no connection within ${this.#connectMs} ms`)), connectMs)
    signal.addEventListener('abort', this.#stop)
  }

  connect(endpoint: URL, tls: Tls | undefined): Promise<Socket> {
    const isTls = endpoint.protocol === 'https:'
    const socket = isTls ? connectTls(endpoint, tls) : tcpConnect(addressOf(endpoint))
    return this.#settled((resolve, fail) => {
      socket.on('error', fail)
      socket.on('close', () => fail())
      socket.on(isTls ? 'secureConnect' : 'connect', () => resolve(socket))
      return () => socket.destroy()
    })
  }

  greet(socket: Socket): Promise<Http2Client> {
    return this.#settled((resolve, fail) => {
      const http = new Http2Client(socket, { onSettings: () => resolve(http), onClosed: fail })
      return () => http.destroy()
    })
  }

  done(): void {
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this.#stop)
  }

  #settled<T>(begin: (resolve: (value: T) => void, fail: (cause?: Error) => void) => () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (cause?: Error) => {
        const message = cause ? explain(cause) : 'the connection was closed'
        reject(new CallError(message, { cause, sent: false }))
      }
      const end = begin(resolve, fail)
      this.#giveUp = (reason) => {
        fail(reason)
        end()
      }
      if (this.#signal.aborted) this.#stop()
    })
  }
}

function addressOf(endpoint: URL): { host: string; port: number } {
  const usual = endpoint.protocol === 'https:' ? 443 : 80
  // Strip the brackets from an IPv6 address.
  return { host: endpoint.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(endpoint.port || usual) }
}

function connectTls(endpoint: URL, tls: Tls | undefined): Socket {
  const address = addressOf(endpoint)
  const name = isIP(address.host) === 0 ? { servername: address.host } : {}
  return tlsConnect({ ...tls, ...address, ...name, ALPNProtocols: ['h2'] })
}

// Describes a TLS error. Uses only the error's reason, because the complete messages of OpenSSL contain names of source
// files.
function explain(error: Error & { code?: unknown; reason?: unknown }): string {
  if (typeof error.reason === 'string') return `the TLS handshake failed: ${error.reason}`
  const unverified = /^(UNABLE_TO_|CERT_|SELF_SIGNED_|DEPTH_|ERR_TLS_CERT_)/.test(String(error.code))
  return unverified ? `its certificate is not trusted: ${error.code}` : error.message
}

/**
 * Returns an error if the response is not a gRPC response, for example because an HTTP proxy sent it. Returns undefined
 * for trailers, which have neither an HTTP status nor a content type.
 */
function httpFailure(headers: Headers): CallError | undefined {
  const code = headers.get(':status')
  const type = headers.get('content-type') ?? ''
  if (code === undefined || (code === '200' && type.startsWith('application/grpc'))) return undefined
  return new CallError(`not a gRPC response: HTTP status ${code}, content type '${type}'`, { sent: true })
}

function broken({ cause, sent }: StreamFailure): CallError {
  const message = isError(cause) ? explain(cause) : 'the connection was lost before the response'
  return new CallError(message, { cause, sent })
}

function late({ isSent }: Stream): CallError {
  return new CallError('etcd sent no response before the deadline', { sent: isSent })
}

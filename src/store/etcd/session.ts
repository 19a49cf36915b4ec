/**
 * One HTTP/2 session with one member of the cluster: made with a deadline, watched by pings, used for calls and
 * streams.
 *
 * A session that went silent is destroyed, which fails everything under way on it; nothing waits for a dead peer longer
 * than its deadline. Which member to use, and what to try again, is the business of connection.ts.
 */

import * as http2 from 'node:http2'
import { isError } from '../../base/errors.ts'
import { CallError, failureOf, MessageCutter, timeoutHeader } from './grpc.ts'
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

// A member answers pings at once, and by default closes sessions that send more than one in five seconds.
const pingAnswerMs = 1_500
/** While calls wait for an answer, silence is checked soon; while only watches are open, now and then. */
const calls = { silenceMs: 1_500, pingSpacingMs: 6_000 }
const watches = { silenceMs: 15_000, pingSpacingMs: 15_000 }

/** What a member may send ahead of its reader, per stream. */
const windowBytes = 2 * 1024 * 1024
/** In MB: what Node lets one session hold; its default is too little for a few dozen large writes at once. */
const maxSessionMemory = 1024

export class Session {
  readonly endpoint: URL
  #heard = performance.now()
  #pinged = 0
  #calls = 0
  #streams = 0
  #watchdog: NodeJS.Timeout
  readonly #http: http2.ClientHttp2Session

  /** Resolves when the member has accepted the connection, TLS included. */
  static async open({ endpoint, tls, connectMs, signal }: SessionOptions): Promise<Session> {
    const http = http2.connect(endpoint, {
      ...tls,
      maxSessionMemory,
      settings: { initialWindowSize: windowBytes, enablePush: false },
    })
    await connected(http, connectMs, signal)
    http.setLocalWindowSize(8 * windowBytes)
    return new Session(endpoint, http)
  }

  private constructor(endpoint: URL, http: http2.ClientHttp2Session) {
    this.endpoint = endpoint
    this.#http = http
    // Every stream under way gets the session's error as well, and that is where it is answered.
    http.on('error', () => this.destroy())
    http.on('close', () => clearInterval(this.#watchdog))
    this.#watchdog = setInterval(() => this.#checkSilence(), 500)
    this.#watchdog.unref()
  }

  /** False once no new call can be made: closed, or the member has announced that it is going away. */
  get usable(): boolean {
    return !this.#http.closed && !this.#http.destroyed
  }

  /** True once nothing is left of it, not even calls under way. */
  get gone(): boolean {
    return this.#http.destroyed
  }

  /** One request, one answer, before `deadline` (on the monotonic clock). */
  call(method: Method, request: Buffer, deadline: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const left = Math.max(0, deadline - performance.now())
      const stream = this.#request(method, { 'grpc-timeout': timeoutHeader(left) })
      const answer = new Answer()
      const timer = setTimeout(() => answer.fail(late()), left)
      const settle = () => {
        clearTimeout(timer)
        this.#calls--
        if (!answer.failure) return resolve(answer.message!)
        stream.close(http2.constants.NGHTTP2_CANCEL)
        reject(answer.failure)
      }
      answer.onSettled = settle
      this.#calls++
      stream.on('response', (headers) => {
        this.#heard = performance.now()
        answer.headers(headers)
      })
      stream.on('data', (chunk: Buffer) => {
        this.#heard = performance.now()
        answer.data(chunk)
      })
      stream.on('trailers', (headers) => answer.trailers(headers))
      stream.on('end', () => answer.end())
      stream.on('error', (error) => answer.settled || answer.fail(broken(error, stream.rstCode)))
      stream.on('close', () => answer.settled || answer.fail(broken(undefined, stream.rstCode)))
      stream.end(request)
    })
  }

  /** One request, then messages until the member ends the stream or `signal` aborts. */
  async *stream(method: Method, request: Buffer, signal: AbortSignal): AsyncGenerator<Buffer> {
    if (signal.aborted) return
    const stream = this.#request(method, {})
    const cancel = () => stream.close(http2.constants.NGHTTP2_CANCEL)
    const cutter = new MessageCutter()
    // The iteration below reports an error; one that comes when it is over does not matter.
    stream.on('error', () => {})
    let failure: CallError | undefined
    stream.on('response', (headers) => {
      failure = failureOf(headers) ?? httpFailure(headers)
    })
    stream.on('trailers', (headers) => {
      failure = failureOf(headers)
    })
    signal.addEventListener('abort', cancel)
    this.#streams++
    try {
      stream.write(request)
      for await (const chunk of stream) {
        this.#heard = performance.now()
        yield* cutter.push(chunk as Buffer)
      }
      if (!signal.aborted) throw failure ?? new CallError('the stream was ended by the member', { sent: true })
    } catch (error) {
      if (signal.aborted) return
      throw failure ?? (error instanceof CallError ? error : broken(error, stream.rstCode))
    } finally {
      this.#streams--
      signal.removeEventListener('abort', cancel)
      if (!stream.closed) cancel()
    }
  }

  /** Takes no new calls; ends when those under way have ended. */
  retire(): void {
    if (this.usable) this.#http.close()
  }

  /** Ends the session at once, and everything under way on it. */
  destroy(): void {
    clearInterval(this.#watchdog)
    this.#http.destroy()
  }

  #request(method: Method, extra: http2.OutgoingHttpHeaders): http2.ClientHttp2Stream {
    try {
      return this.#http.request({
        ':method': 'POST',
        ':path': method,
        'content-type': 'application/grpc',
        te: 'trailers',
        // A member that has lost its leader then says so instead of letting the call wait.
        hasleader: 'true',
        ...extra,
      })
    } catch (cause) {
      throw new CallError('the session is closed', { cause, sent: false })
    }
  }

  // A member is only asked when something is under way and nothing has been received: that distinguishes a dead one
  // from a slow one.
  #checkSilence(): void {
    if (this.#calls + this.#streams === 0) return
    const { silenceMs, pingSpacingMs } = this.#calls > 0 ? calls : watches
    const now = performance.now()
    if (now - this.#heard < silenceMs || now - this.#pinged < pingSpacingMs) return
    this.#pinged = now
    let answered = false
    // An answer that waits in the socket while this process was busy is read before the verdict; it may stand behind
    // much else, and whatever has come since says as much as the answer.
    const verdict = () => setImmediate(() => answered || this.#heard > now || this.destroy())
    const timer = setTimeout(verdict, pingAnswerMs)
    timer.unref()
    const asked =
      !this.gone &&
      this.#http.ping(() => {
        answered = true
        clearTimeout(timer)
      })
    if (!asked) clearTimeout(timer)
  }
}

/** Gathers the one answer of a call; the first outcome is the outcome. */
class Answer {
  message: Buffer | undefined
  failure: CallError | undefined
  onSettled: () => void = () => {}
  settled = false
  #ended = false
  #status: 'pending' | 'ok' = 'pending'
  readonly #cutter = new MessageCutter()

  headers(headers: http2.IncomingHttpHeaders): void {
    const failure = failureOf(headers) ?? httpFailure(headers)
    if (failure) this.fail(failure)
  }

  data(chunk: Buffer): void {
    try {
      for (const message of this.#cutter.push(chunk)) this.message ??= message
    } catch (error) {
      this.fail(error as CallError)
    }
  }

  trailers(headers: http2.IncomingHttpHeaders): void {
    const failure = failureOf(headers)
    if (failure) this.fail(failure)
    else if (headers['grpc-status'] === '0') this.#status = 'ok'
    if (this.#ended) this.end()
  }

  end(): void {
    this.#ended = true
    if (this.#status === 'ok' && this.message !== undefined) this.#settle()
  }

  fail(error: CallError): void {
    if (this.settled) return
    this.failure = error
    this.#settle()
  }

  #settle(): void {
    if (this.settled) return
    this.settled = true
    this.onSettled()
  }
}

function connected(http: http2.ClientHttp2Session, connectMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => http.destroy(new Error(`no connection within ${connectMs} ms`))
    const stop = () => http.destroy()
    const timer = setTimeout(giveUp, connectMs)
    signal.addEventListener('abort', stop)
    const settle = (settled: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      settled()
    }
    const fail = (cause?: Error) => {
      const message = cause ? explain(cause) : 'the connection was closed'
      settle(() => reject(new CallError(message, { cause, sent: false })))
    }
    http.on('error', fail)
    http.on('close', fail)
    http.once('connect', () => settle(resolve))
  })
}

// OpenSSL's texts name its source files; what it objects to is in a field beside them.
function explain(error: Error & { code?: unknown; reason?: unknown }): string {
  if (typeof error.reason === 'string') return `the TLS handshake failed: ${error.reason}`
  const unverified = /^(UNABLE_TO_|CERT_|SELF_SIGNED_|DEPTH_|ERR_TLS_CERT_)/.test(String(error.code))
  return unverified ? `its certificate is not accepted: ${error.code}` : error.message
}

function httpFailure(headers: http2.IncomingHttpHeaders): CallError | undefined {
  const code = Number(headers[':status'])
  const type = String(headers['content-type'] ?? '')
  if (code === 200 && type.startsWith('application/grpc')) return undefined
  return new CallError(`not a gRPC answer: HTTP status ${code}, content type '${type}'`, { sent: true })
}

function broken(cause: unknown, rstCode: number | undefined): CallError {
  const refused = rstCode === http2.constants.NGHTTP2_REFUSED_STREAM
  const message = isError(cause) ? explain(cause) : 'the connection was lost before the answer'
  return new CallError(message, { cause, sent: !refused })
}

function late(): CallError {
  return new CallError('no answer before the deadline', { sent: true })
}

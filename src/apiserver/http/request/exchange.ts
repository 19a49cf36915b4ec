/**
 * One HTTP request and its response, independent of the HTTP version. The server creates an exchange for each request
 * that a transport (`transport/http1/`, `transport/http2/`) receives. Later steps use only this class.
 */
import type { Duplex } from 'node:stream'
import type { DocumentWorker } from '../../../api/codec/document-worker.ts'
import type { User } from '../../../api/model/user.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { Timings } from '../../../base/telemetry/timings.ts'
import {
  type SentTrace,
  type TraceContext,
  type TraceHeaders,
  traceHeaders,
} from '../../../base/telemetry/tracing/trace-context.ts'
import { warningHeader } from '../../../wire/http/warning-header.ts'
import type { AdmissionExplanation } from '../../admission/explanation.ts'
import type { AuditRecord } from '../../audit/record.ts'
import type { Occupancy } from '../../flowcontrol/flow-control.ts'
import type { Served } from '../../registry/catalogue/served.ts'
import type { ResponseHeaders, ServerTransport, UpgradeRequest } from '../../transport/server-transport.ts'
import { type Form, jsonForm } from '../response/forms.ts'
import type { RequestHeaders } from './headers.ts'
import type { RequestInfo } from './request-info.ts'

/** A request and its response. */
export class Exchange {
  /** Sends the response. A pipeline step may replace the transport before the response starts. */
  transport: ServerTransport
  readonly arrived: number
  /** Deadline as a time on the monotonic clock. The deadline step sets this field. */
  deadline = Number.POSITIVE_INFINITY
  deadlineIndex = -1
  /** The fields below are set by pipeline steps, in this order. */
  headers!: RequestHeaders
  /** The audit ID, which identifies the request in the response, in the log and in the audit log. */
  auditId = ''
  info!: RequestInfo
  /** Records what admission plugins do. Undefined unless the client sent Explain-Admission and may use it. */
  explanation: AdmissionExplanation | undefined
  /** The reason for bypassing admission webhooks. Undefined unless the client uses break-glass access. */
  bypass: string | undefined
  /** The audit record, which is created after authentication. Undefined if the request is not audited. */
  audit: AuditRecord | undefined
  /** Called when a streamed response starts. */
  onOpened: (() => void) | undefined
  /** The user on whose behalf the request runs. */
  user!: User
  /** The user who sent the request. Undefined unless the request impersonates another user. */
  impersonator: User | undefined
  /** The trace context. Undefined unless the request is traced. */
  trace: TraceContext | undefined
  /** The flow-control seats that the request occupies. */
  seats: Occupancy | undefined
  /** The negotiated response format. JSON is used before the negotiation. */
  form: Form = jsonForm
  /** A worker thread that converts documents too large for the event loop. Set by the dispatch step. */
  documentWorker: DocumentWorker | undefined
  /** Whether `form` has been negotiated. If false, an error response must negotiate a format first. */
  agreed = false
  /** Whether the response has started. After that, an error can only truncate the response. */
  answered = false
  /** Whether the whole response has been passed to the transport. */
  complete = false
  /** Whether the deadline has passed. */
  late = false
  bodyRead = false
  /** Whether to keep the body in memory, because the request may have to be repeated. */
  keepsBody = false
  body: Promise<Buffer> | undefined
  /** The requested resource type. Undefined until the type is known to be served. */
  served: Served | undefined
  /** Status code of the response, or 0 before the response starts. */
  status = 0
  /** Number of response bytes sent. */
  sentBytes = 0
  readonly #headers: ResponseHeaders = []
  #warnings: string[] | undefined
  #onFinish: (() => void) | undefined
  #abandoned: AbortController | undefined
  #timeSlice: TimeSlice | undefined
  #timings: Timings | undefined

  constructor(transport: ServerTransport, arrived: number) {
    this.transport = transport
    this.arrived = arrived
  }

  /** Whether no response can be sent anymore, because the client has disconnected or the deadline has passed. */
  get disconnected(): boolean {
    return this.late || this.transport.disconnected
  }

  /** A signal that aborts when the client disconnects or the deadline passes. The signal is created on first use. */
  get abandoned(): AbortSignal {
    this.#abandoned ??= this.#followAbandoned()
    return this.#abandoned.signal
  }

  /**
   * Creates the abort controller behind `signal`. Listening to the transport's signal is ten times as fast as
   * `AbortSignal.any`.
   */
  #followAbandoned(): AbortController {
    const controller = new AbortController()
    const { signal } = this.transport
    if (this.late || signal.aborted) controller.abort()
    else signal.addEventListener('abort', () => controller.abort())
    return controller
  }

  /** The trace headers that the client sent. */
  get sentTrace(): SentTrace {
    return { parent: this.headers.first('traceparent'), state: this.headers.list('tracestate') }
  }

  /** Trace headers for requests that this server sends while it handles this request. */
  get traceHeaders(): TraceHeaders {
    return traceHeaders(this.trace, () => this.sentTrace)
  }

  /** Tracks the time that this request has used on the event loop, so that long work can yield to other requests. */
  get timeSlice(): TimeSlice {
    this.#timeSlice ??= new TimeSlice()
    return this.#timeSlice
  }

  /** The time that the request spent in each part of the server. */
  get timings(): Timings {
    this.#timings ??= new Timings()
    return this.#timings
  }

  /** Marks the request as past its deadline. */
  expire(): void {
    this.late = true
    this.abandon()
  }

  /** Aborts the work on a request to which no response can be sent anymore. */
  abandon(): void {
    this.#abandoned?.abort()
  }

  /** Registers a function that runs when the request has been handled, regardless of its outcome. */
  onFinish(run: () => void): void {
    const before = this.#onFinish
    this.#onFinish =
      before === undefined
        ? run
        : () => {
            run()
            before()
          }
  }

  finish(): void {
    this.seats?.release()
    this.#onFinish?.()
  }

  setHeader(name: string, value: string): void {
    const headerIndex = this.#headers.findIndex((text, i) => i % 2 === 0 && text === name)
    if (headerIndex < 0) this.#headers.push(name, value)
    else this.#headers[headerIndex + 1] = value
  }

  /** Adds a response header that may occur several times. */
  addHeader(name: string, value: string): void {
    this.#headers.push(name, value)
  }

  /** Adds a warning for the user. The number and size of warnings are limited because they are sent in headers. */
  warn(text: string): void {
    this.#warnings ??= []
    if (this.#warnings.length < maxWarnings && !this.#warnings.includes(text)) this.#warnings.push(text)
  }

  /** Drops the warnings of a failed attempt before the request is repeated. */
  forgetWarnings(): void {
    this.#warnings = undefined
  }

  /**
   * Sends the response, unless another response, such as a timeout, has already been sent. A large response counts as
   * active until the client has read it or disconnects. The limit on concurrent requests therefore also limits the
   * memory for unread responses.
   */
  send(status: number, contentType: string, body: Buffer): void | Promise<void> {
    if (this.answered) return
    this.answered = true
    this.status = status
    this.sentBytes = body.length
    const headers = this.#complete(contentType)
    headers.push('content-length', String(body.length))
    this.transport.send(status, headers, body, !this.bodyRead && hasBody(this))
    if (body.length >= longAnswer) return this.#whenTaken()
    this.complete = true
  }

  async #whenTaken(): Promise<void> {
    await this.timings.time('client', this.transport.responseRead())
    this.complete = true
  }

  /** Starts a streamed response. `contentType` is undefined if the caller has already set all headers. */
  open(status: number, contentType: string | undefined): void {
    if (this.answered) return
    this.answered = true
    this.status = status
    this.transport.open(status, this.#complete(contentType))
    this.onOpened?.()
  }

  /** Switches protocols. The caller owns the connection after the switch. */
  switchProtocols(upgrade: UpgradeRequest): Duplex {
    this.answered = true
    this.complete = true
    this.status = 101
    this.onOpened?.()
    return upgrade.switch(this.#complete(undefined))
  }

  #complete(contentType: string | undefined): ResponseHeaders {
    const headers = this.#headers
    if (contentType !== undefined) headers.push('content-type', contentType)
    if (this.explanation !== undefined) explain(headers, this.explanation)
    const warnings = this.#warnings ?? []
    const maxLength = Math.max(shortestCut, Math.floor(warningRoom / warnings.length))
    for (const text of warnings) headers.push('warning', warningHeader(text, maxLength))
    return headers
  }
}

/** Minimum size in bytes of a response that counts as active until the client has read it. */
const longAnswer = 128 * 1024

const maxWarnings = 50
/**
 * Minimum number of bytes that each warning keeps when it is truncated. With only a few warnings, each may be longer.
 */
const shortestCut = 500
const warningRoom = 4000

function explain(headers: ResponseHeaders, { changes, refusedBy, trace }: AdmissionExplanation): void {
  if (changes !== undefined) headers.push('admission-changes', changes)
  if (refusedBy !== undefined) headers.push('admission-refused-by', refusedBy)
  if (trace !== undefined) headers.push('admission-trace', trace)
}

function hasBody({ transport, headers }: Exchange): boolean {
  if (transport.method === 'GET' || transport.method === 'HEAD') return false
  return (
    headers === undefined ||
    headers.all('content-length').some((length) => length !== '0') ||
    headers.all('transfer-encoding').length > 0
  )
}

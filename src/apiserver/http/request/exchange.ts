/**
 * One request and its answer, the same for HTTP/1.1 and HTTP/2. The two transports (`transport/http1/`, `transport/http2/`) make it;
 * everything behind them sees only this.
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

/** One request and its answer. */
export class Exchange {
  /** A step may put another in its place before there is an answer. */
  transport: ServerTransport
  readonly arrived: number
  /** When its time is over; set by the step that bounds it. */
  deadline = Number.POSITIVE_INFINITY
  deadlineIndex = -1
  /** Set by the pipeline's steps, in the order of the steps. */
  headers!: RequestHeaders
  /** Names the request in the answer, the log and the audit. */
  auditId = ''
  info!: RequestInfo
  /** Collects what admission controls do with it; set by the step that reads whether the client asks for that. */
  explanation: AdmissionExplanation | undefined
  /** Why no webhook is to be asked about it; set by the step that reads whether the caller breaks the glass. */
  bypass: string | undefined
  /** What the audit is told of it; undefined where it is not recorded. Opened once the user is known. */
  audit: AuditRecord | undefined
  /** Called when an answer in parts begins. */
  onOpened: (() => void) | undefined
  /** The user as which the request runs. */
  user!: User
  /** The user who sent the request, where that is another one. */
  impersonator: User | undefined
  /** Its place in a trace, where it is recorded. */
  trace: TraceContext | undefined
  /** The seats that flow control has given it; set by the step that limits requests. */
  seats: Occupancy | undefined
  /** How the answer is written; JSON until something else is agreed on. */
  form: Form = jsonForm
  /** Converts documents that are too large for the event loop; set by the step that dispatches. */
  documentWorker: DocumentWorker | undefined
  /** Whether the form is what the client and the resource agreed on. */
  agreed = false
  /** Whether an answer has begun: then an error can only cut it off. */
  answered = false
  /** Whether the whole answer has been handed over. */
  complete = false
  /** Whether the time for it is over. */
  late = false
  bodyRead = false
  /** Whether the body may be needed again, and what was read of it then. */
  keepsBody = false
  body: Promise<Buffer> | undefined
  /** What is asked for, once that is known to be served. */
  served: Served | undefined
  /** The code of the answer; 0 before there is one. */
  status = 0
  /** How much of an answer was sent. */
  sentBytes = 0
  readonly #headers: ResponseHeaders = []
  #warnings: string[] | undefined
  #onFinish: (() => void) | undefined
  #abandoned: AbortController | undefined
  #pace: TimeSlice | undefined
  #timings: Timings | undefined

  constructor(transport: ServerTransport, arrived: number) {
    this.transport = transport
    this.arrived = arrived
  }

  /** Whether nobody waits for the answer any more. */
  get gone(): boolean {
    return this.late || this.transport.gone
  }

  /** Aborts when nobody waits for the answer any more; made when first asked for. */
  get abandoned(): AbortSignal {
    this.#abandoned ??= this.#followAbandoned()
    return this.#abandoned.signal
  }

  /** Without `AbortSignal.any`, which takes ten times as long. */
  #followAbandoned(): AbortController {
    const controller = new AbortController()
    const { signal } = this.transport
    if (this.late || signal.aborted) controller.abort()
    else signal.addEventListener('abort', () => controller.abort())
    return controller
  }

  /** The trace that the caller says the request belongs to. */
  get sentTrace(): SentTrace {
    return { parent: this.headers.first('traceparent'), state: this.headers.list('tracestate') }
  }

  /** What those are told of the trace whom this request leads to. */
  get traceHeaders(): TraceHeaders {
    return traceHeaders(this.trace, () => this.sentTrace)
  }

  /** Paces the work on a large body, so that other requests have their turn. */
  get pace(): TimeSlice {
    this.#pace ??= new TimeSlice()
    return this.#pace
  }

  /** Where its time goes. */
  get timings(): Timings {
    this.#timings ??= new Timings()
    return this.#timings
  }

  /** Its time is over. */
  expire(): void {
    this.late = true
    this.abandon()
  }

  /** Nobody waits for the answer any more. */
  abandon(): void {
    this.#abandoned?.abort()
  }

  /** Runs when the request has been handled, however that ended. */
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
    const known = this.#headers.findIndex((text, i) => i % 2 === 0 && text === name)
    if (known < 0) this.#headers.push(name, value)
    else this.#headers[known + 1] = value
  }

  /** A header that may occur several times. */
  addHeader(name: string, value: string): void {
    this.#headers.push(name, value)
  }

  /** A sentence for the user that does not stop the request. Bounded, as they travel in headers. */
  warn(text: string): void {
    this.#warnings ??= []
    if (this.#warnings.length < maxWarnings && !this.#warnings.includes(text)) this.#warnings.push(text)
  }

  /** What was warned of so far does not count: the request begins anew. */
  forgetWarnings(): void {
    this.#warnings = undefined
  }

  /**
   * The first answer counts; one that comes after the time was over is dropped. A long one is under way until the client
   * has taken it or is gone: what the answers of those who take none can hold is bounded by how many requests may be.
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
    await this.timings.time('client', this.transport.taken())
    this.complete = true
  }

  /** `contentType` is undefined where the headers that were set say all that there is to say. */
  open(status: number, contentType: string | undefined): void {
    if (this.answered) return
    this.answered = true
    this.status = status
    this.transport.open(status, this.#complete(contentType))
    this.onOpened?.()
  }

  /** Switches protocols; from then on the connection is the caller's. */
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
    const longest = Math.max(shortestCut, Math.floor(warningRoom / warnings.length))
    for (const text of warnings) headers.push('warning', warningHeader(text, longest))
    return headers
  }
}

/** Bytes of an answer that is not left behind in memory for its client to take. */
const longAnswer = 128 * 1024

const maxWarnings = 50
/** Few warnings may be long, as those of pod security are; of many each is cut to this many bytes. */
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

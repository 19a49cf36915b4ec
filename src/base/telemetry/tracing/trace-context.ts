/**
 * The headers `traceparent` and `tracestate` of W3C Trace Context: which trace a request belongs to, whether it is recorded,
 * and what those whom the request leads to are told of that.
 */
import { randomBytes } from 'node:crypto'

/** The place of a request in a trace. */
export interface TraceContext {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string
  readonly spanId: string
  /** The span of the caller; '' where the trace begins here. */
  readonly parentId: string
  /** What tracing systems on the way here have noted; '' where that is nothing. */
  readonly state: string
}

/** What a caller sent of the two headers. */
export interface SentTrace {
  readonly parent: string | undefined
  /** All lines of `tracestate` as one list; '' where there is none. */
  readonly state: string
}

/** Headers by their names in lower case. */
export type TraceHeaders = { readonly [name in 'traceparent' | 'tracestate']?: string }

/** What belongs to a trace: a request. Those whom it leads to are told so. */
export interface Traced {
  readonly traceHeaders: TraceHeaders
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** What the caller says: its trace, and whether it records that. Undefined where it says nothing that makes sense. */
export function readTraceParent(header: string): { traceId: string; spanId: string; sampled: boolean } | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = form.exec(header) ?? []
  const isKnown = version !== undefined && version !== 'ff' && (version !== '00' || rest === undefined)
  if (!isKnown || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Begins the span of a request, where it is to be recorded: as the caller does, else by chance. */
export function beginTrace(sent: SentTrace, ratePerMillion: number): TraceContext | undefined {
  const parent = sent.parent === undefined ? undefined : readTraceParent(sent.parent)
  const isSampled = parent === undefined ? Math.random() * 1e6 < ratePerMillion : parent.sampled
  if (!isSampled) return undefined
  const spanId = newSpanId()
  if (parent === undefined) return { traceId: randomBytes(16).toString('hex'), spanId, parentId: '', state: '' }
  return { traceId: parent.traceId, spanId, parentId: parent.spanId, state: soundState(sent.state) }
}

/** What others are told: the span of the request here, where it is recorded; else what the caller sent, if it makes sense. */
export function traceHeaders(trace: TraceContext | undefined, sent: () => SentTrace): TraceHeaders {
  if (trace !== undefined) return written({ ...trace, sampled: true })
  const { parent, state } = sent()
  const read = parent === undefined ? undefined : readTraceParent(parent)
  return read === undefined ? {} : written({ ...read, state: soundState(state) })
}

interface Written {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
  readonly state: string
}

function written({ traceId, spanId, sampled, state }: Written): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-0${sampled ? 1 : 0}`
  return state === '' ? { traceparent } : { traceparent, tracestate: state }
}

/** As much as everybody must be able to pass on. */
const maxState = 512

/** What could keep a call from being sent, or from being read, is left out: a webhook is not avoided by a header. */
function soundState(state: string): string {
  return state.length <= maxState && /^[\x20-\x7e]*$/.test(state) ? state : ''
}

/** The id of a new span. */
export function newSpanId(): string {
  return randomBytes(8).toString('hex')
}

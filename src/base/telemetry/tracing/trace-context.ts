/**
 * The W3C Trace Context headers `traceparent` and `tracestate`. They identify the trace of a request and state whether
 * the trace is sampled.
 */
import { randomBytes } from 'node:crypto'

/** Identifies the span of a request and its trace. */
export interface TraceContext {
  /** Trace ID: 32 hexadecimal digits. */
  readonly traceId: string
  readonly spanId: string
  /** The ID of the caller's span, or '' if the trace starts at this server. */
  readonly parentId: string
  /** The `tracestate` of the caller, or '' if the caller sent none. */
  readonly state: string
}

/** The trace headers that the caller sent. */
export interface SentTrace {
  readonly parent: string | undefined
  /** All `tracestate` lines, joined into one list, or '' if there are none. */
  readonly state: string
}

/** Trace headers by lower-case name. */
export type TraceHeaders = { readonly [name in 'traceparent' | 'tracestate']?: string }

/** A request whose trace headers are added to the calls made on its behalf. */
export interface Traced {
  readonly traceHeaders: TraceHeaders
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * Parses a `traceparent` header. Returns the trace and span of the caller and whether the trace is sampled, or
 * undefined if the header is invalid.
 */
export function readTraceParent(header: string): { traceId: string; spanId: string; sampled: boolean } | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = form.exec(header) ?? []
  const isKnown = version !== undefined && version !== 'ff' && (version !== '00' || rest === undefined)
  if (!isKnown || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/**
 * Starts the span of a request if the request is sampled. The caller decides whether the request is sampled. If the
 * caller sends no trace headers, the sampling rate decides.
 */
export function beginTrace(sent: SentTrace, ratePerMillion: number): TraceContext | undefined {
  const parent = sent.parent === undefined ? undefined : readTraceParent(sent.parent)
  const isSampled = parent === undefined ? Math.random() * 1e6 < ratePerMillion : parent.sampled
  if (!isSampled) return undefined
  const spanId = newSpanId()
  if (parent === undefined) return { traceId: randomBytes(16).toString('hex'), spanId, parentId: '', state: '' }
  return { traceId: parent.traceId, spanId, parentId: parent.spanId, state: soundState(sent.state) }
}

/**
 * Returns the trace headers for downstream requests. If the request is sampled, the headers contain its span.
 * Otherwise, they repeat the caller's valid headers.
 */
export function traceHeaders(trace: TraceContext | undefined, sent: () => SentTrace): TraceHeaders {
  if (trace !== undefined) return written({ ...trace, sampled: true })
  const { parent, state } = sent()
  const parentContext = parent === undefined ? undefined : readTraceParent(parent)
  return parentContext === undefined ? {} : written({ ...parentContext, state: soundState(state) })
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

/**
 * Maximum length of `tracestate`. The specification requires systems to propagate values up to this length. Longer
 * values are dropped.
 */
const maxState = 512

/**
 * Returns a `tracestate` that is safe to forward. Drops a value that could make a downstream request fail. Otherwise, a
 * client could use such a value to bypass a webhook.
 */
function soundState(state: string): string {
  return state.length <= maxState && /^[\x20-\x7e]*$/.test(state) ? state : ''
}

/** Returns a random span ID. */
export function newSpanId(): string {
  return randomBytes(8).toString('hex')
}

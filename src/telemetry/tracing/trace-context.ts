/** The header `traceparent` of W3C Trace Context: which trace a request belongs to, and whether it is recorded. */
import { randomBytes } from 'node:crypto'

/** The place of a request in a trace. */
export interface TraceContext {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string
  readonly spanId: string
  /** The span of the caller; '' where the trace begins here. */
  readonly parentId: string
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
export function beginTrace(header: string | undefined, ratePerMillion: number): TraceContext | undefined {
  const parent = header === undefined ? undefined : readTraceParent(header)
  const isSampled = parent === undefined ? Math.random() * 1e6 < ratePerMillion : parent.sampled
  if (!isSampled) return undefined
  const spanId = newSpanId()
  return { traceId: parent?.traceId ?? randomBytes(16).toString('hex'), spanId, parentId: parent?.spanId ?? '' }
}

/** The id of a new span. */
export function newSpanId(): string {
  return randomBytes(8).toString('hex')
}

/**
 * Records requests in the audit log as the audit policy requires. A record is created after authentication, because the
 * policy depends on the user. The outcome is added when the request ends. A request that fails authentication is
 * recorded without a user.
 */
import { isIP } from 'node:net'
import { internalError } from '../../../api/model/api-error.ts'
import type { User } from '../../../api/model/user.ts'
import { apiVersionOf, type Vendor } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { AuditMetrics } from '../../audit/audit-metrics.ts'
import { AuditedCaller, AuditedRequest, beginningOf, type CallerFacts, eventOf } from '../../audit/event.ts'
import { levels, type Policy, type Stage } from '../../audit/policy.ts'
import { AuditRecord } from '../../audit/record.ts'
import type { Sink } from '../../audit/sink.ts'
import { wallTime } from '../../audit/wall-time.ts'
import type { Peer } from '../../transport/server-transport.ts'
import type { Step } from '../pipeline.ts'
import type { Exchange } from '../request/exchange.ts'
import type { RequestHeaders } from '../request/headers.ts'

export interface AuditParts {
  readonly vendor: Vendor
  /** The audit policy in effect, which is replaced when its file changes. */
  readonly policy: Policy
  readonly sinks: readonly Sink[]
  readonly metrics: AuditMetrics
  readonly clock: Clock
}

/** The pipeline step that starts an audit record, and the function that completes it. */
export interface AuditSteps {
  /** Creates the audit record. This step runs directly after authentication. */
  readonly open: Step
  /** Completes the audit record. Must be called for every handled request. `now` is a time on the monotonic clock. */
  readonly close: (exchange: Exchange, now: number) => void
}

/** Subresources whose responses may last until the client ends them. */
const longRunning: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])
const maxUserAgent = 1024
const maxSources = 20

/** Creates and completes the audit records of requests. */
export function audit(parts: AuditParts): AuditSteps {
  const { policy, metrics, clock } = parts
  const tell = teller(parts)
  const begin = (exchange: Exchange): AuditRecord | undefined => {
    const { info, user, auditId } = exchange
    const decision = policy(info, user)
    metrics.requests[decision.level].value++
    if (decision.level === 'None') return undefined
    exchange.audit = new AuditRecord(decision, auditId, info.resource ? info : undefined)
    return exchange.audit
  }
  return {
    open: (exchange) => {
      const record = begin(exchange)
      if (record === undefined) return
      if (lasts(exchange))
        exchange.onOpened = () => void tell(exchange, record, { stage: 'ResponseStarted', at: clock.monotonic() })
      return tell(exchange, record, { stage: 'RequestReceived', at: exchange.arrived })
    },
    close: (exchange, now) => {
      if (exchange.audit !== undefined) void tell(exchange, exchange.audit, { stage: 'ResponseComplete', at: now })
      else if (exchange.status === 401 && exchange.user === undefined && exchange.info !== undefined) {
        const record = begin(exchange)
        if (record !== undefined) void tell(exchange, record, { stage: 'ResponseStarted', at: now })
      }
    },
  }
}

/** A stage of the audited request, and the time on the monotonic clock when the request reached it. */
interface Reached {
  readonly stage: Stage
  readonly at: number
}

type Tell = (exchange: Exchange, record: AuditRecord, reached: Reached) => void | Promise<void>

/**
 * Returns a function that sends an audit event to all sinks. The function waits only for sinks that require waiting.
 */
function teller({ vendor, sinks, metrics, clock }: AuditParts): Tell {
  const requestOf = describer(apiVersionOf(vendor, 'audit', 'v1'))
  const timeAt = wallTime(clock)
  return (exchange, record, { stage, at }) => {
    if (!record.records(stage)) return
    record.received ??= timeAt(exchange.arrived)
    const fields = {
      stage,
      request: requestOf(exchange, record),
      code: exchange.status,
      failure: record.failure,
      requestObject: record.requestObject,
      responseObject: record.responseObject,
      annotations: { list: record.annotations, length: record.annotations.length },
      received: record.received,
      // Never report a time before the request was received, even if the wall clock was set back.
      reached: Math.max(record.received, timeAt(at)),
    }
    const event = eventOf(fields, vendor.groupDomain)
    metrics.events.value++
    let waits: Promise<void>[] | undefined
    for (const sink of sinks) {
      const wait = sink.write(event)
      if (wait !== undefined) waits = [...(waits ?? []), wait]
    }
    if (waits === undefined) return
    return Promise.all(waits).then(
      () => {},
      () => {
        metrics.rejected.value++
        throw internalError('the request could not be recorded in the audit log')
      },
    )
  }
}

/**
 * Returns a function that describes a request for audit events. The last description is reused unless impersonation has
 * started since then.
 */
function describer(apiVersion: string): (exchange: Exchange, record: AuditRecord) => AuditedRequest {
  const callerOf = callers()
  const beginnings = Object.fromEntries(levels.map((level) => [level, beginningOf(apiVersion, level)]))
  return (exchange, record) => {
    const recordedRequest = record.request
    if (recordedRequest !== undefined && recordedRequest.facts.caller.facts.impersonatedUser === impersonated(exchange))
      return recordedRequest
    const { info, transport } = exchange
    record.request = new AuditedRequest({
      beginning: beginnings[record.decision.level]!,
      auditId: record.auditId,
      requestUri: transport.target,
      verb: info.verb,
      caller: callerOf(exchange),
      object: info.resource ? info : undefined,
      sent: record.sent,
    })
    return record.request
  }
}

function impersonated({ impersonator, user }: Exchange): User | undefined {
  return impersonator === undefined ? undefined : user
}

/**
 * Returns a function that finds the addresses of a request's caller. Without proxy headers, the result is usually the
 * same as for the last request on the connection.
 */
function callers(): (exchange: Exchange) => AuditedCaller {
  const latest = new WeakMap<Peer, AuditedCaller>()
  return (exchange) => {
    const { headers, transport } = exchange
    const user = exchange.impersonator ?? exchange.user
    const impersonatedUser = impersonated(exchange)
    const userAgent = (headers.first('user-agent') ?? '').slice(0, maxUserAgent)
    if (isProxied(headers))
      return new AuditedCaller({ user, impersonatedUser, userAgent, sourceIps: sourcesOf(exchange) })
    const latestCaller = latest.get(transport.peer)
    if (latestCaller !== undefined && isFor(latestCaller.facts, { user, impersonatedUser, userAgent }))
      return latestCaller
    const caller = new AuditedCaller({ user, impersonatedUser, userAgent, sourceIps: sourcesOf(exchange) })
    latest.set(transport.peer, caller)
    return caller
  }
}

function isFor(callerFacts: CallerFacts, asked: Omit<CallerFacts, 'sourceIps'>): boolean {
  return (
    callerFacts.user === asked.user &&
    callerFacts.impersonatedUser === asked.impersonatedUser &&
    callerFacts.userAgent === asked.userAgent
  )
}

const forwardedFor = 'x-forwarded-for'
const realIp = 'x-real-ip'

function isProxied(headers: RequestHeaders): boolean {
  return headers.first(forwardedFor) !== undefined || headers.first(realIp) !== undefined
}

/**
 * Returns the client addresses that proxies report, in the order of the headers, followed by the connection's address.
 */
function sourcesOf({ headers, transport }: Exchange): readonly string[] {
  const { address } = transport.peer
  const named = [...headers.all(forwardedFor).flatMap((value) => value.split(',')), ...headers.all(realIp)]
    .map((value) => value.trim())
    .filter((value) => isIP(value) !== 0)
    .slice(0, maxSources)
  return [...new Set([...named, ...(address === '' ? [] : [address])])]
}

function lasts({ info }: Exchange): boolean {
  return info.resource && (info.verb === 'watch' || longRunning.has(info.subresource))
}

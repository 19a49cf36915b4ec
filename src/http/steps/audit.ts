/**
 * Records requests for the audit, as the policy says. A record is opened once the user is known, so that the policy can
 * decide by them; what is known of the request by its end is told then. A request that fails authentication is told of
 * too, without a user.
 */
import { isIP } from 'node:net'
import type { AuditMetrics } from '../../audit/audit-metrics.ts'
import {
  AuditedRequest,
  type EventFields,
  eventOf,
  type ObjectReference,
  type ResponseStatus,
} from '../../audit/event.ts'
import type { Policy, Stage } from '../../audit/policy.ts'
import { AuditRecord } from '../../audit/record.ts'
import type { Sink } from '../../audit/sink.ts'
import type { Clock } from '../../base/clock.ts'
import { internalError } from '../../model/api-error.ts'
import { apiVersionOf, type Vendor } from '../../model/vendor.ts'
import type { Exchange } from '../exchange.ts'
import type { Step } from '../pipeline.ts'

export interface AuditParts {
  readonly vendor: Vendor
  /** The policy in force. */
  readonly policy: Policy
  readonly sinks: readonly Sink[]
  readonly metrics: AuditMetrics
  readonly clock: Clock
}

/** The two places of the audit in the way of a request. */
export interface AuditSteps {
  /** Comes right after authentication. */
  readonly open: Step
  /** To be called for every request that was handled. */
  readonly close: (exchange: Exchange) => void
}

/** Sub-resources whose answers last as long as the caller likes. */
const longRunning: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])
const maxUserAgent = 1024
const maxSources = 20

/** Opens and closes the records of requests. */
export function audit(parts: AuditParts): AuditSteps {
  const { policy, metrics } = parts
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
      if (lasts(exchange)) exchange.onOpened = () => void tell(exchange, record, 'ResponseStarted')
      return tell(exchange, record, 'RequestReceived')
    },
    close: (exchange) => {
      if (exchange.audit !== undefined) void tell(exchange, exchange.audit, 'ResponseComplete')
      else if (exchange.status === 401 && exchange.user === undefined && exchange.info !== undefined) {
        const record = begin(exchange)
        if (record !== undefined) void tell(exchange, record, 'ResponseStarted')
      }
    },
  }
}

type Tell = (exchange: Exchange, record: AuditRecord, stage: Stage) => void | Promise<void>

/** Hands an event to every sink; waits where one of them asks for that. */
function teller({ vendor, sinks, metrics, clock }: AuditParts): Tell {
  const apiVersion = apiVersionOf(vendor, 'audit', 'v1')
  return (exchange, record, stage) => {
    if (!record.tells(stage)) return
    const event = eventOf(fieldsOf(exchange, record, { apiVersion, stage, clock }), vendor.groupDomain)
    metrics.events.value++
    const waits: Promise<void>[] = []
    for (const sink of sinks) {
      const wait = sink.write(event)
      if (wait !== undefined) waits.push(wait)
    }
    if (waits.length === 0) return
    return Promise.all(waits).then(
      () => {},
      () => {
        metrics.rejected.value++
        throw internalError('the request could not be recorded for the audit')
      },
    )
  }
}

interface Telling {
  readonly apiVersion: string
  readonly stage: Stage
  readonly clock: Clock
}

/** In one piece, as it is made for every event. Times are by the wall clock, also what the monotonic one has noted. */
function fieldsOf(exchange: Exchange, record: AuditRecord, { apiVersion, stage, clock }: Telling): EventFields {
  const reached = clock.now()
  return {
    apiVersion,
    stage,
    level: record.decision.level,
    auditId: record.auditId,
    request: requestOf(exchange, record),
    responseStatus: statusOf(exchange, record),
    requestObject: record.requestObject,
    responseObject: record.responseObject,
    annotations: record.annotations,
    received: reached - (clock.monotonic() - exchange.arrived),
    reached,
  }
}

/** That of the last event, unless somebody acts as another since then. */
function requestOf(exchange: Exchange, record: AuditRecord): AuditedRequest {
  const { transport, info, headers, user, impersonator } = exchange
  const impersonatedUser = impersonator === undefined ? undefined : user
  if (record.request !== undefined && record.request.facts.impersonatedUser === impersonatedUser) return record.request
  record.request = new AuditedRequest({
    requestUri: transport.target,
    verb: info.verb,
    user: impersonator ?? user,
    impersonatedUser,
    sourceIps: sourcesOf(exchange),
    userAgent: (headers.first('user-agent') ?? '').slice(0, maxUserAgent),
    objectRef: objectOf(exchange, record),
  })
  return record.request
}

function statusOf({ status: code }: Exchange, { failure }: AuditRecord): ResponseStatus | undefined {
  if (code === 0) return undefined
  return failure === undefined ? { code } : { ...failure, code }
}

function objectOf({ info }: Exchange, { sent }: AuditRecord): ObjectReference | undefined {
  if (!info.resource) return undefined
  const { plural: resource, group: apiGroup, version: apiVersion, subresource } = info
  return {
    resource,
    namespace: info.namespace || sent.namespace,
    name: info.name || sent.name,
    uid: sent.uid,
    apiGroup,
    apiVersion,
    resourceVersion: sent.resourceVersion,
    subresource,
  }
}

/** Those whom proxies name, in their order, and the other end of the connection last. */
function sourcesOf({ headers, transport }: Exchange): readonly string[] {
  const { address } = transport.peer
  const own = address === '' ? [] : [address]
  const [forwarded, real] = [headers.all('x-forwarded-for'), headers.all('x-real-ip')]
  if (forwarded.length === 0 && real.length === 0) return own
  const named = [...forwarded.flatMap((value) => value.split(',')), ...real]
    .map((value) => value.trim())
    .filter((value) => isIP(value) !== 0)
    .slice(0, maxSources)
  return [...new Set([...named, ...own])]
}

function lasts({ info }: Exchange): boolean {
  return info.resource && (info.verb === 'watch' || longRunning.has(info.subresource))
}

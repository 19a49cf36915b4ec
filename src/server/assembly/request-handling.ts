/** Assembles the request pipeline of this server. `steps` lists its steps in order. */
import { ApiError } from '../../api/model/api-error.ts'
import type { User } from '../../api/model/user.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Gates } from '../../api/versions/feature-gates.ts'
import type { Authorizer } from '../../apiserver/authz/authorizer.ts'
import { dispatch, type Routes } from '../../apiserver/http/dispatch.ts'
import { pipeline, type Step } from '../../apiserver/http/pipeline.ts'
import type { Exchange } from '../../apiserver/http/request/exchange.ts'
import type { RequestMetrics } from '../../apiserver/http/request-metrics.ts'
import { allowOrigins, type IsAllowedOrigin } from '../../apiserver/http/steps/allow-origins.ts'
import { answerErrors } from '../../apiserver/http/steps/answer-errors.ts'
import { assignAuditId } from '../../apiserver/http/steps/assign-audit-id.ts'
import type { AuditSteps } from '../../apiserver/http/steps/audit.ts'
import { authorize } from '../../apiserver/http/steps/authorize.ts'
import { breakGlass } from '../../apiserver/http/steps/break-glass.ts'
import { explainAdmission } from '../../apiserver/http/steps/explain-admission.ts'
import { impersonate } from '../../apiserver/http/steps/impersonate.ts'
import { measureStep } from '../../apiserver/http/steps/measure-step.ts'
import { refuseForeignPages } from '../../apiserver/http/steps/refuse-foreign-pages.ts'
import { resolveRequest } from '../../apiserver/http/steps/resolve-request.ts'
import { setDeadline } from '../../apiserver/http/steps/set-deadline.ts'
import { errorFields, type Log, type LogFields } from '../../base/telemetry/log.ts'
import { shorten } from '../../base/text/shorten.ts'
import type { Clock } from '../../base/time/clock.ts'
import { SlowRequests } from '../telemetry/slow-requests.ts'
import type { Tracing } from '../telemetry/tracing.ts'
import type { HandleAs } from './in-process-transport.ts'

/** Callbacks for every request. Errors thrown by a callback become responses, like the errors of any pipeline step. */
export interface RequestHooks {
  /** Called when the request has been parsed. */
  readonly arrived: (exchange: Exchange) => void
  /** Called when the user has been authenticated. The request waits for the returned promise. */
  readonly identified: (exchange: Exchange) => void | Promise<void>
  /** Called when the request has been handled, successfully or not. */
  readonly handled: (exchange: Exchange) => void
}

export interface HandlingParts {
  readonly vendor: Vendor
  readonly authorizer: Authorizer
  /** Enabled feature gates. */
  readonly gates: Gates
  readonly routes: Routes
  readonly metrics: RequestMetrics
  readonly log: Log
  readonly clock: Clock
  /** Writes audit events. */
  readonly audit: AuditSteps
  /** Whether callers with permission may bypass admission webhooks. */
  readonly breakGlass: boolean
  /** Pipeline step that limits concurrent requests. */
  readonly limitRequests: Step
  /** Sends the HSTS header. Undefined unless the flags enable it. */
  readonly demandTls: Step | undefined
  /** Serves the console. Undefined if it is disabled. */
  readonly serveConsole: Step | undefined
  /** Serves the documentation. Undefined if it is disabled or not installed. */
  readonly serveDocumentation: Step | undefined
  /** Traces requests. Undefined if tracing is disabled. */
  readonly tracing: Tracing | undefined
  /** Timeout in milliseconds of requests other than watches. */
  readonly maxRequestMs: number
  readonly hooks?: RequestHooks | undefined
  /** Returns whether pages of an origin may call this server. If undefined, no page may call it. */
  readonly isAllowedOrigin: IsAllowedOrigin | undefined
}

export interface Handling {
  /** Creates a pipeline that authenticates requests with the given step. */
  readonly handleAs: HandleAs
  /** Stops the timers of request deadlines. */
  close(): void
}

export function handleRequests(parts: HandlingParts): Handling {
  const { vendor, authorizer, routes, metrics, log, clock, audit, tracing } = parts
  const answerError = answerErrors(vendor, (error, exchange) => {
    const { method, target } = exchange.transport
    const fields = { method, target: shorten(target, 500), ...identities(exchange) }
    if (isForClient(error)) log.warn('request failed with status 503', { ...fields, error: error.message })
    else log.error('request failed', { ...fields, ...errorFields(error) })
  })
  const deadline = setDeadline(clock, parts.maxRequestMs, answerError)
  const dispatchRequest = dispatch(routes)
  const { hooks } = parts
  /** Returns the pipeline steps in execution order. `authenticate` is the authentication step. */
  const steps = (authenticate: Step): readonly (Step | undefined)[] => [
    assignAuditId,
    allowOrigins(parts.isAllowedOrigin),
    tracing?.step,
    resolveRequest,
    hooks?.arrived,
    (exchange) => metrics.begin(exchange),
    deadline.step,
    refuseForeignPages(parts.isAllowedOrigin),
    parts.demandTls,
    parts.serveConsole,
    parts.serveDocumentation,
    measureStep('authentication', authenticate),
    audit.open,
    impersonate(authorizer, vendor, parts.gates),
    hooks?.identified,
    parts.limitRequests,
    measureStep('authorization', authorize(authorizer, vendor)),
    explainAdmission(authorizer, vendor),
    breakGlass({ authorizer, vendor, isEnabled: parts.breakGlass, log }),
    dispatchRequest,
  ]
  const slow = new SlowRequests(log, (exchange) => requestFields(exchange, clock))
  const onHandled = (exchange: Exchange) => {
    const now = clock.monotonic()
    metrics.end(exchange, now)
    audit.close(exchange, now)
    hooks?.handled(exchange)
    slow.look(exchange, now)
    tracing?.onHandled(exchange)
    if (log.isEnabled(3)) log.verbose(3, 'request', requestFields(exchange, clock))
  }
  return {
    handleAs: (authenticate) => pipeline(steps(authenticate), { answerError, onHandled }),
    close: deadline.close,
  }
}

/**
 * Whether the error is a 503 caused by something outside this server, such as a Service without endpoints or an
 * unresponsive backend.
 */
function isForClient(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 503 && error.cause === undefined
}

/** Returns the log fields of a handled request. Omits the query, which may contain confidential data. */
function requestFields(exchange: Exchange, clock: Clock): LogFields {
  const { transport, status, sentBytes, arrived } = exchange
  const path = transport.target.split('?', 1)[0]!.slice(0, 500)
  const ms = Math.round(10 * (clock.monotonic() - arrived)) / 10
  return {
    method: transport.method,
    path,
    ...identities(exchange),
    code: status,
    bytes: sentBytes,
    ms,
  }
}

/** Returns the log fields for the authenticated user and the impersonated user. */
function identities({ user, impersonator }: Exchange): LogFields {
  const authenticatedUser: User | undefined = impersonator ?? user
  return { user: authenticatedUser?.name ?? '', ...(impersonator && { as: user.name }) }
}

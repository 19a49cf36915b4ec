/** The pipeline of this server: `steps` lists what every request passes. */
import { ApiError } from '../../api/model/api-error.ts'
import type { User } from '../../api/model/user.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Authorizer } from '../../apiserver/authz/authorizer.ts'
import { dispatch, type Routes } from '../../apiserver/http/dispatch.ts'
import { pipeline, type Step } from '../../apiserver/http/pipeline.ts'
import type { Exchange } from '../../apiserver/http/request/exchange.ts'
import type { RequestMetrics } from '../../apiserver/http/request-metrics.ts'
import { allowOrigins, type IsAllowedOrigin } from '../../apiserver/http/steps/allow-origins.ts'
import { answerErrors } from '../../apiserver/http/steps/answer-errors.ts'
import type { AuditSteps } from '../../apiserver/http/steps/audit.ts'
import { authorize } from '../../apiserver/http/steps/authorize.ts'
import { breakGlass } from '../../apiserver/http/steps/break-glass.ts'
import { explainAdmission } from '../../apiserver/http/steps/explain-admission.ts'
import { impersonate } from '../../apiserver/http/steps/impersonate.ts'
import { refuseForeignPages } from '../../apiserver/http/steps/refuse-foreign-pages.ts'
import { resolveRequest } from '../../apiserver/http/steps/resolve-request.ts'
import { setDeadline } from '../../apiserver/http/steps/set-deadline.ts'
import { stamp } from '../../apiserver/http/steps/stamp.ts'
import { timed } from '../../apiserver/http/steps/timed.ts'
import { errorFields, type Log, type LogFields } from '../../base/telemetry/log.ts'
import { shorten } from '../../base/text/shorten.ts'
import type { Clock } from '../../base/time/clock.ts'
import { SlowRequests } from '../telemetry/slow-requests.ts'
import type { Tracing } from '../telemetry/tracing.ts'
import type { HandleAs } from './in-process-transport.ts'

/** Called for every request; what they throw is answered, as what any step throws is. */
export interface RequestHooks {
  /** It is known what the request asks for. */
  readonly arrived: (exchange: Exchange) => void
  /** It is known who asks. Whatever it waits for, the request waits for. */
  readonly identified: (exchange: Exchange) => void | Promise<void>
  /** It has been handled, however that ended. */
  readonly handled: (exchange: Exchange) => void
}

export interface HandlingParts {
  readonly vendor: Vendor
  readonly authorizer: Authorizer
  readonly routes: Routes
  readonly metrics: RequestMetrics
  readonly log: Log
  readonly clock: Clock
  /** Records requests. */
  readonly audit: AuditSteps
  /** Whether callers with the permission may pass by admission webhooks. */
  readonly breakGlass: boolean
  /** The step that keeps the server from being overrun. */
  readonly limitRequests: Step
  /** Tells browsers to use TLS only, where the flags ask for it. */
  readonly demandTls: Step | undefined
  /** Answers requests for the console, where there is one. */
  readonly serveConsole: Step | undefined
  /** Records requests, where somebody wants that. */
  readonly tracing: Tracing | undefined
  /** The longest time of a request that is not a watch. */
  readonly maxRequestMs: number
  readonly hooks?: RequestHooks | undefined
  /** Which origins pages may call this server from; undefined: none. */
  readonly isAllowedOrigin: IsAllowedOrigin | undefined
}

export interface Handling {
  /** The pipeline with this step in the place of authentication. */
  readonly handleAs: HandleAs
  /** Stops looking after deadlines. */
  close(): void
}

export function handleRequests(parts: HandlingParts): Handling {
  const { vendor, authorizer, routes, metrics, log, clock, audit, tracing } = parts
  const answerError = answerErrors(vendor, (error, exchange) => {
    const { method, target } = exchange.transport
    const fields = { method, target: shorten(target, 500), ...identities(exchange) }
    if (isForClient(error)) log.warn('a request was answered with 503', { ...fields, error: error.message })
    else log.error('a request failed', { ...fields, ...errorFields(error) })
  })
  const deadline = setDeadline(clock, parts.maxRequestMs, answerError)
  const dispatchRequest = dispatch(routes)
  const { hooks } = parts
  /** Every request passes these steps. The order of the lines is the order of execution. */
  const steps = (authenticate: Step): readonly (Step | undefined)[] => [
    stamp,
    allowOrigins(parts.isAllowedOrigin),
    tracing?.step,
    resolveRequest,
    hooks?.arrived,
    (exchange) => metrics.begin(exchange),
    deadline.step,
    refuseForeignPages(parts.isAllowedOrigin),
    parts.demandTls,
    parts.serveConsole,
    timed('authentication', authenticate),
    audit.open,
    impersonate(authorizer, vendor),
    hooks?.identified,
    parts.limitRequests,
    timed('authorization', authorize(authorizer, vendor)),
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
    if (log.tells(3)) log.detail(3, 'request', requestFields(exchange, clock))
  }
  return {
    handleAs: (authenticate) => pipeline(steps(authenticate), { answerError, onHandled }),
    close: deadline.close,
  }
}

/** A 503 that has no cause inside this server: a Service without endpoints, a backend that does not answer. */
function isForClient(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 503 && error.cause === undefined
}

/** One request as a line of the log. The query is left out: it may hold what is nobody's business. */
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

/** Who asks, as far as that is known by now, and as whom. */
function identities({ user, impersonator }: Exchange): LogFields {
  const asked: User | undefined = impersonator ?? user
  return { user: asked?.name ?? '', ...(impersonator && { as: user.name }) }
}

/** The pipeline of this server: the steps that every request goes through, in this order. */
import type { Authorizer } from '../authz/authorizer.ts'
import type { Clock } from '../base/clock.ts'
import { errorFields, type Log } from '../base/log.ts'
import { dispatch, type Routes } from '../http/dispatch.ts'
import type { Exchange } from '../http/exchange.ts'
import { pipeline, type Step } from '../http/pipeline.ts'
import type { RequestMetrics } from '../http/request-metrics.ts'
import { answerErrors } from '../http/steps/answer-errors.ts'
import { authorize } from '../http/steps/authorize.ts'
import { resolveRequest } from '../http/steps/resolve-request.ts'
import { setDeadline } from '../http/steps/set-deadline.ts'
import { stamp } from '../http/steps/stamp.ts'
import type { Vendor } from '../model/vendor.ts'
import type { HandleAs } from './in-process-transport.ts'

export interface HandlingParts {
  readonly vendor: Vendor
  readonly authorizer: Authorizer
  readonly routes: Routes
  readonly metrics: RequestMetrics
  readonly log: Log
  readonly clock: Clock
}

export interface Handling {
  /** The pipeline with this step in the place of authentication. */
  readonly handleAs: HandleAs
  /** Stops looking after deadlines. */
  close(): void
}

export function handleRequests({ vendor, authorizer, routes, metrics, log, clock }: HandlingParts): Handling {
  const answerError = answerErrors(vendor, (error, { transport: { method, target } }) =>
    log.error('a request failed', { method, target: target.slice(0, 500), ...errorFields(error) }),
  )
  const deadline = setDeadline(clock, answerError)
  const [mayThey, handOn] = [authorize(authorizer), dispatch(routes)]
  const count: Step = (exchange) => metrics.begin(exchange)
  const ends = { answerError, onHandled: (exchange: Exchange) => metrics.end(exchange) }
  return {
    handleAs: (identify) => pipeline([stamp, resolveRequest, count, deadline.step, identify, mayThey, handOn], ends),
    close: deadline.close,
  }
}

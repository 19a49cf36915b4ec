/** The pipeline of this server: the steps that every request goes through, in this order. */

import type { Authorizer } from '../authz/authorizer.ts'
import type { Clock } from '../base/clock.ts'
import { errorFields, type Log } from '../base/log.ts'
import { shorten } from '../base/shorten.ts'
import { dispatch, type Routes } from '../http/dispatch.ts'
import { pipeline } from '../http/pipeline.ts'
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
  readonly log: Log
  readonly clock: Clock
}

export interface Handling {
  /** The pipeline with this step in the place of authentication. */
  readonly handleAs: HandleAs
  /** Stops looking after deadlines. */
  close(): void
}

export function handleRequests({ vendor, authorizer, routes, log, clock }: HandlingParts): Handling {
  const answerError = answerErrors(vendor, (error, { transport: { method, target } }) =>
    log.error('a request failed', { method, target: shorten(target, 500), ...errorFields(error) }),
  )
  const deadline = setDeadline(clock, answerError)
  const [mayThey, handOn] = [authorize(authorizer), dispatch(routes)]
  return {
    handleAs: (identify) => pipeline([stamp, resolveRequest, deadline.step, identify, mayThey, handOn], answerError),
    close: deadline.close,
  }
}

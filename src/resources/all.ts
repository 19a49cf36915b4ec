/** The only list of endpoints: what is answered without being stored. Adding one is its file, its test and a line here. */
import type { Lookup } from '../model/lookup.ts'
import type { Endpoint } from '../registry/endpoint.ts'
import { type Component, componentStatuses } from './component-statuses.ts'
import { podLog } from './pod-log.ts'
import { type TokenReviewParts, tokenReview } from './token-review.ts'

export interface EndpointParts extends TokenReviewParts {
  readonly lookup: Lookup
  /** The parts that the server relies on. */
  readonly components: readonly Component[]
}

export function allEndpoints(parts: EndpointParts): Endpoint[] {
  return [tokenReview(parts), podLog(parts.lookup), componentStatuses(parts.components)]
}

/**
 * The Webhook mode: sends a SubjectAccessReview to a remote service and caches the responses for a limited time.
 * Concurrent identical queries share one call. If the service fails or times out, the mode has no opinion or denies the
 * request, depending on the failure policy. If this server has no free connection for the call, the request is rejected
 * with 429.
 */

import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import { tooManyRequests } from '../../api/model/api-error.ts'
import { apiVersionOf, type Vendor } from '../../api/model/vendor.ts'
import type { Requirement } from '../../api/selectors/label-selector.ts'
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import type { Traced, TraceHeaders } from '../../base/telemetry/tracing/trace-context.ts'
import type { Clock } from '../../base/time/clock.ts'
import { NoFreeConnection } from '../../wire/http/https-json.ts'
import type { Mode } from './access.ts'
import { type Decision, noOpinion, type Question, type ResourceAttributes } from './authorizer.ts'
import type { ConditionOutcome } from './structured/match-conditions.ts'

export interface WebhookParts {
  readonly vendor: Vendor
  readonly clock: Clock
  /** Version of SubjectAccessReview. */
  readonly version: 'v1' | 'v1beta1'
  /** Whether to send the request's selectors to the webhook. */
  readonly sendsSelectors: boolean
  /**
   * Time to live of cached responses in milliseconds, separately for responses that allow the request and for all other
   * responses.
   */
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  /** Sends a review to the service and returns the response. */
  readonly post: (review: JsonObject, trace: TraceHeaders) => Promise<Json>
  readonly onFailure: (error: unknown) => void
  /**
   * Whether the request is denied, or the mode has no opinion, if the service or a condition fails. Defaults to
   * NoOpinion.
   */
  readonly failurePolicy?: 'NoOpinion' | 'Deny'
  /** Evaluates the configured match conditions for a review. The webhook is called only if all conditions are met. */
  readonly conditions?: (request: JsonObject) => ConditionOutcome
}

/** Maximum length, in characters, of a review whose response is cached. */
const maxKeyLength = 10_000

/** The Webhook mode: a remote service decides, and its decisions are cached. */
export function webhook(parts: WebhookParts): Mode {
  const answers = new TtlCache<Decision>(parts.clock)
  return {
    authorizer: (question) => {
      const outcome = parts.conditions?.(specOf(question, { ...parts, version: 'v1' })) ?? 'met'
      if (outcome === 'unmet') return noOpinion
      if (outcome === 'failed') return failureOf(parts)
      const spec = specOf(question, parts)
      const key = JSON.stringify(spec)
      return answers.get(key, async () => {
        const value = await call(parts, spec, question.trace)
        return { value, ttlMs: key.length > maxKeyLength ? 0 : ttlOf(value, parts) }
      })
    },
    rulesOf: () => ({ rules: [], incomplete: true, notes: ['webhook rules cannot be listed'] }),
  }
}

function ttlOf(decision: Decision, { authorizedTtlMs, unauthorizedTtlMs }: WebhookParts): number {
  if (decision === silence || decision === denial) return 0
  return decision.verdict === 'allow' ? authorizedTtlMs : unauthorizedTtlMs
}

const silence: Decision = { verdict: 'no opinion', reason: () => 'cannot call the authorization webhook' }
const denial: Decision = { ...silence, verdict: 'deny' }

function failureOf({ failurePolicy = 'NoOpinion' }: WebhookParts): Decision {
  return failurePolicy === 'Deny' ? denial : silence
}

async function call(parts: WebhookParts, spec: JsonObject, trace: Traced | undefined): Promise<Decision> {
  const apiVersion = apiVersionOf(parts.vendor, 'authorization', parts.version)
  try {
    const review = { apiVersion, kind: 'SubjectAccessReview', metadata: {}, spec }
    return decisionOf(await parts.post(review, trace?.traceHeaders ?? {}), apiVersion)
  } catch (error) {
    parts.onFailure(error)
    // A local limit prevented the call. Reject the request, because the webhook might have denied it.
    if (error instanceof NoFreeConnection)
      throw tooManyRequests('too many calls to the authorization webhook are in progress')
    return failureOf(parts)
  }
}

function decisionOf(answer: Json, apiVersion: string): Decision {
  if (!isObject(answer) || own(answer, 'kind') !== 'SubjectAccessReview' || own(answer, 'apiVersion') !== apiVersion)
    throw new Error(`the authorization webhook did not return a SubjectAccessReview in ${apiVersion}`)
  const status = own(answer, 'status')
  if (!isObject(status)) throw new Error("the authorization webhook's response has no status")
  const allowed = own(status, 'allowed') === true
  const denied = own(status, 'denied') === true
  if (allowed && denied) throw new Error('the authorization webhook both allows and denies the request')
  const reason = own(status, 'reason')
  const reasonText = typeof reason === 'string' ? reason.slice(0, maxReason) : ''
  return { verdict: allowed ? 'allow' : denied ? 'deny' : 'no opinion', reason: () => reasonText }
}

const maxReason = 1000

function specOf(
  { user, attributes }: Question,
  { version, sendsSelectors }: Pick<WebhookParts, 'version' | 'sendsSelectors'>,
): JsonObject {
  const { name, uid, groups, extra } = user
  return {
    ...(attributes.resource
      ? { resourceAttributes: { ...resourceOf(attributes), ...(sendsSelectors ? selectorsOf(attributes) : {}) } }
      : { nonResourceAttributes: { path: attributes.path, verb: attributes.verb } }),
    user: name,
    // v1beta1 calls this field `group`.
    [version === 'v1' ? 'groups' : 'group']: [...groups],
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])) }),
    ...(uid === '' ? {} : { uid }),
  }
}

/**
 * Returns the selectors in the form of an access review. Omits label requirements that compare numbers, because a
 * review cannot express them.
 */
function selectorsOf({ selectors }: ResourceAttributes): JsonObject {
  if (selectors === undefined) return {}
  const { fields, labels } = selectors()
  const fieldSelector = fields.map(({ path, equal, value }) => ({
    key: path,
    operator: equal ? 'In' : 'NotIn',
    values: [value],
  }))
  const labelSelector = labels.flatMap(labelRequirement)
  return {
    ...(fieldSelector.length === 0 ? {} : { fieldSelector: { requirements: fieldSelector } }),
    ...(labelSelector.length === 0 ? {} : { labelSelector: { requirements: labelSelector } }),
  }
}

const labelOperators = { in: 'In', notin: 'NotIn', exists: 'Exists', absent: 'DoesNotExist' } as const

function labelRequirement(requirement: Requirement): JsonObject[] {
  if (requirement.op === 'gt' || requirement.op === 'lt') return []
  const { key, op } = requirement
  return [
    { key, operator: labelOperators[op], ...('values' in requirement ? { values: [...requirement.values] } : {}) },
  ]
}

function resourceOf(attributes: ResourceAttributes): JsonObject {
  const { namespace, verb, group, version, plural, subresource, name } = attributes
  const all = { namespace, verb, group, version, resource: plural, subresource, name }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
}

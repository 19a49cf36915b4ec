/**
 * ValidatingAdmissionWebhook: calls all validating webhooks in parallel with the object as it would be stored. A single
 * denial rejects the request. If several webhooks deny the request, the denial of the first webhook in the list is
 * reported.
 */
import type { AdmissionRequest, Control } from '../admission.ts'
import type { Candidate } from './configurations.ts'
import { RequestConditions } from './match-conditions.ts'
import { everyOperation, type WebhookControlParts } from './mutating-webhooks.ts'
import { Reviews } from './review.ts'
import { candidatesFor, isSelected } from './select-webhooks.ts'

export function validatingWebhooks(parts: WebhookControlParts): Control {
  const { configurations, metrics } = parts
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: { operations: everyOperation },
    asksOthers: true,
    isIdle: () => configurations.webhooks.length === 0,
    validate: (request) => {
      const candidates = candidatesFor(configurations, request)
      if (candidates.length === 0) return
      if (request.bypass !== undefined) return metrics.bypassed('validating')
      return askAtOnce(parts, request, candidates)
    },
  }
}

async function askAtOnce(
  parts: WebhookControlParts,
  request: AdmissionRequest,
  candidates: readonly Candidate[],
): Promise<void> {
  const { calls, lookup } = parts
  const conditions = new RequestConditions(parts, request)
  const selected: Candidate[] = []
  for (const candidate of candidates)
    if ((await isSelected(candidate.webhook, request, lookup)) && (await conditions.areMet(candidate)))
      selected.push(candidate)
  const reviews = new Reviews(request)
  const asked = await Promise.allSettled(
    selected.map((candidate) => calls.ask({ ...candidate, request, reviews, calls: 1, allCalls: 1 }, () => {})),
  )
  for (const outcome of asked) if (outcome.status === 'rejected') throw outcome.reason
}

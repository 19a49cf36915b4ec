/**
 * MutatingAdmissionWebhook: calls the mutating webhooks one after another. Each webhook receives the object with the
 * changes made by the webhooks before it. If a webhook changes the object, the chain runs all plugins again. In the
 * second round, only webhooks with `reinvocationPolicy: IfNeeded` are called, and only if the object has changed since
 * their last call.
 */
import type { ApiObject } from '../../../api/model/object.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { Rounds } from '../reinvocation.ts'
import { applyPatch } from './apply-patch.ts'
import type { WebhookCalls } from './calls.ts'
import type { Candidate, WebhookConfigurations } from './configurations.ts'
import { type ConditionParts, RequestConditions } from './match-conditions.ts'
import { Reviews } from './review.ts'
import { candidatesFor, isSelected } from './select-webhooks.ts'
import type { Webhook } from './webhook.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'

export interface WebhookControlParts extends ConditionParts {
  readonly configurations: WebhookConfigurations
  readonly calls: WebhookCalls
  readonly metrics: WebhookMetrics
}

export const everyOperation = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const

export function mutatingWebhooks(parts: WebhookControlParts): Control {
  const { configurations, metrics } = parts
  const rounds = new WeakMap<WeakKey, Rounds<Webhook>>()
  return {
    name: 'MutatingAdmissionWebhook',
    handles: { operations: everyOperation },
    asksOthers: true,
    isIdle: () => configurations.webhooks.length === 0,
    mutate: (request, memory) => {
      const candidates = candidatesFor(configurations, request)
      if (candidates.length === 0) return undefined
      if (request.bypass !== undefined) {
        metrics.bypassed('mutating')
        return undefined
      }
      const roundsOfWrite = rounds.get(memory) ?? new Rounds<Webhook>()
      rounds.set(memory, roundsOfWrite)
      return askInTurn(parts, { request, candidates, rounds: roundsOfWrite })
    },
  }
}

interface Round {
  readonly request: AdmissionRequest
  readonly candidates: readonly Candidate[]
  readonly rounds: Rounds<Webhook>
}

async function askInTurn(parts: WebhookControlParts, round: Round): Promise<ApiObject | undefined> {
  const { candidates, rounds } = round
  let { request } = round
  if (request.again) rounds.begin(request.object)
  let reviews = new Reviews(request)
  let conditions = new RequestConditions(parts, request)
  for (const [i, { webhook, form }] of candidates.entries()) {
    if (request.again && !rounds.wants(webhook)) continue
    if (!(await isSelected(webhook, request, parts.lookup))) continue
    if (!(await conditions.areMet({ webhook, form }))) continue
    // One call for each remaining webhook, including this one, and one more for all validating webhooks, which are
    // called in parallel.
    const allCalls = candidates.length + 1
    const question = { webhook, form, request, reviews, calls: allCalls - i, allCalls }
    const current = request
    const object = await parts.calls.ask(question, async ({ patch }, isLate) => {
      const changed = await applyPatch({ request: current, webhook, form, isLate }, patch)
      if (current.audit !== undefined) note(current, { webhook, index: i, patch: changed && patch })
      return changed
    })
    if (object !== undefined) rounds.changed()
    if (webhook.isReinvoked) rounds.ran(webhook)
    if (object === undefined) continue
    request = { ...request, object }
    reviews = new Reviews(request)
    conditions = new RequestConditions(parts, request)
  }
  rounds.end(request.object)
  return request.object
}

interface Mutation {
  readonly webhook: Webhook
  /** Position of the webhook in this round, as used in audit annotations. */
  readonly index: number
  /** The patch of the webhook. Undefined if the webhook changed nothing. */
  readonly patch: Buffer | undefined
}

/** Adds audit annotations about the webhook's changes, under the same keys as in kube-apiserver. */
function note({ audit, vendor, again }: AdmissionRequest, { webhook, index, patch }: Mutation): void {
  const place = `webhook.admission.${vendor.groupDomain}/round_${again ? 1 : 0}_index_${index}`
  const webhookNames = { configuration: webhook.configuration, webhook: webhook.name }
  audit?.annotate(`mutation.${place}`, JSON.stringify({ ...webhookNames, mutated: patch !== undefined }))
  if (patch === undefined) return
  const head = JSON.stringify(webhookNames).slice(0, -1)
  audit?.annotateBody(`patch.${place}`, `${head},"patch":${patch.toString()},"patchType":"JSONPatch"}`)
}

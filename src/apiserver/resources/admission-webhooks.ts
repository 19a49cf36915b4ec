/**
 * Lists the admission webhooks that this server calls, with the state of their circuit breakers (`admissionwebhooks`).
 */

import { admissionWebhook } from '../../api/kinds/ops/admission-webhook.ts'
import { notFound } from '../../api/model/api-error.ts'
import { type ApiObject, timestamp } from '../../api/model/object.ts'
import { apiVersionOf, groupName, type Vendor } from '../../api/model/vendor.ts'
import type { Webhook } from '../admission/webhook/webhook.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'

export interface AdmissionWebhookParts {
  readonly vendor: Vendor
  readonly webhooks: () => readonly Webhook[]
}

export function admissionWebhooks({ vendor, webhooks }: AdmissionWebhookParts): Endpoint {
  const apiVersion = apiVersionOf(vendor, admissionWebhook.group, admissionWebhook.version)
  const { kind, plural } = admissionWebhook
  const show = (webhook: Webhook): ApiObject => ({ apiVersion, kind, ...describe(webhook) })
  return {
    kind: admissionWebhook,
    subresource: '',
    verbs: ['get', 'list'],
    type: undefined,
    admits: undefined,
    doc: 'Lists the admission webhooks that this server calls, with the state of their circuit breakers.',
    answer: ({ verb, name }) => {
      if (verb === 'list') return { apiVersion, kind: `${kind}List`, metadata: {}, items: webhooks().map(describe) }
      const namedWebhook = webhooks().find((webhook) => nameOf(webhook) === name)
      if (namedWebhook === undefined) throw notFound({ group: groupName(vendor, 'ops'), plural }, name)
      return show(namedWebhook)
    },
  }
}

/**
 * Returns a unique name for a webhook: its phase, its configuration and its own name, as in
 * `validating:policy:pods.policy.example.com`.
 */
function nameOf({ phase, configuration, name }: Webhook): string {
  return `${phase}:${configuration}:${name}`
}

function describe(webhook: Webhook) {
  const { phase, configuration, name, address, ignoresFailures, breaker } = webhook
  const { open, failures, calls, lastError, lastFailureAt, lastLatencyMs } = breaker.state
  return {
    metadata: { name: nameOf(webhook) },
    spec: {
      type: phase === 'mutating' ? 'Mutating' : 'Validating',
      configuration,
      webhook: name,
      url: address.url,
      failurePolicy: ignoresFailures ? 'Ignore' : 'Fail',
    },
    status: {
      breaker: open ? 'Open' : 'Closed',
      consecutiveFailures: failures,
      calls,
      ...(lastError === undefined ? {} : { lastError }),
      ...(lastFailureAt === undefined ? {} : { lastFailureTime: timestamp(lastFailureAt) }),
      ...(lastLatencyMs === undefined ? {} : { lastLatencyMilliseconds: Math.round(lastLatencyMs) }),
    },
  }
}

/**
 * AdmissionWebhook: a webhook of a stored configuration as the server that answers knows it: whether its circuit breaker
 * is open, its last error, how fast it answers. It is shown (`apiserver/resources/admission-webhooks.ts`) and never stored.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const status = s.object(
  {
    breaker: field(1, s.string(), { zero: 'write', doc: 'Closed, or Open after five failed calls in a row.' }),
    consecutiveFailures: field(2, s.int32(), { zero: 'write', doc: 'The number of failed calls in a row.' }),
    calls: field(3, s.int32(), { zero: 'write', doc: 'The number of calls since the configuration last changed.' }),
    lastError: field(4, s.string(), { doc: 'The error of the last failed call.' }),
    lastFailureTime: field(5, s.string(), { doc: 'The time of the last failed call.' }),
    lastLatencyMilliseconds: field(6, s.int32(), { zero: 'keep', doc: 'The duration of the last answered call.' }),
  },
  { name: 'AdmissionWebhookStatus', doc: 'The state of a webhook on one server.' },
)

const spec = s.object(
  {
    type: field(1, s.string(), { doc: 'Mutating or Validating.' }),
    configuration: field(2, s.string(), { doc: 'The name of the configuration.' }),
    webhook: field(3, s.string(), { doc: 'The name of the webhook within it.' }),
    url: field(4, s.string(), { doc: 'The address that is called.' }),
    failurePolicy: field(5, s.string(), { doc: 'Fail or Ignore.' }),
  },
  { name: 'AdmissionWebhookSpec', doc: 'The webhook.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The webhook.' }),
  status: field(3, status, { zero: 'write', doc: 'Its state on the server that answered.' }),
}

export type AdmissionWebhook = ObjectOf<typeof fields>

const columns: readonly Column<AdmissionWebhook>[] = [
  nameColumn,
  column('Breaker', 'Closed or Open.', (object) => object.status?.breaker ?? ''),
  column('Policy', 'What a failure means.', (object) => object.spec?.failurePolicy ?? ''),
  column('Last Error', 'The error of the last failed call.', (object) => object.status?.lastError ?? ''),
]

export const admissionWebhook = defineKind({
  names: {
    group: 'ops',
    version: 'v1',
    kind: 'AdmissionWebhook',
    plural: 'admissionwebhooks',
    scope: 'Cluster',
  },
  doc: 'The state of an admission webhook on the server that answers.',
  fields,
  life: { virtual: true, verbs: ['get', 'list'] },
  views: { columns },
})

/**
 * An AdmissionWebhook is the state of a configured webhook on the responding server: its circuit breaker, last error
 * and latency. `apiserver/resources/admission-webhooks.ts` computes it on request. It is never stored.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'

const status = s.object(
  {
    breaker: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'State of the circuit breaker: `Closed`, or `Open` after five consecutive failures.',
    }),
    consecutiveFailures: field(2, s.int32(), { zeroValue: 'write', doc: 'Number of consecutive failed calls.' }),
    calls: field(3, s.int32(), {
      zeroValue: 'write',
      doc: 'Number of calls since the configuration was last changed.',
    }),
    lastError: field(4, s.string(), { doc: 'Error from the last failed call.' }),
    lastFailureTime: field(5, s.string(), { doc: 'Time of the last failed call.' }),
    lastLatencyMilliseconds: field(6, s.int32(), {
      zeroValue: 'keep',
      doc: 'Latency, in milliseconds, of the last successful call.',
    }),
  },
  { name: 'AdmissionWebhookStatus', doc: 'State of a webhook on one server.' },
)

const spec = s.object(
  {
    type: field(1, s.string(), { doc: 'Type of the webhook: `Mutating` or `Validating`.' }),
    configuration: field(2, s.string(), { doc: 'Name of the webhook configuration.' }),
    webhook: field(3, s.string(), { doc: 'Name of the webhook in its configuration.' }),
    url: field(4, s.string(), { doc: 'URL that the server calls.' }),
    failurePolicy: field(5, s.string(), {
      doc: 'What the server does if a call fails: `Fail` rejects the request, and `Ignore` admits it.',
    }),
  },
  { name: 'AdmissionWebhookSpec', doc: 'Identity and address of a webhook.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Identity and address of the webhook.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'State of the webhook on the responding server.' }),
}

export type AdmissionWebhook = ObjectOf<typeof fields>

const columns: readonly Column<AdmissionWebhook>[] = [
  nameColumn,
  column('Breaker', 'State of the circuit breaker.', (object) => object.status?.breaker ?? ''),
  column(
    'Policy',
    'What the server does if a call fails: `Fail` or `Ignore`.',
    (object) => object.spec?.failurePolicy ?? '',
  ),
  column('Last Error', 'Error from the last failed call.', (object) => object.status?.lastError ?? ''),
]

export const admissionWebhook = defineKind({
  names: {
    group: 'ops',
    version: 'v1',
    kind: 'AdmissionWebhook',
    plural: 'admissionwebhooks',
    scope: 'Cluster',
  },
  doc: 'State of an admission webhook on the responding server.',
  fields,
  lifecycle: { virtual: true, verbs: ['get', 'list'] },
  views: { columns },
})

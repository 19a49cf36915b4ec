/**
 * WebhookPreview: which of the objects that exist now a webhook configuration would match. It is answered
 * (`apiserver/resources/webhook-preview.ts`) and never stored.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { mutatingWebhookOf } from '../admissionregistration/mutating-webhook-configuration.ts'

const matchedType = s.object(
  {
    group: field(1, s.string(), { zero: 'write', doc: 'The API group; empty for the core group.' }),
    resource: field(2, s.string(), { doc: 'The resource type.' }),
    count: field(3, s.int32(), { zero: 'write', doc: 'The number of matching objects that the caller may list.' }),
    names: field(4, s.list(s.string()), { doc: 'The first 100 of them: `name` or `namespace/name`.' }),
  },
  { name: 'PreviewedType', doc: 'The matching objects of one type.' },
)

const previewed = s.object(
  {
    name: field(1, s.string(), { doc: 'The name of the webhook.' }),
    types: field(2, s.list(matchedType), { doc: 'The types with matching objects.' }),
  },
  { name: 'PreviewedWebhook', doc: 'What a webhook would match.' },
)

const status = s.object(
  {
    webhooks: field(1, s.list(previewed), { zero: 'write', doc: 'One entry per webhook.' }),
    hiddenTypes: field(2, s.list(s.string()), { doc: 'Types that rules match and that the caller may not list.' }),
  },
  { name: 'WebhookPreviewStatus', doc: 'The matching objects.' },
)

/** A type that is published with the configurations, and not once more here. */
const webhook = { ...mutatingWebhookOf('v1'), name: 'admissionregistration.v1.MutatingWebhook' }

const spec = s.object(
  { webhooks: field(1, s.list(webhook), { doc: 'The webhooks, as in a configuration.' }) },
  { name: 'WebhookPreviewSpec', doc: 'The configuration.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'The configuration.' }),
  status: field(3, status, { zero: 'write', doc: 'The answer. Filled in by the server.' }),
}

export type WebhookPreview = ObjectOf<typeof fields>

export const webhookPreview = defineKind({
  names: {
    group: 'ops',
    version: 'v1',
    kind: 'WebhookPreview',
    plural: 'webhookpreviews',
    scope: 'Cluster',
  },
  doc: 'A question: which objects would a webhook configuration match? The answer comes at once; nothing is stored.',
  fields,
  life: { virtual: true },
})

/**
 * A WebhookPreview lists the existing objects that a webhook configuration would match.
 * `apiserver/resources/webhook-preview.ts` computes it on request. It is never stored.
 */
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { mutatingWebhookOf } from '../admissionregistration/mutating-webhook-configuration.ts'

const matchedType = s.object(
  {
    group: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'API group of the objects. Empty for the core group.',
    }),
    resource: field(2, s.string(), { doc: 'Plural name of the resource type.' }),
    count: field(3, s.int32(), {
      zeroValue: 'write',
      doc: 'Number of matching objects that the requesting user may list.',
    }),
    names: field(4, s.list(s.string()), {
      doc: 'Matching objects, in the form `name` or `namespace/name`. At most 100 are listed.',
    }),
  },
  { name: 'PreviewedType', doc: 'Matching objects of one resource type.' },
)

const previewed = s.object(
  {
    name: field(1, s.string(), { doc: 'Name of the webhook.' }),
    types: field(2, s.list(matchedType), { doc: 'Resource types that have matching objects.' }),
  },
  { name: 'PreviewedWebhook', doc: 'Objects that one webhook would match.' },
)

const status = s.object(
  {
    webhooks: field(1, s.list(previewed), { zeroValue: 'write', doc: 'Matching objects for each webhook.' }),
    hiddenTypes: field(2, s.list(s.string()), {
      doc: 'Resource types that the webhook rules match but the requesting user may not list.',
    }),
  },
  { name: 'WebhookPreviewStatus', doc: 'Objects that a webhook configuration would match.' },
)

/**
 * The published schema refers to the webhook type that the webhook configurations already publish, so that it is not
 * published twice.
 */
const webhook = { ...mutatingWebhookOf('v1'), name: 'admissionregistration.v1.MutatingWebhook' }

const spec = s.object(
  { webhooks: field(1, s.list(webhook), { doc: 'Webhooks, in the format of a webhook configuration.' }) },
  { name: 'WebhookPreviewSpec', doc: 'Webhook configuration to preview.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Webhook configuration to preview.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Matching objects, set by the server.' }),
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
  doc: 'Lists the objects that a webhook configuration would match. The result is returned in the status and is not stored.',
  fields,
  lifecycle: { virtual: true },
})

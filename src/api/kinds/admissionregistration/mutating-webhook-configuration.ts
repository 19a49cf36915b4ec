/**
 * A MutatingWebhookConfiguration configures webhooks that can change objects before they are stored. v1beta1 has the
 * same fields with different defaults.
 */
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { byName } from '../list-keys.ts'
import { configurationColumns, configurationRules, olderVersion } from './configurations.ts'
import { checkWebhook, type WebhookVersion, webhookFields } from './types/webhook.ts'

export const mutatingWebhookOf = (version: WebhookVersion) =>
  s.object(
    {
      ...webhookFields(version, { objectSelector: 11, matchConditions: 12 }),
      reinvocationPolicy: field(10, s.oneOf('IfNeeded', 'Never'), {
        zeroValue: 'keep',
        default: 'Never',
        doc: 'Whether to call the webhook again if the object changes after the first call: `Never` (the default) or `IfNeeded`.',
      }),
    },
    {
      name: 'MutatingWebhook',
      doc: 'A mutating webhook and the requests that trigger it.',
      check: (webhook, path) => checkWebhook(webhook, path),
    },
  )

const fieldsOf = (version: WebhookVersion) => ({
  webhooks: field(2, s.list(mutatingWebhookOf(version), byName), {
    emptyCounts: true,
    doc: 'Mutating webhooks to call. Webhooks that match the same request are called one after the other.',
  }),
})

export type MutatingWebhookConfiguration = ObjectOf<ReturnType<typeof fieldsOf>>

export const mutatingWebhookConfiguration = defineKind({
  names: {
    group: 'admissionregistration',
    version: 'v1',
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
    categories: ['api-extensions'],
    scope: 'Cluster',
  },
  doc: 'A set of admission webhooks that can change or reject objects before they are stored.',
  fields: fieldsOf('v1'),
  rules: configurationRules,
  lifecycle: { needsVersion: true, plainFinalizers: true },
  views: { columns: configurationColumns },
})

export const mutatingWebhookConfigurationV1beta1 = defineVersion(mutatingWebhookConfiguration, {
  version: 'v1beta1',
  fields: fieldsOf('v1beta1'),
  ...olderVersion('MutatingWebhookConfiguration'),
})

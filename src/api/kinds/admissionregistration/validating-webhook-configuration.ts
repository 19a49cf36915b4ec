/**
 * A ValidatingWebhookConfiguration configures webhooks that can reject requests. v1beta1 has the same fields with
 * different defaults.
 */
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { byName } from '../list-keys.ts'
import { configurationColumns, configurationRules, olderVersion } from './configurations.ts'
import { checkWebhook, type WebhookVersion, webhookFields } from './types/webhook.ts'

const webhookOf = (version: WebhookVersion) =>
  s.object(webhookFields(version, { objectSelector: 10, matchConditions: 11 }), {
    name: 'ValidatingWebhook',
    doc: 'A validating webhook and the requests that trigger it.',
    check: checkWebhook,
  })

const fieldsOf = (version: WebhookVersion) => ({
  webhooks: field(2, s.list(webhookOf(version), byName), {
    emptyCounts: true,
    doc: 'Validating webhooks to call. Webhooks that match the same request are called in parallel.',
  }),
})

export type ValidatingWebhookConfiguration = ObjectOf<ReturnType<typeof fieldsOf>>

export const validatingWebhookConfiguration = defineKind({
  names: {
    group: 'admissionregistration',
    version: 'v1',
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    categories: ['api-extensions'],
    scope: 'Cluster',
  },
  doc: 'A set of admission webhooks that can reject requests but cannot change objects.',
  fields: fieldsOf('v1'),
  rules: configurationRules,
  lifecycle: { needsVersion: true, plainFinalizers: true },
  views: { columns: configurationColumns },
})

export const validatingWebhookConfigurationV1beta1 = defineVersion(validatingWebhookConfiguration, {
  version: 'v1beta1',
  fields: fieldsOf('v1beta1'),
  ...olderVersion('ValidatingWebhookConfiguration'),
})

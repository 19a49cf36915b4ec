/**
 * ValidatingWebhookConfiguration: webhooks that may refuse a request. The older version has the same fields with other
 * defaults.
 */
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { byName } from '../list-keys.ts'
import { configurationColumns, configurationRules, olderVersion } from './configurations.ts'
import { checkWebhook, type WebhookVersion, webhookFields } from './types/webhook.ts'

const webhookOf = (version: WebhookVersion) =>
  s.object(webhookFields(version, { objectSelectorTag: 10 }), {
    name: 'ValidatingWebhook',
    doc: 'The webhooks, and the requests that they are called for.',
    check: checkWebhook,
  })

const fieldsOf = (version: WebhookVersion) => ({
  webhooks: field(2, s.list(webhookOf(version), byName), {
    doc: 'The webhooks, called in parallel.',
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
  doc: 'Webhooks that may refuse a request.',
  fields: fieldsOf('v1'),
  rules: configurationRules,
  life: { needsVersion: true, plainFinalizers: true },
  views: { columns: configurationColumns },
})

export const validatingWebhookConfigurationV1beta1 = defineVersion(validatingWebhookConfiguration, {
  version: 'v1beta1',
  fields: fieldsOf('v1beta1'),
  deprecated: olderVersion('ValidatingWebhookConfiguration'),
})

/**
 * MutatingWebhookConfiguration: webhooks that may change an object before it is stored. The older version has the same
 * fields with other defaults.
 */
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { byName } from '../list-keys.ts'
import { configurationColumns, configurationRules, olderVersion } from './configurations.ts'
import { checkWebhook, type WebhookVersion, webhookFields } from './types/webhook.ts'

export const mutatingWebhookOf = (version: WebhookVersion) =>
  s.object(
    {
      ...webhookFields(version, { objectSelectorTag: 11 }),
      reinvocationPolicy: field(10, s.oneOf('IfNeeded', 'Never'), {
        zero: 'keep',
        default: 'Never',
        doc: 'Whether it is called again when others changed the object after it: Never, the default, or IfNeeded.',
      }),
    },
    {
      name: 'MutatingWebhook',
      doc: 'The webhooks, and the requests that they are called for.',
      check: (webhook, path) => checkWebhook(webhook, path),
    },
  )

const fieldsOf = (version: WebhookVersion) => ({
  webhooks: field(2, s.list(mutatingWebhookOf(version), byName), {
    doc: 'The webhooks, called one after the other.',
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
  doc: 'Webhooks that may change an object before it is stored.',
  fields: fieldsOf('v1'),
  rules: configurationRules,
  life: { needsVersion: true, plainFinalizers: true },
  views: { columns: configurationColumns },
})

export const mutatingWebhookConfigurationV1beta1 = defineVersion(mutatingWebhookConfiguration, {
  version: 'v1beta1',
  fields: fieldsOf('v1beta1'),
  deprecated: olderVersion('MutatingWebhookConfiguration'),
})

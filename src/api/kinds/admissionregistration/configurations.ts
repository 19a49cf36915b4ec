/** What MutatingWebhookConfiguration and ValidatingWebhookConfiguration share beside their webhooks. */

import type { ObjectMeta } from '../../model/object.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { countsGeneration } from '../generation.ts'
import { checkNewWebhooks, type Webhook } from './types/webhook.ts'

type Configuration = {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  webhooks?: Webhook[]
}

export const configurationRules = countsGeneration(({ webhooks = [] }: Configuration) => webhooks, {
  validateCreate: ({ webhooks = [] }, context) => checkNewWebhooks(webhooks, [], context),
  validateUpdate: (next, previous, context) => checkNewWebhooks(next.webhooks ?? [], previous.webhooks ?? [], context),
})

export const configurationColumns: readonly Column<Configuration>[] = [
  nameColumn,
  { ...column('Webhooks', 'How many webhooks it has.', ({ webhooks = [] }) => webhooks.length), type: 'integer' },
  ageColumn,
]

/** What to use instead of the older version. */
export function olderVersion(kind: string) {
  return {
    since: 'v1.16',
    until: 'v1.22',
    instead: { group: 'admissionregistration', version: 'v1', kind },
  }
}

/** Validation, columns and deprecation notice for both kinds of webhook configurations. */

import type { ObjectMeta } from '../../model/object.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { isExplicitlyEmpty } from '../../schema/explicit-empty.ts'
import { countsGeneration } from '../generation.ts'
import { checkNewWebhooks, type Webhook } from './types/webhook.ts'

type Configuration = {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  webhooks?: Webhook[]
}

export const configurationRules = countsGeneration(countedWebhooks, {
  validateCreate: ({ webhooks = [] }, context) => checkNewWebhooks(webhooks, [], context),
  validateUpdate: (next, previous, context) => checkNewWebhooks(next.webhooks ?? [], previous.webhooks ?? [], context),
})

/**
 * Returns the part of the object whose changes increment the generation: the webhooks. As in Kubernetes, a change from
 * no list to an empty list also increments the generation.
 */
function countedWebhooks(object: Configuration): Webhook[] | undefined {
  return object.webhooks ?? (isExplicitlyEmpty(object, 'webhooks') ? [] : undefined)
}

export const configurationColumns: readonly Column<Configuration>[] = [
  nameColumn,
  {
    ...column('Webhooks', 'Number of webhooks in the configuration.', ({ webhooks = [] }) => webhooks.length),
    type: 'integer',
  },
  ageColumn,
]

/**
 * Returns the deprecation notice of v1beta1, which names v1 as its replacement. Kubernetes removed v1beta1 in 1.22, but
 * this server still supports v1beta1 when it emulates 1.23.
 */
export function olderVersion(kind: string) {
  return {
    until: '1.24',
    deprecated: {
      since: '1.16',
      removal: '1.22',
      instead: { group: 'admissionregistration', version: 'v1', kind },
    },
  } as const
}

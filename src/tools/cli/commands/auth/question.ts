/** A question about an action, from the words `VERB TYPE[.GROUP][/SUBRESOURCE] [NAME]` or `VERB /PATH`, and whom it goes to. */

import type { JsonObject } from '../../../../api/json/json.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import { inDomainOf, type ResourceType } from '../../../../client/requests/resource-type.ts'
import type { Session } from '../../connection/session.ts'

/** Throws UsageError. */
export function readQuestion(words: readonly string[], namespace: string): JsonObject {
  if (words.length < 2 || words.length > 3) throw new UsageError('say a verb and what it would be done to')
  const [verb = '', what = '', name = ''] = words
  if (what.startsWith('/')) return { nonResourceAttributes: { verb, path: what } }
  const [type = '', subresource = ''] = what.split('/')
  const [resource = '', ...group] = type.split('.')
  return { resourceAttributes: { verb, group: group.join('.'), resource, subresource, name, namespace } }
}

/** Asks a kind of the server's own that is answered and never stored; returns the status. */
export async function askServer<T>(
  { client, types, context: { signal } }: Session,
  type: ResourceType,
  spec: JsonObject,
): Promise<T> {
  const { status } = await client.create(inDomainOf(await types.vendor(), type), { metadata: {}, spec }, { signal })
  return (status ?? {}) as T
}

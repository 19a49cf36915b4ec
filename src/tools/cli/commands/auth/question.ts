/** A question about an action, from the words `VERB TYPE[.GROUP][/SUBRESOURCE] [NAME]` or `VERB /PATH`, and whom it goes to. */

import type { JsonObject } from '../../../../api/json/json.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import { groupName } from '../../../../api/model/vendor.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import type { ResourceType } from '../../../../client/requests/resource-type.ts'
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
  { kind, plural, groupId = 'ops' }: { kind: string; plural: string; groupId?: string },
  spec: JsonObject,
): Promise<T> {
  const group = groupName(await types.vendor(), groupId)
  const type: ResourceType = { group, version: 'v1', plural, namespaced: false }
  const question: ApiObject = { apiVersion: `${group}/v1`, kind, metadata: {}, spec }
  return ((await client.create(type, question, { signal })).status ?? {}) as T
}

/** Creates reviews, such as SelfSubjectAccessReview. The server responds with the result and stores nothing. */

import type { JsonObject } from '../../../api/json/json.ts'
import { inDomainOf, type ResourceType } from '../../../client/requests/resource-type.ts'
import type { Session } from './session.ts'

/** Creates a review. Returns the status in the response. */
export async function askServer<T>(
  { client, types, context: { signal } }: Session,
  type: ResourceType,
  spec: JsonObject,
): Promise<T> {
  const { status } = await client.create(inDomainOf(await types.vendor(), type), { metadata: {}, spec }, { signal })
  return (status ?? {}) as T
}

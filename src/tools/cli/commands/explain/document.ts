/** Reads OpenAPI documents from the server. */

import type { JsonObject } from '../../../../api/json/json.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import type { Session } from '../../connection/session.ts'

/** Returns the OpenAPI document that describes the type's group and version. */
export async function documentOf(
  { client, context }: Session,
  { group, version }: DiscoveredType,
): Promise<JsonObject> {
  const place = group === '' ? `api/${version}` : `apis/${group}/${version}`
  const { paths } = await client.read<{ paths: { [place: string]: { serverRelativeURL: string } } }>('/openapi/v3', {
    signal: context.signal,
  })
  const address = paths[place]?.serverRelativeURL
  if (address === undefined) throw new UsageError(`the server has no description of ${place}`)
  return await client.read<JsonObject>(address, { signal: context.signal })
}

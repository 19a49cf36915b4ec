/**
 * Requests only the metadata of objects, which is much smaller than whole objects. Intended for clients that watch all
 * kinds. The media types include the groups of all vendors, so the client need not know the vendor of the server.
 */

import type { ApiObject } from '../../api/model/object.ts'
import { groupName, profileNames, vendorOf } from '../../api/model/vendor.ts'
import type { CallOptions, Client } from './client.ts'
import { type ObjectName, objectPath, type ResourceType } from './resource-type.ts'

/** Accept headers for lists, and for single objects and events. */
export const metadataForm = {
  list: acceptAs('PartialObjectMetadataList'),
  one: acceptAs('PartialObjectMetadata'),
}

function acceptAs(view: string): string {
  const forms = profileNames.map((name) => `application/json;as=${view};g=${groupName(vendorOf(name), 'meta')};v=v1`)
  return [...forms, 'application/json'].join(',')
}

/** Returns the metadata of one object. */
export async function getMetadata(
  client: Client,
  type: ResourceType,
  { signal, ...name }: ObjectName & CallOptions,
): Promise<ApiObject['metadata']> {
  const { metadata } = await client.read<ApiObject>(objectPath(type, name), { accept: metadataForm.one, signal })
  return metadata
}

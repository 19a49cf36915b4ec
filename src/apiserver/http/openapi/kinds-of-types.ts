/**
 * Adds `x-kubernetes-group-version-kind` to each OpenAPI definition of a kind, so that tools can map an object to its
 * definition.
 */
import type { JsonObject } from '../../../api/json/json.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import {
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  deleteOptions,
  listOf,
  status,
  watchEvent,
} from '../../../api/schema/meta-types.ts'
import type { Definitions } from '../../../api/schema/openapi.ts'
import { type GroupVersion, homeOf } from './group-version.ts'

/**
 * Marks the definitions of kinds with their group, version and kind. Call it after all paths are written, because it
 * marks only definitions that a path uses. Definitions that all groups share, such as DeleteOptions, are marked with
 * every group version in `sharing`.
 */
export function markKinds(
  definitions: Definitions,
  groupVersions: readonly GroupVersion[],
  sharing = groupVersions,
): void {
  for (const { group, version, home, types } of groupVersions) {
    for (const { kind, vendor, subresources } of types) {
      definitions.mark(kind.schema, home, [{ group, kind: kind.kind, version }])
      const list = listOf(kind)
      definitions.mark(list, home, [{ group, kind: list.name!, version }])
      for (const { type } of subresources.values()) if (type !== undefined) markType(definitions, type, vendor)
    }
  }
  const metaTypes = { Status: status, APIVersions: apiVersions, APIGroup: apiGroup, APIGroupList: apiGroupList }
  for (const [kind, schema] of Object.entries({ ...metaTypes, APIResourceList: apiResourceList }))
    definitions.mark(schema, '', [{ group: '', kind, version: 'v1' }])
  // These definitions are shared, so they belong to every group version.
  definitions.mark(deleteOptions, '', inEach(sharing, 'DeleteOptions'))
  definitions.mark(watchEvent, '', inEach(sharing, 'WatchEvent'))
}

/** Marks the definition of one kind. A subresource's kind can be in a different API group from its parent's kind. */
function markType(definitions: Definitions, type: Kind, vendor: Vendor): void {
  const { group, version, kind, schema } = type
  definitions.mark(schema, homeOf(type), [{ group: groupName(vendor, group), kind, version }])
}

function inEach(groupVersions: readonly GroupVersion[], kind: string): JsonObject[] {
  return groupVersions.map(({ group, version }) => ({ group, kind, version }))
}

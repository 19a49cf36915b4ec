/** Marks the definitions that are kinds with their group, version and name, so that tools find the type of an object. */
import type { JsonObject } from '../../model/json.ts'
import {
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  deleteOptions,
  listOf,
  status,
  watchEvent,
} from '../../schema/meta-types.ts'
import type { Definitions } from '../../schema/openapi.ts'
import type { GroupVersion } from './group-version.ts'

/** To be called when everything else is written: only what a document defines already is marked. */
export function markKinds(definitions: Definitions, groupVersions: readonly GroupVersion[]): void {
  for (const { group, version, home, types } of groupVersions) {
    for (const { kind } of types) {
      definitions.mark(kind.schema, home, [{ group, kind: kind.kind, version }])
      definitions.mark(listOf(kind), home, [{ group, kind: `${kind.kind}List`, version }])
    }
  }
  const metaTypes = { Status: status, APIVersions: apiVersions, APIGroup: apiGroup, APIGroupList: apiGroupList }
  for (const [kind, schema] of Object.entries({ ...metaTypes, APIResourceList: apiResourceList }))
    definitions.mark(schema, '', [{ group: '', kind, version: 'v1' }])
  // These are sent to and from every version of every group under its own name.
  definitions.mark(deleteOptions, '', inEach(groupVersions, 'DeleteOptions'))
  definitions.mark(watchEvent, '', inEach(groupVersions, 'WatchEvent'))
}

function inEach(groupVersions: readonly GroupVersion[], kind: string): JsonObject[] {
  return groupVersions.map(({ group, version }) => ({ group, kind, version }))
}

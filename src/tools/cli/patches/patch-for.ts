/** Creates the patch for an object: a strategic merge patch for built-in kinds, otherwise a merge patch. */

import type { JsonObject } from '../../../api/json/json.ts'
import { groupName, profileNames, type Vendor, vendorOf } from '../../../api/model/vendor.ts'
import type { Schema } from '../../../api/schema/schema.ts'
import type { Patch } from '../../../client/requests/client.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import { type States, threeWayPatch } from './three-way.ts'

/** Returns a patch that makes the live object match the file, or undefined if it already does. */
export async function patchFor(type: DiscoveredType, vendor: Vendor, states: States): Promise<Patch | undefined> {
  // If a comparison of the objects without the schema finds no difference, a comparison with the schema would find none
  // either. This avoids loading the schema in the common case of an unchanged object.
  const plain = threeWayPatch(states)
  if (isEmpty(plain)) return undefined
  const schema = await schemaOf(type, vendor)
  if (schema === undefined) return { merge: plain }
  const strategic = threeWayPatch(states, schema)
  return isEmpty(strategic) ? undefined : { strategic }
}

/** Returns the fields that the patch would overwrite although another client has changed them since the last apply. */
export async function conflictsOf(type: DiscoveredType, vendor: Vendor, states: States): Promise<string[]> {
  const { conflictingPaths } = await import('./conflicts.ts')
  return conflictingPaths(states, await schemaOf(type, vendor))
}

function isEmpty(patch: JsonObject): boolean {
  return Object.keys(patch).length === 0
}

type TypeOfKind = Pick<DiscoveredType, 'group' | 'version' | 'kind'>

/** Returns the schema of a built-in kind. Loads the kinds on demand because there are many. */
async function schemaOf({ group, version, kind }: TypeOfKind, vendor: Vendor): Promise<Schema | undefined> {
  const { allKinds } = await import('../../../api/kinds/all.ts')
  const matchingKind = allKinds.find(
    (candidate) =>
      candidate.kind === kind && candidate.version === version && groupName(vendor, candidate.group) === group,
  )
  return matchingKind?.lifecycle.strategicPatch === false ? undefined : matchingKind?.schema
}

/**
 * Returns the schema of a built-in kind, whichever profile its group name belongs to. Returns undefined for custom
 * kinds.
 */
export async function builtInSchema(type: TypeOfKind): Promise<Schema | undefined> {
  for (const profile of profileNames) {
    const schema = await schemaOf(type, vendorOf(profile))
    if (schema !== undefined) return schema
  }
  return undefined
}

/** The patch for an object, in the form that its kind takes: strategic where the kind is built in, else a merge patch. */

import type { JsonObject } from '../../../api/json/json.ts'
import { groupName, profileNames, type Vendor, vendorOf } from '../../../api/model/vendor.ts'
import type { Schema } from '../../../api/schema/schema.ts'
import type { Patch } from '../../../client/requests/client.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import { type States, threeWayPatch } from './three-way.ts'

/** Undefined where there is nothing to change. */
export async function patchFor(type: DiscoveredType, vendor: Vendor, states: States): Promise<Patch | undefined> {
  // What has no difference without a schema has none with it; most objects of a file that is applied again have none.
  const plain = threeWayPatch(states)
  if (isEmpty(plain)) return undefined
  const schema = await schemaOf(type, vendor)
  if (schema === undefined) return { merge: plain }
  const strategic = threeWayPatch(states, schema)
  return isEmpty(strategic) ? undefined : { strategic }
}

/** The fields that such a patch would set although others have changed them since the last apply. */
export async function conflictsOf(type: DiscoveredType, vendor: Vendor, states: States): Promise<string[]> {
  const { conflictingPaths } = await import('./conflicts.ts')
  return conflictingPaths(states, await schemaOf(type, vendor))
}

function isEmpty(patch: JsonObject): boolean {
  return Object.keys(patch).length === 0
}

type TypeOfKind = Pick<DiscoveredType, 'group' | 'version' | 'kind'>

/** That of a built-in kind. The kinds are many, and loaded only here. */
async function schemaOf({ group, version, kind }: TypeOfKind, vendor: Vendor): Promise<Schema | undefined> {
  const { allKinds } = await import('../../../api/kinds/all.ts')
  const found = allKinds.find(
    (known) => known.kind === kind && known.version === version && groupName(vendor, known.group) === group,
  )
  return found?.life.strategicPatch === false ? undefined : found?.schema
}

/** The schema of a built-in kind in the names of whichever profile; undefined for a kind of users. */
export async function builtInSchema(type: TypeOfKind): Promise<Schema | undefined> {
  for (const profile of profileNames) {
    const schema = await schemaOf(type, vendorOf(profile))
    if (schema !== undefined) return schema
  }
  return undefined
}

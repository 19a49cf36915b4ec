/**
 * The built-in kinds of one Kubernetes version, derived once from the definitions. Servers of different versions can
 * share a process, because the kinds do not depend on the server.
 */

import type { Kind } from '../schema/kind.ts'
import { derivation } from '../schema/of-version.ts'
import { exists } from '../versions/availability.ts'
import type { EmulatedVersion } from '../versions/emulated-version.ts'
import { allKinds } from './all.ts'

const kindsByVersion = new Map<EmulatedVersion, readonly Kind[]>()

/**
 * Returns the kinds of a Kubernetes version. The result includes the stored version of each served kind. A stored
 * version that the Kubernetes version does not serve is used only for storage.
 */
export function kindsOfVersion(version: EmulatedVersion): readonly Kind[] {
  let kinds = kindsByVersion.get(version)
  if (kinds === undefined) {
    kinds = derive(version)
    kindsByVersion.set(version, kinds)
  }
  return kinds
}

function derive(version: EmulatedVersion): readonly Kind[] {
  const served = allKinds.filter((kind) => exists(kind, version))
  const needed = new Set(served.flatMap((kind) => [kind, kind.conversion?.stored ?? kind]))
  const derivationOfVersion = derivation(version)
  return allKinds.filter((kind) => needed.has(kind)).map((kind) => derivationOfVersion.kind(kind))
}

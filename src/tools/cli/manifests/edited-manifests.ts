/** Parses objects after the user has edited them. The edit must not add or swap objects, but may remove some. */

import type { ApiObject } from '../../../api/model/object.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { type Manifest, manifestsIn } from './manifest.ts'

/** Parses the single object in a text. Throws UsageError if the object is missing or is no longer the same object. */
async function editedManifest(before: ApiObject, source: { name: string; text: string }): Promise<Manifest> {
  const manifests = await manifestsIn(source)
  if (manifests.length !== 1) throw new UsageError('the edited file must contain exactly one object')
  if (!isSame(manifests[0]!.object, before)) throw new UsageError(unlike)
  return manifests[0]!
}

/**
 * Returns the edited objects in their original order. A removed object is undefined. Throws UsageError if the text is
 * invalid.
 */
export async function editedManifests(
  before: readonly ApiObject[],
  source: { name: string; text: string },
): Promise<(Manifest | undefined)[]> {
  if (before.length === 1) return [await editedManifest(before[0]!, source)]
  const manifests = await manifestsIn(source)
  const edited = before.map((object) => manifests.filter((manifest) => isSame(manifest.object, object)))
  if (edited.some((matchingManifests) => matchingManifests.length > 1))
    throw new UsageError('the edited file must contain every object exactly once')
  if (edited.flat().length < manifests.length) throw new UsageError(unlike)
  return edited.map(([manifest]) => manifest)
}

const unlike = 'kind, name and namespace of the object cannot be changed'

function isSame({ kind, metadata }: ApiObject, before: ApiObject): boolean {
  return (
    kind === before.kind && metadata.name === before.metadata.name && metadata.namespace === before.metadata.namespace
  )
}

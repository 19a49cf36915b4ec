/** What a user has made of objects in an editor: the same objects still, though some may be left out. */

import type { ApiObject } from '../../../api/model/object.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { type Manifest, manifestsIn } from './manifest.ts'

/** The only object of a text. Throws UsageError where it is another, or none. */
async function editedManifest(before: ApiObject, source: { name: string; text: string }): Promise<Manifest> {
  const manifests = await manifestsIn(source)
  if (manifests.length !== 1) throw new UsageError('the file must hold one object')
  if (!isSame(manifests[0]!.object, before)) throw new UsageError(unlike)
  return manifests[0]!
}

/** What became of each object, in their order; undefined for one that is not in the text. Throws UsageError. */
export async function editedManifests(
  before: readonly ApiObject[],
  source: { name: string; text: string },
): Promise<(Manifest | undefined)[]> {
  if (before.length === 1) return [await editedManifest(before[0]!, source)]
  const manifests = await manifestsIn(source)
  const edited = before.map((object) => manifests.filter((manifest) => isSame(manifest.object, object)))
  if (edited.some((found) => found.length > 1)) throw new UsageError('the file must hold each object once')
  if (edited.flat().length < manifests.length) throw new UsageError(unlike)
  return edited.map(([manifest]) => manifest)
}

const unlike = 'kind, name and namespace of the object cannot be changed'

function isSame({ kind, metadata }: ApiObject, before: ApiObject): boolean {
  return (
    kind === before.kind && metadata.name === before.metadata.name && metadata.namespace === before.metadata.namespace
  )
}

/** What a user has made of an object in an editor: one object still, and the same one. */
import { UsageError } from '../../base/flags.ts'
import type { ApiObject } from '../../model/object.ts'
import { type Manifest, manifestsIn } from './manifest.ts'

/** Throws UsageError where it is another, or none. */
export async function editedManifest(before: ApiObject, source: { name: string; text: string }): Promise<Manifest> {
  const manifests = await manifestsIn(source)
  const [manifest] = manifests
  if (manifest === undefined || manifests.length > 1) throw new UsageError('the file must hold one object')
  const { kind, metadata } = manifest.object
  if (
    kind !== before.kind ||
    metadata.name !== before.metadata.name ||
    metadata.namespace !== before.metadata.namespace
  )
    throw new UsageError('kind, name and namespace of the object cannot be changed')
  return manifest
}

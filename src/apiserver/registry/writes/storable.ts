/** Collects what is needed to encode an object for the store: the object, the order of its fields and its header. */
import type { Storable } from '../../../api/codec/stored.ts'
import { orderOf, type ReadyToStore } from '../../../api/schema/kind.ts'
import { headerOf, type Resource } from '../catalogue/resource.ts'
import { headerVersion } from '../reads/other-versions.ts'

export function storable(resource: Resource, { object, completeFor }: ReadyToStore): Storable {
  const version = resource.kind.origin === 'built-in' ? headerVersion(resource.version) : undefined
  return { object, order: orderOf(resource.kind), header: { ...headerOf(resource, object), completeFor, version } }
}

/**
 * StorageObjectInUseProtection: adds a finalizer to new claims and volumes, so that their deletion waits until they are
 * no longer used. A control loop removes it (`cluster/controllers/storage-protection.ts`).
 */
import { type ApiObject, copyForChange } from '../../../api/model/object.ts'
import { claimProtection, volumeProtection } from '../../../api/model/protection.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Control } from '../admission.ts'

export function storageObjectInUseProtection({ vendor }: { readonly vendor: Vendor }): Control {
  const finalizers: { readonly [plural: string]: string } = {
    persistentvolumeclaims: claimProtection(vendor),
    persistentvolumes: volumeProtection(vendor),
  }
  return {
    name: 'StorageObjectInUseProtection',
    handles: {
      operations: ['CREATE'],
      types: Object.keys(finalizers).map((plural) => ({ group: 'core', plural })),
      subresources: [''],
    },
    mutate: ({ type, object }) => object && protect(object, finalizers[type.plural]!),
  }
}

function protect(object: ApiObject, finalizer: string): ApiObject | undefined {
  const { finalizers = [] } = object.metadata
  if (finalizers.includes(finalizer)) return undefined
  const next = copyForChange(object)
  next.metadata.finalizers = [...finalizers, finalizer]
  return next
}

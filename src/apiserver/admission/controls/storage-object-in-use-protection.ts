/**
 * StorageObjectInUseProtection: adds a finalizer to new claims, volumes and VolumeAttributesClasses, so that an object
 * that is still in use is not removed. A control loop removes the finalizer later
 * (`cluster/controllers/storage-protection.ts`).
 */
import { volumeAttributesClass as classes } from '../../../api/kinds/storage/volume-attributes-class.ts'
import { type ApiObject, copyForChange } from '../../../api/model/object.ts'
import { attributesClassProtection, claimProtection, volumeProtection } from '../../../api/model/protection.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import type { Control } from '../admission.ts'

interface Parts {
  readonly vendor: Vendor
  readonly emulation: Emulation
}

export function storageObjectInUseProtection({ vendor, emulation }: Parts): Control {
  const finalizers: { readonly [plural: string]: string } = {
    persistentvolumeclaims: claimProtection(vendor),
    persistentvolumes: volumeProtection(vendor),
    ...(emulation.gates.has('VolumeAttributesClass') && { [classes.plural]: attributesClassProtection(vendor) }),
  }
  const groups = new Map([[classes.plural, classes.group]])
  return {
    name: 'StorageObjectInUseProtection',
    handles: {
      operations: ['CREATE'],
      types: Object.keys(finalizers).map((plural) => ({ group: groups.get(plural) ?? 'core', plural })),
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

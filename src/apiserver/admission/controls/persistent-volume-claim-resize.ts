/** PersistentVolumeClaimResize: allows a claim to grow only if its storage class allows volume expansion. */
import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import { persistentVolumeClaim as persistentVolumeClaims } from '../../../api/kinds/core/persistent-volume-claim.ts'
import { quantityIn } from '../../../api/kinds/core/types/resources.ts'
import type { StorageClass } from '../../../api/kinds/storage/storage-class.ts'
import { storageClass as storageClasses } from '../../../api/kinds/storage/storage-class.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import { compareQuantities } from '../../../api/model/quantity.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly lookup: Lookup
  readonly vendor: Vendor
}

export function persistentVolumeClaimResize({ lookup, vendor }: Parts): Control<PersistentVolumeClaim> {
  const older = vendorKey(vendor, 'storage-class', 'volume.beta')
  return {
    name: 'PersistentVolumeClaimResize',
    handles: {
      operations: ['UPDATE'],
      types: [persistentVolumeClaims],
      subresources: [''],
    },
    validate: (request) => {
      const { metadata, spec = {} } = request.oldObject!
      if (!grows(request)) return undefined
      const name = metadata.annotations?.[older] ?? spec.storageClassName ?? ''
      if (name === '') return assertAllowed(request, undefined)
      const place = { namespace: '', name }
      const storedClass = lookup.getCached(storageClasses, place)
      if (storedClass !== undefined && allows(storedClass)) return assertAllowed(request, storedClass)
      const recent = lookup.getLatest(storageClasses, place)
      return recent instanceof Promise
        ? recent.then((later) => assertAllowed(request, later))
        : assertAllowed(request, recent)
    },
  }
}

function grows({ object, oldObject }: AdmissionRequest<PersistentVolumeClaim>): boolean {
  const [next, previous] = [object, oldObject].map((claim) => quantityIn(claim?.spec?.resources?.requests, 'storage'))
  return next !== undefined && previous !== undefined && compareQuantities(next, previous) > 0
}

function allows({ object }: StoredObject<StorageClass>): boolean {
  return object.allowVolumeExpansion === true
}

function assertAllowed(
  request: AdmissionRequest<PersistentVolumeClaim>,
  storedClass: StoredObject<StorageClass> | undefined,
): void {
  if (storedClass === undefined || !allows(storedClass))
    throw refusal(
      request,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  request.dependOn?.(storedClass)
}

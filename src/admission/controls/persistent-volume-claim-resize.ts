/** PersistentVolumeClaimResize: a claim asks for more only where its class says that volumes can grow. */
import type { PersistentVolumeClaim } from '../../kinds/core/persistent-volume-claim.ts'
import { quantityIn } from '../../kinds/core/types/resources.ts'
import type { StorageClass } from '../../kinds/storage/storage-class.ts'
import type { Found, Lookup } from '../../model/lookup.ts'
import type { ApiObject } from '../../model/object.ts'
import { compareQuantities } from '../../model/quantity.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusal } from '../refusal.ts'

const classes = { group: 'storage', plural: 'storageclasses' }

interface Parts {
  readonly lookup: Lookup
  readonly vendor: Vendor
}

export function persistentVolumeClaimResize({ lookup, vendor }: Parts): Control {
  const older = vendorKey(vendor, 'storage-class', 'volume.beta')
  return {
    name: 'PersistentVolumeClaimResize',
    handles: {
      operations: ['UPDATE'],
      types: [{ group: 'core', plural: 'persistentvolumeclaims' }],
      subresources: [''],
    },
    validate: (request) => {
      const { metadata, spec = {} } = request.oldObject as PersistentVolumeClaim & ApiObject
      if (!grows(request)) return undefined
      const name = metadata.annotations?.[older] ?? spec.storageClassName ?? ''
      if (name === '') return assertAllowed(request, undefined)
      const place = { namespace: '', name }
      const found = lookup.getCached(classes, place)
      if (found !== undefined && allows(found)) return assertAllowed(request, found)
      const recent = lookup.getLatest(classes, place)
      return recent instanceof Promise
        ? recent.then((later) => assertAllowed(request, later))
        : assertAllowed(request, recent)
    },
  }
}

function grows({ object, oldObject }: AdmissionRequest): boolean {
  const [next, previous] = [object, oldObject].map((claim) =>
    quantityIn((claim as PersistentVolumeClaim & ApiObject).spec?.resources?.requests, 'storage'),
  )
  return next !== undefined && previous !== undefined && compareQuantities(next, previous) > 0
}

function allows({ object }: Found): boolean {
  return (object as StorageClass & ApiObject).allowVolumeExpansion === true
}

function assertAllowed(request: AdmissionRequest, found: Found | undefined): void {
  if (found === undefined || !allows(found))
    throw refusal(
      request,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  request.dependOn?.(found)
}

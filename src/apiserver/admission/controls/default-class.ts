/**
 * DefaultStorageClass and DefaultIngressClass: set the default class on a claim or Ingress that names no class. If
 * several classes are marked as default, the newest class is used. Before Kubernetes 1.26, the object is rejected
 * instead.
 */
import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import { persistentVolumeClaim as persistentVolumeClaims } from '../../../api/kinds/core/persistent-volume-claim.ts'
import type { Ingress } from '../../../api/kinds/networking/ingress.ts'
import { ingress as ingresses } from '../../../api/kinds/networking/ingress.ts'
import { ingressClass as ingressClasses } from '../../../api/kinds/networking/ingress-class.ts'
import { storageClass as storageClasses } from '../../../api/kinds/storage/storage-class.ts'
import type { Lookup, StoredObject, StoredType } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly vendor: Vendor
  readonly lookup: Lookup
  readonly emulation: Pick<Emulation, 'version'>
}

export function defaultStorageClass({ vendor, lookup, emulation }: Parts): Control<PersistentVolumeClaim> {
  const marks = ['storageclass', 'storageclass.beta'].map((domain) => vendorKey(vendor, 'is-default-class', domain))
  const older = vendorKey(vendor, 'storage-class', 'volume.beta')
  return {
    name: 'DefaultStorageClass',
    handles: {
      operations: ['CREATE'],
      types: [persistentVolumeClaims],
      subresources: [''],
    },
    mutate: (request) => {
      const { metadata, spec = {} } = request.object
      if (spec.storageClassName !== undefined || metadata.annotations?.[older] !== undefined) return undefined
      const name = findDefaultClass({
        lookup,
        emulation,
        type: storageClasses,
        marks,
        request,
        several: 'default StorageClasses were found',
      })
      return name === undefined ? undefined : { ...request.object, spec: { ...spec, storageClassName: name } }
    },
  }
}

export function defaultIngressClass({ vendor, lookup, emulation }: Parts): Control<Ingress> {
  const marks = [vendorKey(vendor, 'is-default-class', 'ingressclass')]
  const older = vendorKey(vendor, 'ingress.class')
  return {
    name: 'DefaultIngressClass',
    handles: { operations: ['CREATE'], types: [ingresses], subresources: [''] },
    mutate: (request) => {
      const { metadata, spec = {} } = request.object
      if (spec.ingressClassName !== undefined || metadata.annotations?.[older] !== undefined) return undefined
      const name = findDefaultClass({
        lookup,
        emulation,
        type: ingressClasses,
        marks,
        request,
        several: 'default IngressClasses were found, only 1 allowed',
      })
      return name === undefined ? undefined : { ...request.object, spec: { ...spec, ingressClassName: name } }
    },
  }
}

interface Search extends Pick<Parts, 'lookup' | 'emulation'> {
  /** Resource type of the classes: StorageClass or IngressClass. */
  readonly type: StoredType<ApiObject>
  /** Annotations that mark a class as the default. A single annotation is sufficient. */
  readonly marks: readonly string[]
  readonly request: AdmissionRequest
  /**
   * The part of the error message that follows the number of default classes. Needed only for versions before
   * Kubernetes 1.26, in which several default classes are an error.
   */
  readonly several: string
}

function findDefaultClass({ lookup, emulation, type, marks, request, several }: Search): string | undefined {
  const isMarked = ({ object: { metadata } }: StoredObject) =>
    marks.some((mark) => metadata.annotations?.[mark] === 'true')
  const [newestClass, ...others] = lookup.list(type, { namespace: undefined }).filter(isMarked).sort(newestFirst)
  if (others.length > 0 && !isAtLeast(emulation.version, '1.26'))
    throw refusal(request, `Internal error occurred: ${others.length + 1} ${several}`)
  if (newestClass !== undefined) request.dependOn?.(newestClass)
  return newestClass?.object.metadata.name
}

/** Sorts classes by creation time, newest first. Classes with the same creation time are sorted by name. */
function newestFirst({ object: { metadata: a } }: StoredObject, { object: { metadata: b } }: StoredObject): number {
  const [ageOfA, ageOfB] = [a.creationTimestamp ?? '', b.creationTimestamp ?? '']
  if (ageOfA !== ageOfB) return ageOfA > ageOfB ? -1 : 1
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1
}

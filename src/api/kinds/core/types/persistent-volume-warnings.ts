/** Warnings about valid PersistentVolumes that use deprecated features. */
import { at, child } from '../../../model/field-error.ts'
import { type Vendor, vendorKey } from '../../../model/vendor.ts'
import { type LabelUse, oldLabelWarnings } from './old-labels.ts'
import type { PersistentVolumeSpec } from './persistent-volume-spec.ts'

interface VolumeParts {
  readonly metadata: { readonly annotations?: { readonly [key: string]: string } | undefined }
  readonly spec?: PersistentVolumeSpec
}

/** Volume sources whose drivers were removed from the kubelet, with the versions of deprecation and removal. */
const removedSources = {
  photonPersistentDisk: ['1.11', '1.16'],
  scaleIO: ['1.16', '1.22'],
  storageos: ['1.22', '1.25'],
  glusterfs: ['1.25', '1.26'],
  rbd: ['1.28', '1.31'],
  cephfs: ['1.28', '1.31'],
} as const

/** Returns warnings about deprecated features that a new or changed volume uses. */
export function persistentVolumeWarnings({ metadata, spec = {} }: VolumeParts, vendor: Vendor): string[] {
  return [
    ...annotationWarnings(metadata.annotations ?? {}, vendor),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? ['spec.persistentVolumeReclaimPolicy: Recycle is deprecated; use dynamic provisioning instead']
      : []),
    ...Object.entries(removedSources)
      .filter(([source]) => spec[source as keyof typeof removedSources] !== undefined)
      .map(([source, [deprecated, removed]]) => {
        return `spec.${source}: deprecated since v${deprecated} and without function since v${removed}`
      }),
    ...oldLabelWarnings(affinityLabels(spec), vendor),
  ]
}

/** Returns the warning for the storage class annotation, which the field storageClassName has replaced. */
export function classAnnotationWarnings(annotations: { readonly [key: string]: string }, vendor: Vendor): string[] {
  const key = vendorKey(vendor, 'storage-class', 'volume.beta')
  if (!Object.hasOwn(annotations, key)) return []
  return [`${at('metadata.annotations', key)}: deprecated since v1.8; use the field "storageClassName" instead`]
}

function annotationWarnings(annotations: { readonly [key: string]: string }, vendor: Vendor): string[] {
  const key = vendorKey(vendor, 'mount-options', 'volume.beta')
  return [
    ...classAnnotationWarnings(annotations, vendor),
    ...(Object.hasOwn(annotations, key)
      ? [`${at('metadata.annotations', key)}: deprecated; use the field "mountOptions" instead`]
      : []),
  ]
}

function affinityLabels({ nodeAffinity }: PersistentVolumeSpec): LabelUse[] {
  const path = 'spec.nodeAffinity.required.nodeSelectorTerms'
  return (nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap((term, i) =>
    (term.matchExpressions ?? []).map(({ key = '' }, j): LabelUse => {
      return [key, child(at(child(at(path, i), 'matchExpressions'), j), 'key')]
    }),
  )
}

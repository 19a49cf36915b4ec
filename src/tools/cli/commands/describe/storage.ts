/** Describes PersistentVolumeClaims, PersistentVolumes and StorageClasses. */

import { isObject, type JsonObject } from '../../../../api/json/json.ts'
import type { PersistentVolume } from '../../../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { StorageClass } from '../../../../api/kinds/storage/storage-class.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { Session } from '../../connection/session.ts'
import { multiline } from './fields.ts'
import { conditionsText, head, lines, pairsText, phaseText } from './parts.ts'
import { sourceText } from './volumes.ts'

export async function describeClaim(claim: PersistentVolumeClaim, { client, context }: Session): Promise<string> {
  const { metadata, spec = {}, status = {} } = claim
  const { items } = await client.list(kinds.Pod, { namespace: metadata.namespace ?? '', signal: context.signal })
  const users = (items as Pod[]).filter(({ spec }) =>
    spec?.volumes?.some(({ persistentVolumeClaim: used }) => used?.claimName === metadata.name),
  )
  const first = {
    StorageClass: spec.storageClassName ?? '',
    Status: phaseText(claim, status.phase),
    Volume: spec.volumeName ?? '',
  }
  const source = spec.dataSource
  return [
    head(claim as ApiObject, lines(first)),
    lines({
      Finalizers: `[${(metadata.finalizers ?? []).join(' ')}]`,
      Capacity: status.capacity?.storage ?? '',
      'Access Modes': modesText(status.accessModes),
      VolumeMode: spec.volumeMode ?? '',
    }),
    source === undefined ? '' : `DataSource:\n${lines({ Kind: source.kind, Name: source.name }, '  ')}`,
    multiline(
      'Used By',
      users.map(({ metadata }) => metadata.name ?? ''),
    ),
    conditionsText(status.conditions),
  ].join('')
}

const shortModes: { readonly [mode: string]: string } = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

function modesText(modes: readonly string[] | undefined): string {
  return (modes ?? []).map((mode) => shortModes[mode] ?? mode).join(',')
}

export function describeVolume(volume: PersistentVolume): string {
  const { metadata, spec = {}, status = {} } = volume
  return [
    head(volume as ApiObject),
    lines({
      Finalizers: `[${(metadata.finalizers ?? []).join(' ')}]`,
      StorageClass: spec.storageClassName ?? '',
      Status: phaseText(volume, status.phase),
      Claim: spec.claimRef === undefined ? '' : `${spec.claimRef.namespace}/${spec.claimRef.name}`,
      'Reclaim Policy': spec.persistentVolumeReclaimPolicy ?? '',
      'Access Modes': modesText(spec.accessModes),
      VolumeMode: spec.volumeMode ?? '',
      Capacity: spec.capacity?.storage ?? '',
    }),
    affinityText(spec.nodeAffinity?.required?.nodeSelectorTerms),
    lines({ Message: status.message ?? '' }),
    `Source:\n${sourceText(sourcesIn(spec as JsonObject))}`,
  ].join('')
}

/** Returns the fields of a PersistentVolume spec that describe its source. */
function sourcesIn({ claimRef: _, nodeAffinity: __, capacity: ___, ...rest }: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => isObject(value)))
}

type Terms = NonNullable<
  NonNullable<NonNullable<PersistentVolume['spec']>['nodeAffinity']>['required']
>['nodeSelectorTerms']

function affinityText(terms: Terms | undefined): string {
  if (terms === undefined || terms.length === 0) return 'Node Affinity:\t<none>\n'
  const texts = terms.map(({ matchExpressions = [] }, i) => {
    const all = matchExpressions.map(({ key, operator, values = [] }) =>
      `${key} ${(operator ?? '').toLowerCase()} ${values.length === 0 ? '' : `[${values.join(', ')}]`}`.trimEnd(),
    )
    return `    Term ${i}:\t${all.join(' and ')}\n`
  })
  return `Node Affinity:\t\n  Required Terms:\t\n${texts.join('')}`
}

export function describeStorageClass(storage: StorageClass): string {
  const isDefault = Object.entries(storage.metadata.annotations ?? {}).some(
    ([key, value]) => key.endsWith('/is-default-class') && value === 'true',
  )
  const { allowVolumeExpansion, mountOptions = [] } = storage
  return [
    head(storage, lines({ IsDefaultClass: isDefault ? 'Yes' : 'No' })),
    lines({
      Provisioner: storage.provisioner ?? '',
      Parameters: pairsText(storage.parameters),
      AllowVolumeExpansion: allowVolumeExpansion === undefined ? '<unset>' : allowVolumeExpansion ? 'True' : 'False',
    }),
    multiline('MountOptions', mountOptions),
    lines({ ReclaimPolicy: storage.reclaimPolicy ?? '', VolumeBindingMode: storage.volumeBindingMode ?? '' }),
  ].join('')
}

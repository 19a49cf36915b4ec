/** Matches volumes with claims by class, volume mode, access modes, size, labels and selected node. */
import type { Node } from '../../api/kinds/core/node.ts'
import type { PersistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import { compareQuantities, parseQuantity } from '../../api/model/quantity.ts'
import { LabelMatcher, requirementsOf } from '../../api/selectors/label-selector.ts'
import { type SelectableNode, selectableNode, selectsNode } from '../../api/selectors/node-selector.ts'
import type { BindingKeys } from './annotations.ts'

type VolumeNodeAffinity = NonNullable<PersistentVolume['spec']>['nodeAffinity']

/**
 * Returns the storage class of a claim or a volume, or '' if it has no class. The older annotation takes precedence
 * over the field.
 */
export function classOf(
  { metadata, spec }: PersistentVolumeClaim | PersistentVolume,
  { betaClass }: BindingKeys,
): string {
  return metadata.annotations?.[betaClass] ?? spec?.storageClassName ?? ''
}

/** Whether a volume references this claim. A reference without a UID matches any claim with that name. */
export function isFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { claimRef } = spec ?? {}
  if (claimRef === undefined || claimRef.name !== metadata.name || claimRef.namespace !== metadata.namespace)
    return false
  return (claimRef.uid ?? '') === '' || claimRef.uid === metadata.uid
}

/** Returns the reason why a volume does not match a claim, or undefined if the volume matches. */
export function mismatch(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
  keys: BindingKeys,
): string | undefined {
  const { spec: offered = {} } = volume
  const { spec: claimSpec = {} } = claim
  if (volume.metadata.deletionTimestamp !== undefined) return 'the volume is being deleted'
  if ((offered.volumeMode ?? 'Filesystem') !== (claimSpec.volumeMode ?? 'Filesystem')) return 'incompatible volumeMode'
  if (classOf(volume, keys) !== classOf(claim, keys)) return 'storageClassName does not match'
  if (!(claimSpec.accessModes ?? []).every((mode) => (offered.accessModes ?? []).includes(mode)))
    return 'incompatible accessMode'
  return compareSizes(offered.capacity?.storage, claimSpec.resources?.requests?.storage) < 0
    ? 'requested PV is too small'
    : undefined
}

/** Compares two quantities. Returns a negative number, zero or a positive number. */
export function compareSizes(a = '0', b = '0'): number {
  return compareQuantities(parseQuantity(a)!, parseQuantity(b)!)
}

export interface Choice {
  readonly claim: PersistentVolumeClaim
  readonly keys: BindingKeys
  /** The node that the scheduler has chosen for the claim's Pod. Undefined if no node has been chosen. */
  readonly node: Node | undefined
  /**
   * Whether binding waits until the claim's first Pod is scheduled. In this case, only a volume that references the
   * claim may be chosen.
   */
  readonly isDelayed: boolean
}

/**
 * Returns a matching volume that references the claim. If there is no such volume, returns the matching volume with the
 * fewest access modes. If several volumes are equal in this respect, returns the smallest of them.
 */
export function bestMatch(volumes: Iterable<PersistentVolume>, choice: Choice): PersistentVolume | undefined {
  const { claim, keys, isDelayed } = choice
  let best: PersistentVolume | undefined
  for (const volume of volumes) {
    if (mismatch(volume, claim, keys) !== undefined) continue
    if (isFor(volume, claim)) return volume
    if (isDelayed || volume.spec?.claimRef !== undefined || volume.status?.phase !== 'Available') continue
    if (isSelected(volume, choice) && (best === undefined || comesBefore(volume, best))) best = volume
  }
  return best
}

function isSelected(volume: PersistentVolume, { claim, node }: Choice): boolean {
  const { selector } = claim.spec ?? {}
  if (selector !== undefined && !new LabelMatcher(requirementsOf(selector)).matches(volume.metadata.labels))
    return false
  return node === undefined || isOnNode(volume, node)
}

function comesBefore({ spec: a = {} }: PersistentVolume, { spec: b = {} }: PersistentVolume): boolean {
  const modes = (a.accessModes?.length ?? 0) - (b.accessModes?.length ?? 0)
  return (modes || compareSizes(a.capacity?.storage, b.capacity?.storage)) < 0
}

/** Whether the volume is accessible from the node. Volumes without node affinity are accessible from every node. */
export function isOnNode({ spec }: PersistentVolume, node: Node): boolean {
  return isReachableFrom(spec?.nodeAffinity, selectableNode(node))
}

/** Like `isOnNode`, for callers that have only the name and labels of the node. */
export function isReachableFrom(affinity: VolumeNodeAffinity, node: SelectableNode): boolean {
  const required = affinity?.required
  return required === undefined || selectsNode(required.nodeSelectorTerms ?? [], node)
}

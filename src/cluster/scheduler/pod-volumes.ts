/**
 * Finds volumes for the claims of a Pod: a volume that is already bound, an existing volume, or a volume to be
 * provisioned once a node is chosen. These functions only choose volumes. The module `volume-writes.ts` writes their
 * choices.
 */
import type { PersistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import type { StorageClass } from '../../api/kinds/storage/storage-class.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import { LabelMatcher, requirementsOf } from '../../api/selectors/label-selector.ts'
import { type BindingKeys, bindingKeys } from '../volumes/annotations.ts'
import { classOf, compareSizes, isFor, isReachableFrom, mismatch } from '../volumes/matching.ts'
import type { NodeInfo } from './node-info.ts'
import type { Refusal, Sight, StorageSight } from './plugin.ts'
import type { PodInfo } from './pod-info.ts'

/** The PersistentVolumeClaims of a Pod, separated into bound and waiting claims. */
export interface PodClaims {
  /** The volume of each bound claim, by claim name. The volume is undefined if it does not exist. */
  readonly bound: ReadonlyMap<string, PersistentVolume | undefined>
  /** Unbound claims that wait for a node, smallest first. */
  readonly waiting: readonly PersistentVolumeClaim[]
}

const plugin = 'VolumeBinding'

function refusedByVolumes(reason: string): Refusal {
  return { plugin, reasons: [reason], isFinal: true }
}

/**
 * Returns the PersistentVolumeClaims of a Pod. If a claim prevents the Pod from running on any node, returns the
 * reasons instead.
 */
export function claimsOf(pod: PodInfo, storage: StorageSight, vendor: Vendor): PodClaims | Refusal {
  const keys = bindingKeys(vendor)
  const boundVolumes = new Map<string, PersistentVolume | undefined>()
  const waiting: PersistentVolumeClaim[] = []
  for (const name of pod.claims) {
    const claim = storage.claims.get({ namespace: pod.namespace, name })
    const why = fault(pod, name, claim)
    if (why !== undefined || claim === undefined) return refusedByVolumes(why ?? '')
    const { volumeName = '' } = claim.spec ?? {}
    if (volumeName !== '' && claim.metadata.annotations?.[keys.bindCompleted] !== undefined)
      boundVolumes.set(name, storage.volumes.get({ name: volumeName }))
    else if (volumeName === '' && waitsForNode(claim, storage, keys)) waiting.push(claim)
    else return refusedByVolumes('pod has unbound immediate PersistentVolumeClaims')
  }
  waiting.sort((a, b) => compareSizes(requestedStorage(a), requestedStorage(b)))
  return { bound: boundVolumes, waiting }
}

function fault(pod: PodInfo, name: string, claim: PersistentVolumeClaim | undefined): string | undefined {
  const isMade = pod.spec.volumes?.some(
    (volume) => volume.ephemeral !== undefined && `${pod.name}-${volume.name}` === name,
  )
  if (claim === undefined)
    return isMade
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
      : `persistentvolumeclaim "${name}" not found`
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`
  if (isMade && !claim.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === pod.uid))
    return `PVC ${pod.namespace}/${name} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`
  return undefined
}

function requestedStorage({ spec }: PersistentVolumeClaim): string | undefined {
  return spec?.resources?.requests?.storage
}

function waitsForNode(claim: PersistentVolumeClaim, { classes }: StorageSight, keys: BindingKeys): boolean {
  return classes.get({ name: classOf(claim, keys) })?.volumeBindingMode === 'WaitForFirstConsumer'
}

const bindConflict = refusedByVolumes("node(s) didn't find available persistent volumes to bind")
const nodeConflict = refusedByVolumes('node(s) had volume node affinity conflict')
const volumeMissing = refusedByVolumes('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)')

/** The volumes to bind or provision for a Pod's waiting claims. */
export interface VolumeChoice {
  /** Existing volumes, each with the claim for which it is reserved. */
  readonly matched: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[]
  /** Claims whose volumes must be provisioned. */
  readonly provisioned: readonly PersistentVolumeClaim[]
}

/** Finds volumes for the waiting claims of a Pod, for one node at a time. */
export class VolumeChooser {
  readonly #claims: PodClaims
  readonly #storage: StorageSight
  readonly #keys: BindingKeys
  readonly #noProvisioner: string
  /** Suitable volumes on any node for each waiting claim, best first. */
  readonly #candidates: readonly (readonly PersistentVolume[])[]

  constructor(claims: PodClaims, storage: StorageSight, vendor: Vendor) {
    this.#claims = claims
    this.#storage = storage
    this.#keys = bindingKeys(vendor)
    this.#noProvisioner = vendorKey(vendor, 'no-provisioner')
    this.#candidates = claims.waiting.map((claim) => this.#candidatesFor(claim))
  }

  /** Chooses volumes for a node. Returns the reasons if the Pod's volumes cannot be used on that node. */
  choose(node: NodeInfo): VolumeChoice | Refusal {
    for (const volume of this.#claims.bound.values()) {
      if (volume === undefined) return volumeMissing
      if (!isReachableFrom(volume.spec?.nodeAffinity, node)) return nodeConflict
    }
    const matched: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = []
    const provisioned: PersistentVolumeClaim[] = []
    for (const [i, claim] of this.#claims.waiting.entries()) {
      const selected = this.#selectedNode(claim)
      if (selected !== undefined && selected !== node.name) return bindConflict
      const isFree = (volume: PersistentVolume) => !matched.some((other) => other.volume === volume)
      const volume =
        selected === undefined
          ? this.#candidates[i]!.find((each) => isFree(each) && isReachableFrom(each.spec?.nodeAffinity, node))
          : undefined
      if (volume !== undefined) matched.push({ claim, volume })
      else if (selected !== undefined || this.#canBeMade(claim, node)) provisioned.push(claim)
      else return bindConflict
    }
    return { matched, provisioned }
  }

  #selectedNode(claim: PersistentVolumeClaim): string | undefined {
    const { namespace, name } = claim.metadata
    const reserved = this.#storage.reservations.nodeFor(`${namespace}/${name}`)
    return reserved ?? claim.metadata.annotations?.[this.#keys.selectedNode]
  }

  #candidatesFor(claim: PersistentVolumeClaim): PersistentVolume[] {
    const { volumes, reservations } = this.#storage
    const { selector } = claim.spec ?? {}
    const labels = selector === undefined ? undefined : new LabelMatcher(requirementsOf(selector))
    const key = `${claim.metadata.namespace}/${claim.metadata.name}`
    const suits = (volume: PersistentVolume) => {
      if (mismatch(volume, claim, this.#keys) !== undefined) return false
      if (reservations.isForOther(volume.metadata.name ?? '', key)) return false
      if (volume.spec?.claimRef !== undefined) return isFor(volume, claim)
      return volume.status?.phase === 'Available' && labels?.matches(volume.metadata.labels) !== false
    }
    return [...volumes.objects()].filter(suits).sort(byFit)
  }

  #canBeMade(claim: PersistentVolumeClaim, node: NodeInfo): boolean {
    const storageClass = this.#storage.classes.get({ name: classOf(claim, this.#keys) })
    const provisioner = storageClass?.provisioner ?? ''
    if (storageClass === undefined || provisioner === '' || provisioner === this.#noProvisioner) return false
    return isAllowed(storageClass, node)
  }
}

/**
 * Returns the volumes for a Pod on a node, or undefined if the Pod needs no volumes or they are no longer available.
 */
export function volumesFor(pod: PodInfo, node: NodeInfo, { storage, vendor }: Sight): VolumeChoice | undefined {
  if (pod.claims.length === 0) return undefined
  const claims = claimsOf(pod, storage, vendor)
  if ('reasons' in claims) return undefined
  const choice = new VolumeChooser(claims, storage, vendor).choose(node)
  return 'reasons' in choice ? undefined : choice
}

/** Whether volumes of the class may be provisioned for the node. */
function isAllowed({ allowedTopologies: terms = [] }: StorageClass, node: NodeInfo): boolean {
  if (terms.length === 0) return true
  return terms.some(({ matchLabelExpressions: all = [] }) =>
    all.every(({ key = '', values = [] }) => values.includes(node.label(key) ?? '')),
  )
}

/**
 * Sorts volumes. Volumes that reference the claim come first. The others are ordered by the number of access modes, and
 * then by size.
 */
function byFit({ spec: a = {} }: PersistentVolume, { spec: b = {} }: PersistentVolume): number {
  const claimRefOrder = Number(b.claimRef !== undefined) - Number(a.claimRef !== undefined)
  const modes = (a.accessModes?.length ?? 0) - (b.accessModes?.length ?? 0)
  return claimRefOrder || modes || compareSizes(a.capacity?.storage, b.capacity?.storage)
}

/**
 * What a plugin of the scheduler is: a rule that keeps Pods off nodes (filter), one that prefers some nodes (score), or
 * both. A plugin is prepared once for a Pod, and then asked about each node. The names are those of kube-scheduler 1.23.
 */

import type { PersistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import type { CSINode } from '../../api/kinds/storage/csi-node.ts'
import type { StorageClass } from '../../api/kinds/storage/storage-class.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { SelectorObject } from '../../api/selectors/label-selector.ts'
import type { Steps } from '../../base/concurrency/time-slice.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Cluster } from './cluster.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import type { VolumeReservations } from './volume-reservations.ts'

/** Why a node is not for the Pod. */
export interface Refusal {
  readonly plugin: string
  /** In the words of kube-scheduler. */
  readonly reasons: readonly string[]
  /** Whether moving other Pods off the node would not help either. */
  readonly isFinal: boolean
}

/** A filter that has been prepared for a Pod. */
export interface NodeCheck {
  readonly check: (node: NodeInfo) => Refusal | undefined
  /** What if this other Pod were on the node, or were not: for checks that look beyond the node itself. */
  readonly add?: (pod: PodInfo, node: NodeInfo) => void
  readonly remove?: (pod: PodInfo, node: NodeInfo) => void
}

/** A score that has been prepared for a Pod. */
export interface NodeScores {
  readonly score: (node: NodeInfo) => number
  /** Brings the scores of all nodes to the range from 0 to 100, in place. Left out: they are in it. */
  readonly normalize?: (scores: number[], nodes: readonly NodeInfo[]) => void
}

/** What plugins can look up. */
export interface Sight {
  readonly cluster: Cluster
  readonly vendor: Vendor
  readonly storage: StorageSight
  /** The selectors of the Services and the controller that the Pod belongs to, joined; undefined where there are none. */
  readonly workloadSelector: (pod: PodInfo) => SelectorObject | undefined
}

export interface StorageSight {
  readonly claims: Pick<Informer<PersistentVolumeClaim>, 'get'>
  readonly volumes: Pick<Informer<PersistentVolume>, 'get' | 'objects'>
  readonly classes: Pick<Informer<StorageClass>, 'get'>
  readonly csiNodes: Pick<Informer<CSINode>, 'get'>
  readonly reservations: VolumeReservations
}

/** A rule for where Pods go. */
export interface Plugin {
  readonly name: string
  /** The changes of the cluster that may help a Pod that the filter refused, as bits of `happened`. */
  readonly wokenBy?: number
  /** Undefined where there is nothing to check for this Pod; a refusal where no node can be for it. */
  readonly filter?: (pod: PodInfo, sight: Sight) => Prepared<NodeCheck | Refusal>
  /** Undefined where all nodes are the same to this Pod. */
  readonly score?: (pod: PodInfo, sight: Sight, nodes: readonly NodeInfo[]) => Prepared<NodeScores>
}

/** What a plugin prepares for a Pod: at once, or in steps where a Pod can demand much work. */
export type Prepared<T> = T | undefined | Steps<T | undefined>

/** Finishes the preparation. */
export function* prepared<T extends object>(work: Prepared<T>): Steps<T | undefined> {
  return work !== undefined && Symbol.iterator in work ? yield* work as Steps<T | undefined> : (work as T | undefined)
}

/** Changes of the cluster, as bits. */
export const happened = {
  nodeAdded: 1,
  nodeDeleted: 2,
  nodeAllocatable: 4,
  nodeLabels: 8,
  nodeTaints: 16,
  podPlaced: 32,
  podGone: 64,
  claimChanged: 128,
  volumeChanged: 256,
  classChanged: 512,
  csiNodeChanged: 1024,
} as const

export const maxScore = 100

/** Scores in relation to the best one; `isReversed` where less is better. */
export function normalizeByMax(scores: number[], { isReversed = false }: { readonly isReversed?: boolean } = {}): void {
  const most = Math.max(0, ...scores)
  for (let i = 0; i < scores.length; i++) {
    const share = most === 0 ? 0 : Math.floor((maxScore * scores[i]!) / most)
    scores[i] = isReversed ? maxScore - share : share
  }
}

export function isRefusal(found: NodeCheck | Refusal | undefined): found is Refusal {
  return found !== undefined && 'reasons' in found
}

/**
 * Scheduler plugins: rules that exclude nodes (filter), prefer nodes (score), or both. A plugin is prepared once per
 * Pod and then applied to each node. The names are the same as in kube-scheduler 1.23.
 */

import type { PersistentVolume } from '../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../api/kinds/core/persistent-volume-claim.ts'
import type { CSINode } from '../../api/kinds/storage/csi-node.ts'
import type { StorageClass } from '../../api/kinds/storage/storage-class.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { SelectorObject } from '../../api/selectors/label-selector.ts'
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Cluster } from './cluster.ts'
import type { Inventory } from './devices/inventory.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import type { VolumeReservations } from './volume-reservations.ts'

/** Why a Pod does not fit on a node, according to one plugin. */
export interface Refusal {
  readonly plugin: string
  /** Reasons in kube-scheduler's wording, such as `Insufficient cpu`. */
  readonly reasons: readonly string[]
  /** Whether the rejection is final, because evicting other Pods from the node would not help. */
  readonly isFinal: boolean
}

/** A filter that is prepared for one Pod and can be applied to any node. */
export interface NodeCheck {
  readonly check: (node: NodeInfo) => Refusal | undefined
  /**
   * `add` and `remove` simulate adding a Pod to the node and removing a Pod from the node. Only filters that also
   * consider other nodes need them.
   */
  readonly add?: (pod: PodInfo, node: NodeInfo) => void
  readonly remove?: (pod: PodInfo, node: NodeInfo) => void
}

/** A score that is prepared for one Pod and can be computed for any node. */
export interface NodeScores {
  readonly score: (node: NodeInfo) => number
  /**
   * Scales the scores of all nodes to the range from 0 to 100, in place. Undefined if the scores are always in that
   * range.
   */
  readonly normalize?: (scores: number[], nodes: readonly NodeInfo[]) => void
}

/** The cluster state that plugins can read. */
export interface Sight {
  readonly cluster: Cluster
  readonly vendor: Vendor
  readonly storage: StorageSight
  /** The devices of the cluster. Undefined if the server does not support dynamic resource allocation. */
  readonly inventory?: Inventory | undefined
  /** Returns the combined selectors of the Pod's Services and controller, or undefined if there are no selectors. */
  readonly workloadSelector: (pod: PodInfo) => SelectorObject | undefined
}

export interface StorageSight {
  readonly claims: Pick<Informer<PersistentVolumeClaim>, 'get'>
  readonly volumes: Pick<Informer<PersistentVolume>, 'get' | 'objects'>
  readonly classes: Pick<Informer<StorageClass>, 'get'>
  readonly csiNodes: Pick<Informer<CSINode>, 'get'>
  readonly reservations: VolumeReservations
}

/** A scheduling plugin, which filters nodes, scores them, or both. */
export interface Plugin {
  readonly name: string
  /** Bit set of the cluster changes that may make a Pod schedulable after this plugin has excluded all nodes. */
  readonly wokenBy?: number
  /**
   * Prepares the filter for a Pod. Returns undefined if the filter does not apply to the Pod, or the reasons if the Pod
   * fits on no node.
   */
  readonly filter?: (pod: PodInfo, sight: Sight) => Prepared<NodeCheck | Refusal>
  /** Prepares the score. Returns undefined if all nodes are equally good for this Pod. */
  readonly score?: (pod: PodInfo, sight: Sight, nodes: readonly NodeInfo[]) => Prepared<NodeScores>
}

/**
 * The return value of a plugin's preparation for a Pod: the result, or an iterator that computes the result in small
 * steps.
 */
export type Prepared<T> = T | undefined | Sliced<T | undefined>

/** Completes a plugin's preparation, whether the plugin returned a result or an iterator. */
export function* prepared<T extends object>(work: Prepared<T>): Sliced<T | undefined> {
  return work !== undefined && Symbol.iterator in work ? yield* work as Sliced<T | undefined> : (work as T | undefined)
}

/** Kinds of cluster changes that may make a Pod schedulable, as bits. */
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
  deviceChanged: 2048,
} as const

export const maxScore = 100

/** Scales scores relative to the maximum. With `isReversed`, lower values result in higher scores. */
export function normalizeByMax(scores: number[], { isReversed = false }: { readonly isReversed?: boolean } = {}): void {
  const most = Math.max(0, ...scores)
  for (let i = 0; i < scores.length; i++) {
    const share = most === 0 ? 0 : Math.floor((maxScore * scores[i]!) / most)
    scores[i] = isReversed ? maxScore - share : share
  }
}

export function isRefusal(result: NodeCheck | Refusal | undefined): result is Refusal {
  return result !== undefined && 'reasons' in result
}

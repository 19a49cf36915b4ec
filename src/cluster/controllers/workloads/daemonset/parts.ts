/** The context and state shared by the modules of the daemonset loop. */

import type { ControllerRevision } from '../../../../api/kinds/apps/controller-revision.ts'
import type { DaemonSet } from '../../../../api/kinds/apps/daemon-set.ts'
import type { Node } from '../../../../api/kinds/core/node.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { Vendor } from '../../../../api/model/vendor.ts'
import type { Clock } from '../../../../base/time/clock.ts'
import type { EventRecorder } from '../../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../../client/informers/informer.ts'
import type { Client } from '../../../../client/requests/client.ts'
import type { Expectations } from '../expectations.ts'
import type { FailedPods } from './failed-pods.ts'
import type { Fitness } from './placement.ts'

/** The clients and informers that the daemonset loop uses. */
export interface DaemonSetParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly clock: Clock
  readonly sets: Informer<DaemonSet>
  readonly pods: Informer<Pod>
  readonly nodes: Informer<Node>
  readonly revisions: Informer<ControllerRevision>
}

/**
 * State of the daemonset loop that outlives a single reconcile: pod writes that have not been observed yet, and the
 * backoff of failed pods.
 */
export interface DaemonSetState extends DaemonSetParts {
  readonly expectations: Expectations
  readonly failed: FailedPods
}

/** A reconcile of one DaemonSet, with its nodes and pods from the informer caches. */
export interface DaemonStep {
  readonly state: DaemonSetState
  readonly set: DaemonSet
  readonly signal: AbortSignal
  /** Hash of the current template. Pods created from the template have it as a label. */
  readonly hash: string
  /** For each node, whether it should run a pod of the set, and whether an existing pod may stay there. */
  readonly nodes: ReadonlyMap<string, Fitness>
  /**
   * Pods of the set, by the node on which they run or for which they are intended. Scheduled pods come first, and older
   * pods come before newer ones.
   */
  readonly byNode: ReadonlyMap<string, readonly Pod[]>
}

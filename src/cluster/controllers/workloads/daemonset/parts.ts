/** What the parts of the daemonset loop work with: one DaemonSet in one step. */

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

/** What the loop works with. */
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

/** What the loop remembers from step to step. */
export interface DaemonSetState extends DaemonSetParts {
  readonly expectations: Expectations
  readonly failed: FailedPods
}

/** One DaemonSet in one step: its nodes and pods as the informers have them. */
export interface DaemonStep {
  readonly state: DaemonSetState
  readonly set: DaemonSet
  readonly signal: AbortSignal
  /** The hash of the present template, which its pods have as a label. */
  readonly hash: string
  /** Every node, and what the pods of the set may do there. */
  readonly nodes: ReadonlyMap<string, Fitness>
  /** The pods of the set by the node that they run on or are meant for; the oldest that has a node comes first. */
  readonly byNode: ReadonlyMap<string, readonly Pod[]>
}

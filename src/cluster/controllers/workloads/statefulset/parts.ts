/** Types shared by the modules of the statefulset loop. */

import type { ControllerRevision } from '../../../../api/kinds/apps/controller-revision.ts'
import type { StatefulSet } from '../../../../api/kinds/apps/stateful-set.ts'
import type { PersistentVolumeClaim } from '../../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { Vendor } from '../../../../api/model/vendor.ts'
import type { Emulation } from '../../../../api/versions/availability.ts'
import type { Clock } from '../../../../base/time/clock.ts'
import type { EventRecorder } from '../../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../../client/informers/informer.ts'
import type { Client } from '../../../../client/requests/client.ts'

/** The clients and informers that the statefulset loop uses. */
export interface StatefulSetParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly emulation: Emulation
  readonly clock: Clock
  readonly sets: Informer<StatefulSet>
  readonly pods: Informer<Pod>
  readonly claims: Informer<PersistentVolumeClaim>
  readonly revisions: Informer<ControllerRevision>
}

/** The two template revisions of a StatefulSet. A rollout moves the pods from `current` to `update`. */
export interface Revisions {
  /** Revision of pods that the rollout has not reached yet. */
  readonly current: ControllerRevision
  /** Revision of the current template. A rollout updates pods to this revision. */
  readonly update: ControllerRevision
}

/** A reconcile of one StatefulSet. */
export interface SetStep extends Revisions {
  readonly parts: StatefulSetParts
  readonly set: StatefulSet
  readonly signal: AbortSignal
}

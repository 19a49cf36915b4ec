/** What the parts of the statefulset loop work with: one StatefulSet in one step. */
import type { Clock } from '../../../base/clock.ts'
import type { Client } from '../../../client/client.ts'
import type { EventRecorder } from '../../../client/event-recorder.ts'
import type { Informer } from '../../../client/informer.ts'
import type { ControllerRevision } from '../../../kinds/apps/controller-revision.ts'
import type { StatefulSet } from '../../../kinds/apps/stateful-set.ts'
import type { PersistentVolumeClaim } from '../../../kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../kinds/core/pod.ts'
import type { Vendor } from '../../../model/vendor.ts'

/** What the loop works with. */
export interface StatefulSetParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly clock: Clock
  readonly sets: Informer<StatefulSet>
  readonly pods: Informer<Pod>
  readonly claims: Informer<PersistentVolumeClaim>
  readonly revisions: Informer<ControllerRevision>
}

/** The revisions of a StatefulSet by what they are to it. */
export interface Revisions {
  /** That of pods which are not to be replaced yet. */
  readonly current: ControllerRevision
  /** That of the present template. */
  readonly update: ControllerRevision
}

/** One StatefulSet in one step. */
export interface SetStep extends Revisions {
  readonly parts: StatefulSetParts
  readonly set: StatefulSet
  readonly signal: AbortSignal
}

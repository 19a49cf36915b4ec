/** What the parts of the statefulset loop work with: one StatefulSet in one step. */

import type { ControllerRevision } from '../../../../api/kinds/apps/controller-revision.ts'
import type { StatefulSet } from '../../../../api/kinds/apps/stateful-set.ts'
import type { PersistentVolumeClaim } from '../../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { Vendor } from '../../../../api/model/vendor.ts'
import type { Clock } from '../../../../base/time/clock.ts'
import type { EventRecorder } from '../../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../../client/informers/informer.ts'
import type { Client } from '../../../../client/requests/client.ts'

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

/** The clients, informers and options that the volume loops use. */

import type { PersistentVolume } from '../../../api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { StorageClass } from '../../../api/kinds/storage/storage-class.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Client } from '../../../client/requests/client.ts'
import type { BindingKeys } from '../../volumes/annotations.ts'
import type { UnboundSince } from './unbound-since.ts'

export interface VolumeParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly claims: Informer<PersistentVolumeClaim>
  readonly volumes: Informer<PersistentVolume>
  readonly classes: Informer<StorageClass>
}

export interface BinderParts extends VolumeParts {
  readonly pods: Informer<Pod>
  readonly clock: Clock
}

export interface Binder extends BinderParts {
  readonly keys: BindingKeys
  readonly unboundSince: UnboundSince
}

/** What the steps of the binder share. */
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/event-recorder.ts'
import type { Informer } from '../../client/informer.ts'
import type { ResourceType } from '../../client/resource-type.ts'
import type { Node } from '../../kinds/core/node.ts'
import type { PersistentVolume } from '../../kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../kinds/core/pod.ts'
import type { StorageClass } from '../../kinds/storage/storage-class.ts'
import { groupName, type Vendor } from '../../model/vendor.ts'
import type { BindingKeys } from '../../volumes/annotations.ts'
import type { UnboundSince } from './unbound-since.ts'

export const nodes: ResourceType<Node> = { group: '', version: 'v1', plural: 'nodes', namespaced: false }

export function storageClasses(vendor: Vendor): ResourceType<StorageClass> {
  return { group: groupName(vendor, 'storage'), version: 'v1', plural: 'storageclasses', namespaced: false }
}

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

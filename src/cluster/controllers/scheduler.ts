/** The scheduler's entry in the table of control loops. Provides the scheduler with the informers that it needs. */

import { type Availability, isAvailable } from '../../api/versions/availability.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../client/requests/resource-type.ts'
import { defaultSettings, schedulerLoop } from '../scheduler/scheduler.ts'
import type { LoopContext } from './control-loop.ts'

/** The Kubernetes versions and the feature gate that enable device allocation. */
const deviceAllocation: Availability = { since: '1.34', gate: 'DynamicResourceAllocation' }
/** The feature gates that enable binding conditions. */
const bindingGates = ['DRADeviceBindingConditions', 'DRAResourceClaimDeviceStatus'] as const

export function makeScheduler({ client, clock, log, vendor, emulation, informer, options }: LoopContext): Loop {
  const devices = () => ({
    resourceClaims: informer(inDomainOf(vendor, kinds.ResourceClaim)),
    slices: informer(inDomainOf(vendor, kinds.ResourceSlice)),
    deviceClasses: informer(inDomainOf(vendor, kinds.DeviceClass)),
    recordsTime: bindingGates.every((gate) => emulation.gates.has(gate)),
  })
  return schedulerLoop({
    client,
    clock,
    log,
    vendor,
    settings: options.scheduler ?? defaultSettings,
    recordsDisruption: emulation.gates.has('PodDisruptionConditions'),
    pods: informer(kinds.Pod),
    nodes: informer(kinds.Node),
    namespaces: informer(kinds.Namespace),
    claims: informer(kinds.PersistentVolumeClaim),
    volumes: informer(kinds.PersistentVolume),
    classes: informer(inDomainOf(vendor, kinds.StorageClass)),
    csiNodes: informer(inDomainOf(vendor, kinds.CSINode)),
    budgets: informer(kinds.PodDisruptionBudget),
    services: informer(kinds.Service),
    replicaSets: informer(kinds.ReplicaSet),
    statefulSets: informer(kinds.StatefulSet),
    replicationControllers: informer(kinds.ReplicationController),
    ...(isAvailable(deviceAllocation, emulation) ? { devices: devices() } : {}),
  })
}

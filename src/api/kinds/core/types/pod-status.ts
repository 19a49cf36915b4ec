/** PodStatus is the status of a pod and its containers, as reported by the node agent. */

import { field, type InferFields, s } from '../../../schema/schema.ts'
import { byIp, byName, byType, mergedBy } from '../../list-keys.ts'
import { resourceList } from './resource-list.ts'
import { resourceRequirements } from './resources.ts'

const conditionFields = {
  type: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'Type of the condition: PodScheduled, Initialized, ContainersReady, Ready or a custom type.',
  }),
  status: field(2, s.string(), { zeroValue: 'write', doc: 'Status of the condition: True, False or Unknown.' }),
  lastProbeTime: field(3, s.time(), { zeroValue: 'write', doc: 'Time when the condition was last probed.' }),
  lastTransitionTime: field(4, s.time(), {
    zeroValue: 'write',
    doc: 'Time when the status of the condition last changed.',
  }),
  reason: field(5, s.string(), { doc: 'Machine-readable reason for the last transition, in CamelCase.' }),
  message: field(6, s.string(), { doc: 'Human-readable message about the last transition.' }),
  observedGeneration: field(7, s.int64(), {
    since: '1.33',
    gate: 'PodObservedGenerationTracking',
    doc: 'Generation of the pod on which the condition is based.',
  }),
}

export type PodCondition = InferFields<typeof conditionFields>

const condition = s.object(conditionFields, { name: 'PodCondition', doc: 'A condition of a Pod.' })

const waiting = s.object(
  {
    reason: field(1, s.string(), { doc: 'Machine-readable reason why the container is waiting, in CamelCase.' }),
    message: field(2, s.string(), { doc: 'Human-readable explanation of why the container is waiting.' }),
  },
  { name: 'ContainerStateWaiting', doc: 'State of a container that is waiting to start.' },
)

const running = s.object(
  { startedAt: field(1, s.time(), { zeroValue: 'write', doc: 'Time when the container was started.' }) },
  { name: 'ContainerStateRunning', doc: 'State of a running container.' },
)

const terminated = s.object(
  {
    exitCode: field(1, s.int32(), { zeroValue: 'write', doc: 'Exit code of the container.' }),
    signal: field(2, s.int32(), { doc: 'Number of the signal that terminated the container.' }),
    reason: field(3, s.string(), { doc: 'Machine-readable reason for the termination, in CamelCase.' }),
    message: field(4, s.string(), { doc: 'Termination message that the container wrote before it terminated.' }),
    startedAt: field(5, s.time(), { zeroValue: 'write', doc: 'Time when the container was started.' }),
    finishedAt: field(6, s.time(), { zeroValue: 'write', doc: 'Time when the container terminated.' }),
    containerID: field(7, s.string(), { doc: 'ID of the container, in the form `<runtime>://<id>`.' }),
  },
  { name: 'ContainerStateTerminated', doc: 'State of a terminated container.' },
)

const state = s.object(
  {
    waiting: field(1, waiting, { doc: 'Details about a container that is waiting to start.' }),
    running: field(2, running, { doc: 'Details about a running container.' }),
    terminated: field(3, terminated, { doc: 'Details about a terminated container.' }),
  },
  { name: 'ContainerState', doc: 'State of a container: waiting, running or terminated. At most one field is set.' },
)

const imageVolumeStatus = s.object(
  {
    imageRef: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Digest of the image whose content the volume provides.',
    }),
  },
  { name: 'ImageVolumeStatus', doc: 'Status of an image volume.' },
)

const volumeStatus = s.object(
  {
    // In Protobuf, the status of each type of volume is a separate message.
    image: field(1, imageVolumeStatus, {
      gate: 'ImageVolumeWithDigest',
      dropsEmptyOwner: true,
      doc: 'Status of the image volume. Set only for image volumes.',
    }),
  },
  { name: 'VolumeStatus', doc: 'Status of a mounted volume.' },
)

const volumeMountStatus = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the mounted volume.' }),
    mountPath: field(2, s.string(), {
      zeroValue: 'write',
      doc: 'Path in the container at which the volume is mounted.',
    }),
    readOnly: field(3, s.boolean(), { doc: 'Whether the mount is read-only.' }),
    recursiveReadOnly: field(4, s.string(), {
      zeroValue: 'keep',
      gate: 'RecursiveReadOnlyMounts',
      gateDrops: 'never',
      doc: 'Whether nested mounts are also read-only: `Disabled` or `Enabled`.',
    }),
    volumeStatus: field(5, volumeStatus, { since: '1.36', doc: 'Status of the mounted volume.' }),
  },
  { name: 'VolumeMountStatus', doc: 'Status of a volume mount in a container.' },
)

const linuxUser = s.object(
  {
    uid: field(1, s.int64(), { zeroValue: 'write', doc: "User ID of the container's first process." }),
    gid: field(2, s.int64(), { zeroValue: 'write', doc: "Primary group ID of the container's first process." }),
    supplementalGroups: field(3, s.list(s.int64()), {
      doc: "Additional group IDs of the container's first process.",
    }),
  },
  { name: 'LinuxContainerUser', doc: 'User and group IDs of a container on Linux.' },
)

const containerUser = s.object(
  { linux: field(1, linuxUser, { doc: 'User and group IDs on Linux.' }) },
  { name: 'ContainerUser', doc: 'The user that a container runs as.' },
)

const resourceHealth = s.object(
  {
    resourceID: field(1, s.string(), { zeroValue: 'write', doc: 'ID of the device.' }),
    health: field(2, s.string(), { doc: 'Health of the device: Healthy, Unhealthy or Unknown.' }),
    message: field(6, s.string(), {
      zeroValue: 'keep',
      since: '1.36',
      gate: 'ResourceHealthStatusMessage',
      doc: "Human-readable details about the device's health.",
    }),
  },
  { name: 'ResourceHealth', doc: 'Health of one device that a container uses.' },
)

const resourceStatus = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the resource.' }),
    resources: field(2, s.list(resourceHealth, { list: 'map', keys: ['resourceID'] }), {
      doc: 'Health of each device that provides the resource.',
    }),
  },
  { name: 'ResourceStatus', doc: 'Health of the devices that provide a resource.' },
)

const containerStatusFields = {
  name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the container.' }),
  state: field(2, state, { zeroValue: 'write', doc: 'Current state of the container.' }),
  lastState: field(3, state, { zeroValue: 'write', doc: 'State of the container before its last restart.' }),
  ready: field(4, s.boolean(), { zeroValue: 'write', doc: 'Whether the container is ready to serve requests.' }),
  restartCount: field(5, s.int32(), { zeroValue: 'write', doc: 'Number of times the container was restarted.' }),
  image: field(6, s.string(), { zeroValue: 'write', doc: 'Image from which the container was started.' }),
  imageID: field(7, s.string(), {
    zeroValue: 'write',
    doc: 'ID of the image from which the container was started, including its digest.',
  }),
  containerID: field(8, s.string(), { doc: 'ID of the container, in the form `<runtime>://<id>`.' }),
  started: field(9, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the container has passed its startup probe. Always true if the container has no startup probe.',
  }),
  allocatedResources: field(10, resourceList, {
    since: '1.27',
    gate: 'InPlacePodVerticalScalingAllocatedStatus',
    gateDrops: 'never',
    doc: 'Resources that the node has allocated to the container.',
  }),
  resources: field(11, resourceRequirements, {
    since: '1.27',
    gate: 'InPlacePodVerticalScaling',
    gateDrops: 'never',
    doc: 'Resource requests and limits that are in effect for the running container.',
  }),
  volumeMounts: field(12, s.list(volumeMountStatus, mergedBy('mountPath')), {
    since: '1.30',
    gate: 'RecursiveReadOnlyMounts',
    gateDrops: 'never',
    doc: 'Status of each volume mount in the container.',
  }),
  user: field(13, containerUser, {
    since: '1.31',
    gate: 'SupplementalGroupsPolicy',
    gateDrops: 'never',
    doc: 'User that the container runs as.',
  }),
  allocatedResourcesStatus: field(14, s.list(resourceStatus, byName), {
    since: '1.31',
    gate: 'ResourceHealthStatus',
    gateDrops: '1.32',
    doc: 'Health of the devices that the container uses.',
  }),
  stopSignal: field(15, s.string(), {
    zeroValue: 'keep',
    since: '1.33',
    gate: 'ContainerStopSignals',
    gateDrops: 'never',
    doc: 'Signal that stops the container.',
  }),
}

export type ContainerStatus = InferFields<typeof containerStatusFields>

const containerStatus = s.object(containerStatusFields, { name: 'ContainerStatus', doc: 'Status of one container.' })

const podIp = s.object(
  { ip: field(1, s.string(), { doc: 'IP address of the pod.' }) },
  { name: 'PodIP', doc: 'An IP address of a pod.' },
)

const hostIp = s.object(
  { ip: field(1, s.string(), { zeroValue: 'write', doc: 'IP address of the node.' }) },
  { name: 'HostIP', doc: 'An IP address of the node that runs a pod.' },
)

const resourceClaimStatus = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the claim, as listed in `spec.resourceClaims`.' }),
    resourceClaimName: field(2, s.string(), {
      zeroValue: 'keep',
      doc: 'Name of the ResourceClaim that was generated for the pod. Unset if no claim was needed.',
    }),
  },
  { name: 'PodResourceClaimStatus', doc: 'ResourceClaim that was generated from a template for a pod.' },
)

const extendedResourceRequest = s.object(
  {
    containerName: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Name of the container that requests the resource.',
    }),
    resourceName: field(2, s.string(), { zeroValue: 'write', doc: 'Name of the extended resource.' }),
    requestName: field(3, s.string(), { zeroValue: 'write', doc: 'Name of the request in the ResourceClaim.' }),
  },
  {
    name: 'ContainerExtendedResourceRequest',
    doc: "Maps a container's request for an extended resource to a request in a ResourceClaim.",
  },
)

const extendedResourceClaimStatus = s.object(
  {
    requestMappings: field(1, s.list(extendedResourceRequest), {
      zeroValue: 'write',
      doc: "Mapping of the containers' extended resources to requests in the ResourceClaim.",
    }),
    resourceClaimName: field(2, s.string(), {
      zeroValue: 'write',
      doc: 'Name of the ResourceClaim that was generated for the extended resources.',
    }),
  },
  {
    name: 'PodExtendedResourceClaimStatus',
    doc: 'ResourceClaim that was generated for the extended resources of a pod.',
  },
)

const allocatableClaimStatus = s.object(
  {
    resourceClaimName: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the ResourceClaim.' }),
    containers: field(2, s.list(s.string(), { list: 'set' }), { doc: 'Names of the containers that use the claim.' }),
    resources: field(3, resourceList, {
      zeroValue: 'write',
      published: 'required',
      doc: 'Amounts of allocatable node resources that the claim uses.',
    }),
  },
  {
    name: 'NodeAllocatableResourceClaimStatus',
    doc: "Amounts of allocatable node resources that one of the pod's ResourceClaims uses.",
  },
)

const fields = {
  phase: field(1, s.string(), { doc: 'Lifecycle phase of the pod: Pending, Running, Succeeded, Failed or Unknown.' }),
  conditions: field(2, s.list(condition, byType), {
    doc: 'Conditions of the pod, such as Ready.',
  }),
  message: field(3, s.string(), { doc: "Human-readable message about the pod's phase." }),
  reason: field(4, s.string(), { doc: "Machine-readable reason for the pod's phase, in CamelCase." }),
  nominatedNodeName: field(11, s.string(), {
    doc: 'Node on which lower-priority pods are being preempted to make room for this pod.',
  }),
  hostIP: field(5, s.string(), { doc: 'IP address of the node that runs the pod.' }),
  podIP: field(6, s.string(), { doc: 'Primary IP address of the pod.' }),
  podIPs: field(12, s.list(podIp, byIp), {
    doc: 'IP addresses of the pod. At most one address per IP family. The first entry equals `podIP`.',
  }),
  startTime: field(7, s.time(), { doc: 'Time when the node agent accepted the pod.' }),
  initContainerStatuses: field(10, s.list(containerStatus), { doc: 'Status of each init container.' }),
  containerStatuses: field(8, s.list(containerStatus), { doc: 'Status of each container.' }),
  qosClass: field(9, s.string(), {
    doc: 'Quality-of-service class of the pod: `Guaranteed`, `Burstable` or `BestEffort`. The class influences the order in which pods are evicted.',
  }),
  ephemeralContainerStatuses: field(13, s.list(containerStatus), { doc: 'Status of each ephemeral container.' }),
  resize: field(14, s.string(), {
    since: '1.27',
    gate: 'InPlacePodVerticalScaling',
    gateDrops: 'never',
    doc: "Progress of a resize: `Proposed`, `InProgress`, `Deferred` or `Infeasible`. Deprecated: use the pod's conditions instead.",
  }),
  resourceClaimStatuses: field(15, s.list(resourceClaimStatus, { ...byName, retainKeys: true }), {
    since: '1.28',
    gate: 'DynamicResourceAllocation',
    gateDrops: '1.32',
    doc: 'ResourceClaims that were generated for the pod.',
  }),
  hostIPs: field(16, s.list(hostIp, { patch: 'merge', mergeKey: 'ip' }), {
    since: '1.28',
    gate: 'PodHostIPs',
    gateDrops: 'never',
    doc: 'IP addresses of the node that runs the pod. The first entry equals `hostIP`.',
  }),
  observedGeneration: field(17, s.int64(), {
    since: '1.33',
    gate: 'PodObservedGenerationTracking',
    doc: 'Generation of the pod that the node agent last processed.',
  }),
  extendedResourceClaimStatus: field(18, extendedResourceClaimStatus, {
    since: '1.34',
    gate: 'DRAExtendedResource',
    doc: 'ResourceClaim that was generated for the extended resources of the pod.',
  }),
  allocatedResources: field(19, resourceList, {
    since: '1.35',
    gate: 'InPlacePodLevelResourcesVerticalScaling',
    doc: 'Resources that the node has allocated to the pod.',
  }),
  resources: field(20, resourceRequirements, {
    since: '1.35',
    gate: 'InPlacePodLevelResourcesVerticalScaling',
    doc: 'Resource requests and limits that are in effect for the running pod.',
  }),
  nodeAllocatableResourceClaimStatuses: field(21, s.list(allocatableClaimStatus), {
    since: '1.36',
    gate: 'DRANodeAllocatableResources',
    doc: "Amounts of allocatable node resources that the pod's ResourceClaims use.",
  }),
}

export type PodStatus = InferFields<typeof fields>

export const podStatus = s.object(fields, {
  name: 'PodStatus',
  doc: 'Observed status of a Pod.',
  fill: agreeOnAddress,
})

/** Keeps `podIP` equal to the first entry of `podIPs`. If they differ, `podIP` takes precedence. */
function agreeOnAddress(status: PodStatus): void {
  const first = status.podIPs?.[0]?.ip
  if (status.podIP === undefined) {
    if (first !== undefined) status.podIP = first
  } else if (status.podIP !== first) status.podIPs = [{ ip: status.podIP }]
}

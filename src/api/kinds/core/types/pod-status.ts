/** PodStatus: the status of a pod and its containers, reported by the node agent. */
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { byIp, byType } from '../../list-keys.ts'

const condition = s.object(
  {
    type: field(1, s.string(), {
      zero: 'write',
      doc: 'Type of the condition: PodScheduled, Initialized, ContainersReady, Ready or a custom type.',
    }),
    status: field(2, s.string(), { zero: 'write', doc: 'Status of the condition: True, False or Unknown.' }),
    lastProbeTime: field(3, s.time(), { zero: 'write', doc: 'Time the condition was last probed.' }),
    lastTransitionTime: field(4, s.time(), { zero: 'write', doc: 'Time the status of the condition last changed.' }),
    reason: field(5, s.string(), { doc: 'Machine-readable reason for the last transition, in CamelCase.' }),
    message: field(6, s.string(), { doc: 'Human-readable message about the last transition.' }),
  },
  { name: 'PodCondition', doc: 'A condition of a Pod.' },
)

const waiting = s.object(
  {
    reason: field(1, s.string(), { doc: 'Machine-readable reason why the container is waiting, in CamelCase.' }),
    message: field(2, s.string(), { doc: 'Human-readable message about why the container is waiting.' }),
  },
  { name: 'ContainerStateWaiting', doc: 'State of a container that waits to start.' },
)

const running = s.object(
  { startedAt: field(1, s.time(), { zero: 'write', doc: 'Time the container was started.' }) },
  { name: 'ContainerStateRunning', doc: 'State of a running container.' },
)

const terminated = s.object(
  {
    exitCode: field(1, s.int32(), { zero: 'write', doc: 'Exit code of the container.' }),
    signal: field(2, s.int32(), { doc: 'Signal that terminated the container.' }),
    reason: field(3, s.string(), { doc: 'Machine-readable reason for the termination, in CamelCase.' }),
    message: field(4, s.string(), { doc: 'Termination message of the container.' }),
    startedAt: field(5, s.time(), { zero: 'write', doc: 'Time the container was started.' }),
    finishedAt: field(6, s.time(), { zero: 'write', doc: 'Time the container terminated.' }),
    containerID: field(7, s.string(), { doc: 'ID of the container, as `<runtime>://<id>`.' }),
  },
  { name: 'ContainerStateTerminated', doc: 'State of a terminated container.' },
)

const state = s.object(
  {
    waiting: field(1, waiting, { doc: 'Details if the container waits to start.' }),
    running: field(2, running, { doc: 'Details if the container runs.' }),
    terminated: field(3, terminated, { doc: 'Details if the container has terminated.' }),
  },
  { name: 'ContainerState', doc: 'State of a container: waiting, running or terminated.' },
)

const containerStatusFields = {
  name: field(1, s.string(), { zero: 'write', doc: 'Name of the container.' }),
  state: field(2, state, { zero: 'write', doc: 'Current state of the container.' }),
  lastState: field(3, state, { zero: 'write', doc: 'State of the container before its last restart.' }),
  ready: field(4, s.boolean(), { zero: 'write', doc: 'Whether the container is ready to serve requests.' }),
  restartCount: field(5, s.int32(), { zero: 'write', doc: 'Number of times the container was restarted.' }),
  image: field(6, s.string(), { zero: 'write', doc: 'Image that the container runs.' }),
  imageID: field(7, s.string(), {
    zero: 'write',
    doc: 'ID of the image that the container runs, including its digest.',
  }),
  containerID: field(8, s.string(), { doc: 'ID of the container, as `<runtime>://<id>`.' }),
  started: field(9, s.boolean(), {
    zero: 'keep',
    doc: 'Whether the container has passed its startup probe. True if the container has no startup probe.',
  }),
}

export type ContainerStatus = InferFields<typeof containerStatusFields>

const containerStatus = s.object(containerStatusFields, { name: 'ContainerStatus', doc: 'Status of one container.' })

const podIp = s.object(
  { ip: field(1, s.string(), { doc: 'IP address of the pod.' }) },
  { name: 'PodIP', doc: 'An IP address of a pod.' },
)

const fields = {
  phase: field(1, s.string(), { doc: 'Lifecycle phase of the pod: Pending, Running, Succeeded, Failed or Unknown.' }),
  conditions: field(2, s.list(condition, byType), {
    doc: 'Conditions of the pod, such as Ready.',
  }),
  message: field(3, s.string(), { doc: 'Human-readable message about the phase of the pod.' }),
  reason: field(4, s.string(), { doc: 'Machine-readable reason for the phase of the pod, in CamelCase.' }),
  nominatedNodeName: field(11, s.string(), {
    doc: 'Node on which lower-priority pods are being preempted for this pod.',
  }),
  hostIP: field(5, s.string(), { doc: 'IP address of the node that runs the pod.' }),
  podIP: field(6, s.string(), { doc: 'Primary IP address of the pod.' }),
  podIPs: field(12, s.list(podIp, byIp), {
    doc: 'IP addresses of the pod, at most one per IP family. The first entry equals podIP.',
  }),
  startTime: field(7, s.time(), { doc: 'Time the node agent accepted the pod.' }),
  initContainerStatuses: field(10, s.list(containerStatus), { doc: 'Status of each init container.' }),
  containerStatuses: field(8, s.list(containerStatus), { doc: 'Status of each container.' }),
  qosClass: field(9, s.string(), {
    doc: 'Quality-of-service class of the pod: Guaranteed, Burstable or BestEffort. It determines the eviction order.',
  }),
  ephemeralContainerStatuses: field(13, s.list(containerStatus), { doc: 'Status of each ephemeral container.' }),
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

/** PodStatus: how a pod and its containers are, as told by the node that runs it. */
import { field, type InferFields, s } from '../../../schema/schema.ts'

const condition = s.object(
  {
    type: field(1, s.string(), { zero: 'write' }),
    status: field(2, s.string(), { zero: 'write' }),
    lastProbeTime: field(3, s.time(), { zero: 'write' }),
    lastTransitionTime: field(4, s.time(), { zero: 'write' }),
    reason: field(5, s.string()),
    message: field(6, s.string()),
  },
  { name: 'PodCondition', doc: 'Something that is known of the state of a pod.' },
)

const waiting = s.object(
  { reason: field(1, s.string()), message: field(2, s.string()) },
  { name: 'ContainerStateWaiting', doc: 'A container that does not run yet, and why.' },
)

const running = s.object(
  { startedAt: field(1, s.time(), { zero: 'write' }) },
  { name: 'ContainerStateRunning', doc: 'A container that runs.' },
)

const terminated = s.object(
  {
    exitCode: field(1, s.int32(), { zero: 'write' }),
    signal: field(2, s.int32()),
    reason: field(3, s.string()),
    message: field(4, s.string()),
    startedAt: field(5, s.time(), { zero: 'write' }),
    finishedAt: field(6, s.time(), { zero: 'write' }),
    containerID: field(7, s.string()),
  },
  { name: 'ContainerStateTerminated', doc: 'A container that has ended, and how.' },
)

const state = s.object(
  { waiting: field(1, waiting), running: field(2, running), terminated: field(3, terminated) },
  { name: 'ContainerState', doc: 'Where a container is in its life.' },
)

const containerStatusFields = {
  name: field(1, s.string(), { zero: 'write' }),
  state: field(2, state, { zero: 'write' }),
  lastState: field(3, state, { zero: 'write' }),
  ready: field(4, s.boolean(), { zero: 'write' }),
  restartCount: field(5, s.int32(), { zero: 'write' }),
  image: field(6, s.string(), { zero: 'write' }),
  imageID: field(7, s.string(), { zero: 'write' }),
  containerID: field(8, s.string()),
  started: field(9, s.boolean(), { zero: 'keep' }),
}

export type ContainerStatus = InferFields<typeof containerStatusFields>

const containerStatus = s.object(containerStatusFields, { name: 'ContainerStatus', doc: 'How a container is.' })

const podIp = s.object({ ip: field(1, s.string()) }, { name: 'PodIP', doc: 'An address of a pod.' })

const fields = {
  phase: field(1, s.string()),
  conditions: field(2, s.list(condition, { list: 'map', keys: ['type'], patch: 'merge', mergeKey: 'type' })),
  message: field(3, s.string()),
  reason: field(4, s.string()),
  hostIP: field(5, s.string()),
  podIP: field(6, s.string()),
  startTime: field(7, s.time()),
  containerStatuses: field(8, s.list(containerStatus)),
  qosClass: field(9, s.string()),
  initContainerStatuses: field(10, s.list(containerStatus)),
  nominatedNodeName: field(11, s.string()),
  podIPs: field(12, s.list(podIp, { list: 'map', keys: ['ip'], patch: 'merge', mergeKey: 'ip' })),
  ephemeralContainerStatuses: field(13, s.list(containerStatus)),
}

export type PodStatus = InferFields<typeof fields>

export const podStatus = s.object(fields, {
  name: 'PodStatus',
  doc: 'How a pod and its containers are.',
  fill: agreeOnAddress,
})

/** The first of several addresses is the address; where they differ, the single one counts. */
function agreeOnAddress(status: PodStatus): void {
  const first = status.podIPs?.[0]?.ip
  if (status.podIP === undefined) {
    if (first !== undefined) status.podIP = first
  } else if (status.podIP !== first) status.podIPs = [{ ip: status.podIP }]
}

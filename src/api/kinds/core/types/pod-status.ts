/** PodStatus: how a pod and its containers are, as reported by the node that runs it. */
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { byIp, byType } from '../../list-keys.ts'

const condition = s.object(
  {
    type: field(1, s.string(), {
      zero: 'write',
      doc: 'What the condition is about: PodScheduled, Initialized, ContainersReady, Ready or another.',
    }),
    status: field(2, s.string(), { zero: 'write', doc: 'True, False or Unknown.' }),
    lastProbeTime: field(3, s.time(), { zero: 'write', doc: 'When it was last looked at.' }),
    lastTransitionTime: field(4, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
    reason: field(5, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(6, s.string(), { doc: 'Why, for people.' }),
  },
  { name: 'PodCondition', doc: 'Something that is known of the state of a pod.' },
)

const waiting = s.object(
  {
    reason: field(1, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(2, s.string(), { doc: 'Why, for people.' }),
  },
  { name: 'ContainerStateWaiting', doc: 'A container that does not run yet, and why.' },
)

const running = s.object(
  { startedAt: field(1, s.time(), { zero: 'write', doc: 'When it was started.' }) },
  { name: 'ContainerStateRunning', doc: 'A container that runs.' },
)

const terminated = s.object(
  {
    exitCode: field(1, s.int32(), { zero: 'write', doc: 'The code it ended with.' }),
    signal: field(2, s.int32(), { doc: 'The signal that ended it.' }),
    reason: field(3, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(4, s.string(), { doc: 'Its last words.' }),
    startedAt: field(5, s.time(), { zero: 'write', doc: 'When it was started.' }),
    finishedAt: field(6, s.time(), { zero: 'write', doc: 'When it ended.' }),
    containerID: field(7, s.string(), { doc: 'Its id, as runtime://id.' }),
  },
  { name: 'ContainerStateTerminated', doc: 'A container that has ended, and how.' },
)

const state = s.object(
  {
    waiting: field(1, waiting, { doc: 'It does not run yet.' }),
    running: field(2, running, { doc: 'It runs.' }),
    terminated: field(3, terminated, { doc: 'It has ended.' }),
  },
  { name: 'ContainerState', doc: 'Where a container is in its life.' },
)

const containerStatusFields = {
  name: field(1, s.string(), { zero: 'write', doc: 'The name of the container.' }),
  state: field(2, state, { zero: 'write', doc: 'Where it is in its life.' }),
  lastState: field(3, state, { zero: 'write', doc: 'How it ended the last time.' }),
  ready: field(4, s.boolean(), { zero: 'write', doc: 'Whether it can serve.' }),
  restartCount: field(5, s.int32(), { zero: 'write', doc: 'How often it was started again.' }),
  image: field(6, s.string(), { zero: 'write', doc: 'The image it runs.' }),
  imageID: field(7, s.string(), { zero: 'write', doc: 'The exact image it runs.' }),
  containerID: field(8, s.string(), { doc: 'Its id, as runtime://id.' }),
  started: field(9, s.boolean(), { zero: 'keep', doc: 'Whether it has passed its startup probe.' }),
}

export type ContainerStatus = InferFields<typeof containerStatusFields>

const containerStatus = s.object(containerStatusFields, { name: 'ContainerStatus', doc: 'How a container is.' })

const podIp = s.object(
  { ip: field(1, s.string(), { doc: 'The address.' }) },
  { name: 'PodIP', doc: 'An address of a pod.' },
)

const fields = {
  phase: field(1, s.string(), { doc: 'Pending, Running, Succeeded, Failed or Unknown.' }),
  conditions: field(2, s.list(condition, byType), {
    doc: 'What is known of its state.',
  }),
  message: field(3, s.string(), { doc: 'Why it is so, for people.' }),
  reason: field(4, s.string(), { doc: 'Why it is so, in one word for programs.' }),
  nominatedNodeName: field(11, s.string(), { doc: 'The node on which others make room for it.' }),
  hostIP: field(5, s.string(), { doc: 'The address of its node.' }),
  podIP: field(6, s.string(), { doc: 'Its address.' }),
  podIPs: field(12, s.list(podIp, byIp), {
    doc: 'Its addresses, one per family; the first is podIP.',
  }),
  startTime: field(7, s.time(), { doc: 'When its node took it on.' }),
  initContainerStatuses: field(10, s.list(containerStatus), { doc: 'How its init containers are.' }),
  containerStatuses: field(8, s.list(containerStatus), { doc: 'How its containers are.' }),
  qosClass: field(9, s.string(), {
    doc: 'How safe it is when a node runs short: Guaranteed, Burstable or BestEffort.',
  }),
  ephemeralContainerStatuses: field(13, s.list(containerStatus), { doc: 'How its ephemeral containers are.' }),
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

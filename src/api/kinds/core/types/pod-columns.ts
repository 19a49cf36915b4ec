/** Table columns for pods. */

import { humanDuration } from '../../../../base/time/human-duration.ts'
import type { ObjectMeta } from '../../../model/object.ts'
import { ageColumn, type Column, column, nameColumn, type RowCondition } from '../../../schema/columns.ts'
import { isSidecar } from './container.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'

interface Pod {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  spec?: PodSpec
  status?: PodStatus
}

const statusColumn = (word: (pod: Pod) => string) =>
  column('Status', 'Summary of the state of the pod and its containers.', word)

const restartsColumn = (lastRestart: (pod: Pod) => number) =>
  column('Restarts', 'Number of container restarts, and the time since the last one.', (pod: Pod, now) => {
    const count = countedContainers(pod).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0)
    const last = lastRestart(pod)
    return last === 0 ? `${count}` : `${count} (${humanDuration(now - last)} ago)`
  })

export const podColumns: readonly Column<Pod>[] = [
  nameColumn as Column<Pod>,
  column('Ready', 'Number of ready containers, and the total number of containers.', (pod: Pod) => readyCount(pod)),
  { ...statusColumn((pod) => (isTerminating(pod) ? goneWord(pod) : stateWord(pod))), until: '1.30' },
  { ...statusColumn((pod) => (isTerminating(pod) && !isEnded(pod) ? goneWord(pod) : stateWord(pod))), since: '1.30' },
  { ...restartsColumn(lastOfAll), until: '1.28' },
  { ...restartsColumn(lastOfCounted), since: '1.28' },
  ageColumn as Column<Pod>,
  column('IP', 'IP address of the pod.', (pod: Pod) => pod.status?.podIP || '<none>', 1),
  column('Node', 'Node on which the pod runs.', (pod: Pod) => pod.spec?.nodeName || '<none>', 1),
  column(
    'Nominated Node',
    'Node on which lower-priority pods are being preempted to make room for this pod.',
    (pod: Pod) => pod.status?.nominatedNodeName || '<none>',
    1,
  ),
  column(
    'Readiness Gates',
    'Number of readiness gates that are True, and the total number of readiness gates.',
    (pod: Pod) => openGates(pod),
    1,
  ),
]

const ended = new Map<string, RowCondition>([
  [
    'Succeeded',
    { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has terminated without a failure.' },
  ],
  [
    'Failed',
    { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod has terminated with a failure.' },
  ],
])

/** Returns the table row condition that marks finished pods, whose rows some clients hide. */
export function podRowConditions({ status = {} }: Pod): readonly RowCondition[] {
  const condition = ended.get(status.phase ?? '')
  return condition === undefined ? [] : [condition]
}

/** Returns the number of ready containers and the total number, for example as `1/2`. Both numbers include sidecars. */
function readyCount(pod: Pod): string {
  const { containers = [], initContainers = [] } = pod.spec ?? {}
  const { containerStatuses = [] } = pod.status ?? {}
  const ready = [
    ...sidecarStatuses(pod).filter((one) => one.started && one.ready),
    ...(isInitialized(pod) ? containerStatuses.filter(isUp) : []),
  ]
  return `${ready.length}/${containers.length + initContainers.filter(isSidecar).length}`
}

function sidecarStatuses({ spec = {}, status = {} }: Pod): ContainerStatus[] {
  const names = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name))
  return names.size === 0 ? [] : (status.initContainerStatuses ?? []).filter(({ name }) => names.has(name))
}

/** Whether the regular containers of a pod have been started. A restart of a sidecar does not stop them. */
function isInitialized(pod: Pod): boolean {
  if (initStatus(pod) === undefined) return true
  const { conditions = [] } = pod.status ?? {}
  const isDone = conditions.some(({ type, status }) => type === 'Initialized' && status === 'True')
  return isDone && sidecarStatuses(pod).length > 0
}

function isUp({ ready, state = {} }: ContainerStatus): boolean {
  const toldOtherwise = state.waiting?.reason || state.terminated
  return !toldOtherwise && ready === true && state.running !== undefined
}

function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined
}

function isEnded({ status = {} }: Pod): boolean {
  return ended.has(status.phase ?? '')
}

function goneWord({ status = {} }: Pod): string {
  return status.reason === 'NodeLost' ? 'Unknown' : 'Terminating'
}

function stateWord(pod: Pod): string {
  const { status = {} } = pod
  const word = initStatus(pod)
  if (word !== undefined) return (isInitialized(pod) && firstWord(status)) || word
  const isGated = status.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated')
  return isGated ? 'SchedulingGated' : containersWord(pod)
}

/** While init containers run, returns the text to show, such as `Init:1/2`. Returns undefined afterwards. */
function initStatus(pod: Pod): string | undefined {
  const { spec = {}, status = {} } = pod
  const statuses = status.initContainerStatuses ?? []
  const started = new Set(sidecarStatuses(pod).filter((one) => one.started))
  const i = statuses.findIndex((one) => one.state?.terminated?.exitCode !== 0 && !started.has(one))
  if (i < 0) return undefined
  const { waiting, terminated } = statuses[i]!.state ?? {}
  if (terminated) return `Init:${endWord(terminated)}`
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`
  return `Init:${i}/${(spec.initContainers ?? []).length}`
}

/**
 * Returns the reason of the first container that has one, or else the reason or phase of the pod. A pod with a running
 * container is not shown as Completed.
 */
function containersWord({ status = {} }: Pod): string {
  const { containerStatuses = [], conditions = [] } = status
  const word = firstWord(status) ?? (status.reason || status.phase || '')
  if (word !== 'Completed' || !containerStatuses.some(isUp)) return word
  return conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True') ? 'Running' : 'NotReady'
}

function firstWord({ containerStatuses = [] }: PodStatus): string | undefined {
  return containerStatuses.map(containerWord).find((word) => word !== undefined)
}

function containerWord({ state: { waiting, terminated } = {} }: ContainerStatus): string | undefined {
  if (waiting?.reason) return waiting.reason
  return terminated && endWord(terminated)
}

function endWord({ reason, signal, exitCode }: NonNullable<NonNullable<ContainerStatus['state']>['terminated']>) {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`)
}

/**
 * Returns the containers whose restarts are shown: the init containers until the regular containers start, and after
 * that the regular containers and sidecars.
 */
function countedContainers(pod: Pod): ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  return isInitialized(pod) ? [...sidecarStatuses(pod), ...containerStatuses] : initContainerStatuses
}

function lastOfCounted(pod: Pod): number {
  return lastEnd(countedContainers(pod))
}

/**
 * Returns the time of the last restart of any container, for versions before 1.28. Later versions consider only the
 * containers that `countedContainers` returns.
 */
function lastOfAll({ status = {} }: Pod): number {
  return lastEnd([...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
}

function lastEnd(statuses: readonly ContainerStatus[]): number {
  const ends = statuses.map(({ lastState }) => Date.parse(lastState?.terminated?.finishedAt ?? '') || 0)
  return ends.reduce((latest, end) => Math.max(latest, end), 0)
}

function openGates({ spec = {}, status = {} }: Pod): string {
  const gates = spec.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const open = gates.filter(({ conditionType }) =>
    status.conditions?.some(({ type, status: value }) => type === conditionType && value === 'True'),
  )
  return `${open.length}/${gates.length}`
}

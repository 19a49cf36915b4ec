/** Table columns for pods. */

import { humanDuration } from '../../../../base/time/human-duration.ts'
import type { ObjectMeta } from '../../../model/object.ts'
import { ageColumn, type Column, column, nameColumn, type RowCondition } from '../../../schema/columns.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'

interface Pod {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  spec?: PodSpec
  status?: PodStatus
}

export const podColumns: readonly Column<Pod>[] = [
  nameColumn as Column<Pod>,
  column('Ready', 'Number of ready containers and total number of containers.', (pod: Pod) => readyCount(pod)),
  column('Status', 'Summary of the state of the pod and its containers.', (pod: Pod) => statusWord(pod)),
  column('Restarts', 'Number of container restarts and time since the last one.', restarts),
  ageColumn as Column<Pod>,
  column('IP', 'IP address of the pod.', (pod: Pod) => pod.status?.podIP || '<none>', 1),
  column('Node', 'Node on which the pod runs.', (pod: Pod) => pod.spec?.nodeName || '<none>', 1),
  column(
    'Nominated Node',
    'Node on which lower-priority pods are being preempted for this pod.',
    (pod: Pod) => pod.status?.nominatedNodeName || '<none>',
    1,
  ),
  column(
    'Readiness Gates',
    'Number of readiness gates that are True and their total number.',
    (pod: Pod) => openGates(pod),
    1,
  ),
]

const ended = new Map<string, RowCondition>([
  [
    'Succeeded',
    { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has finished without a failure.' },
  ],
  ['Failed', { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod has finished with a failure.' }],
])

/** Marks finished pods because some clients hide them. */
export function podRowConditions({ status = {} }: Pod): readonly RowCondition[] {
  const condition = ended.get(status.phase ?? '')
  return condition === undefined ? [] : [condition]
}

function readyCount(pod: Pod): string {
  const ready = initStatus(pod) === undefined ? (pod.status?.containerStatuses ?? []).filter(isUp) : []
  return `${ready.length}/${(pod.spec?.containers ?? []).length}`
}

function isUp({ ready, state = {} }: ContainerStatus): boolean {
  const toldOtherwise = state.waiting?.reason || state.terminated
  return !toldOtherwise && ready === true && state.running !== undefined
}

function statusWord(pod: Pod): string {
  const { metadata, status = {} } = pod
  if (metadata.deletionTimestamp) return status.reason === 'NodeLost' ? 'Unknown' : 'Terminating'
  if (status.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated'))
    return initStatus(pod) ?? 'SchedulingGated'
  return initStatus(pod) ?? containersWord(pod)
}

/** Returns the state of the first unfinished init container, or undefined if all have finished. */
function initStatus({ spec = {}, status = {} }: Pod): string | undefined {
  const statuses = status.initContainerStatuses ?? []
  const i = statuses.findIndex(({ state }) => state?.terminated?.exitCode !== 0)
  if (i < 0) return undefined
  const { waiting, terminated } = statuses[i]!.state ?? {}
  if (terminated) return `Init:${endWord(terminated)}`
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`
  return `Init:${i}/${(spec.initContainers ?? []).length}`
}

/** Returns the reason of the first container that has one. A pod with a running container is not Completed. */
function containersWord({ status = {} }: Pod): string {
  const { containerStatuses = [], conditions = [] } = status
  const told = containerStatuses.map(containerWord).find((word) => word !== undefined)
  const word = told ?? (status.reason || status.phase || '')
  if (word !== 'Completed' || !containerStatuses.some(isUp)) return word
  return conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True') ? 'Running' : 'NotReady'
}

function containerWord({ state: { waiting, terminated } = {} }: ContainerStatus): string | undefined {
  if (waiting?.reason) return waiting.reason
  return terminated && endWord(terminated)
}

function endWord({ reason, signal, exitCode }: NonNullable<NonNullable<ContainerStatus['state']>['terminated']>) {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`)
}

function restarts(pod: Pod, now: number): string {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  const counted = initStatus(pod) === undefined ? containerStatuses : initContainerStatuses
  const count = counted.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0)
  const ends = [...initContainerStatuses, ...containerStatuses].map(
    ({ lastState }) => Date.parse(lastState?.terminated?.finishedAt ?? '') || 0,
  )
  const last = ends.reduce((latest, end) => Math.max(latest, end), 0)
  return last === 0 ? `${count}` : `${count} (${humanDuration(now - last)} ago)`
}

function openGates({ spec = {}, status = {} }: Pod): string {
  const gates = spec.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  const open = gates.filter(({ conditionType }) =>
    status.conditions?.some(({ type, status: value }) => type === conditionType && value === 'True'),
  )
  return `${open.length}/${gates.length}`
}

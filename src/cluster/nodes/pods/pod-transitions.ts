/**
 * Built-in steps of a pod's lifecycle. Each step computes the next status of a pod from the current status, as a node
 * agent would report it. Steps are pure functions. Stages determine when they run.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { ContainerStatus, PodStatus } from '../../../api/kinds/core/types/pod-status.ts'
import { timestamp } from '../../../api/model/object.ts'
import { isSidecar } from '../../scheduler/resources.ts'
import type { StepName } from '../stages/stage.ts'
import { idOf } from './container-id.ts'
import { resourcesInEffect } from './pod-resize.ts'

export interface StepContext {
  /** Current wall-clock time, in milliseconds since 1970. */
  readonly now: number
  readonly hostIp: string
  readonly podIp: string
  /** Exit code for containers that end in this step. */
  readonly exitCode: number
  readonly reason: string
  readonly message: string
}

type Step = (pod: Pod, context: StepContext) => PodStatus

/** All built-in steps by name. */
export const podTransitions: { readonly [name in StepName]: Step } = {
  /** Starts the containers, which are ready immediately. */
  Start: (pod, context) => started(pod, context, 'True'),
  /** Starts the containers, which are not ready yet. */
  StartUnready: (pod, context) => started(pod, context, 'False'),
  BecomeReady: (pod, context) => withReadiness(pod, context, 'True'),
  BecomeUnready: (pod, context) => withReadiness(pod, context, 'False'),
  End: end,
  /** Restarts containers that were waiting after a failure. The containers are not ready yet. */
  Restart: restart,
  /** Makes containers wait with the reason that the stage provides, such as CrashLoopBackOff. */
  Wait: wait,
  /** Ends a deleted pod after its containers have terminated. */
  Terminate: (pod, context) => finish(pod, { ...context, exitCode: 0, reason: '' }),
}

function started(pod: Pod, context: StepContext, ready: 'True' | 'False'): PodStatus {
  const { spec, status = {} } = pod
  const startedAt = timestamp(context.now)
  const isReady = ready === 'True'
  const statuses = (spec?.containers ?? []).map((container) => ({
    ...common(container, pod),
    ready: isReady,
    restartCount: 0,
    started: true,
    state: { running: { startedAt } },
  }))
  const initialized = (spec?.initContainers ?? []).map((container) => {
    const ids = common(container, pod)
    if (isSidecar(container))
      return { ...ids, ready: true, restartCount: 0, started: true, state: { running: { startedAt } } }
    const { containerID } = ids
    const terminated = { exitCode: 0, reason: 'Completed', startedAt, finishedAt: startedAt, containerID }
    return { ...ids, ready: true, restartCount: 0, state: { terminated } }
  })
  return {
    ...status,
    phase: 'Running',
    conditions: conditions(pod, { now: context.now, initialized: 'True', ready }),
    hostIP: context.hostIp,
    podIP: context.podIp,
    podIPs: [{ ip: context.podIp }],
    startTime: status.startTime ?? startedAt,
    containerStatuses: statuses,
    ...(initialized.length === 0 ? {} : { initContainerStatuses: initialized }),
  }
}

function withReadiness(pod: Pod, { now }: StepContext, ready: 'True' | 'False'): PodStatus {
  const { status = {} } = pod
  const containerStatuses = (status.containerStatuses ?? []).map((each) =>
    each.state?.running === undefined ? each : { ...each, ready: ready === 'True', started: true },
  )
  return { ...status, containerStatuses, conditions: conditions(pod, { now, initialized: 'True', ready }) }
}

/**
 * Returns the status after the containers have exited. If the restart policy allows a restart, the containers wait to
 * be restarted. Otherwise, the pod is terminated.
 */
function end(pod: Pod, context: StepContext): PodStatus {
  const { restartPolicy = 'Always' } = pod.spec ?? {}
  const isAgain = restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && context.exitCode !== 0)
  if (!isAgain) return finish(pod, context)
  const { status = {} } = pod
  const message = 'the container exited and restarts after a backoff'
  const containerStatuses = (status.containerStatuses ?? []).map((each) => ({
    ...each,
    ready: false,
    started: false,
    lastState: { terminated: terminatedOf(each, context) },
    state: { waiting: { reason: 'CrashLoopBackOff', message } },
  }))
  return {
    ...status,
    containerStatuses,
    conditions: conditions(pod, { now: context.now, initialized: 'True', ready: 'False' }),
  }
}

function finish(pod: Pod, context: StepContext): PodStatus {
  const { status = {} } = pod
  const containerStatuses = (status.containerStatuses ?? []).map((each) =>
    each.state?.terminated === undefined
      ? { ...each, ready: false, started: false, state: { terminated: terminatedOf(each, context) } }
      : each,
  )
  const sidecars = endedSidecars(status, context)
  const isSuccess = containerStatuses.every(({ state }) => state?.terminated?.exitCode === 0)
  const reason = isSuccess ? 'PodCompleted' : 'ContainersNotReady'
  return {
    ...status,
    phase: isSuccess ? 'Succeeded' : 'Failed',
    containerStatuses,
    ...sidecars,
    conditions: conditions(pod, { now: context.now, initialized: 'True', ready: 'False', reason }),
  }
}

/** Sidecars and ephemeral containers stop after the regular containers. Their exit codes do not affect the phase. */
function endedSidecars({ initContainerStatuses, ephemeralContainerStatuses }: PodStatus, context: StepContext) {
  const ended = (statuses: readonly ContainerStatus[] | undefined) =>
    statuses?.map((each) =>
      each.state?.running === undefined
        ? each
        : {
            ...each,
            ready: false,
            started: false,
            state: { terminated: terminatedOf(each, { ...context, exitCode: 0, reason: '' }) },
          },
    )
  const sidecars = ended(initContainerStatuses)
  const ephemeral = ended(ephemeralContainerStatuses)
  return {
    ...(sidecars === undefined ? {} : { initContainerStatuses: sidecars }),
    ...(ephemeral === undefined ? {} : { ephemeralContainerStatuses: ephemeral }),
  }
}

/** Exit code of a container after SIGKILL. */
const killed = 137

/**
 * Returns the status of a pod that the node stops, for example to evict it. The containers have been killed, and the
 * phase is Failed.
 */
export function stoppedByNode(
  pod: Pod,
  { now, hostIp, reason, message }: Pick<StepContext, 'now' | 'hostIp' | 'reason' | 'message'>,
): PodStatus {
  const { status = {} } = pod
  const context = { now, hostIp, reason: '', message: '', podIp: status.podIP ?? '', exitCode: killed }
  const ended = (status.containerStatuses ?? []).length === 0 ? status : finish(pod, context)
  return { ...ended, phase: 'Failed', reason, message, hostIP: hostIp, startTime: status.startTime ?? timestamp(now) }
}

/**
 * Returns the status with a Ready condition that matches the containers and readiness gates, or undefined if the
 * condition is already correct. Other clients may have changed the condition, for example when the node was considered
 * lost or a readiness gate opened.
 */
export function correctedReadiness(pod: Pod, now: number): PodStatus | undefined {
  const { status = {}, metadata } = pod
  const present = (type: string) => status.conditions?.find((each) => each.type === type)?.status
  const ready = present('ContainersReady')
  if (status.phase !== 'Running' || metadata.deletionTimestamp !== undefined) return undefined
  if (ready !== 'True' && ready !== 'False') return undefined
  const right = conditions(pod, { now, initialized: 'True', ready })
  const isRight = right.find(({ type }) => type === 'Ready')!.status === present('Ready')
  return isRight ? undefined : { ...status, conditions: right }
}

export function terminatedOf({ state, containerID }: ContainerStatus, { now, exitCode, reason }: StepContext) {
  const finishedAt = timestamp(now)
  return {
    exitCode,
    reason: reason || (exitCode === 0 ? 'Completed' : 'Error'),
    finishedAt,
    startedAt: state?.running?.startedAt ?? finishedAt,
    ...(containerID === undefined ? {} : { containerID }),
  }
}

function restart(pod: Pod, { now }: StepContext): PodStatus {
  const { status = {} } = pod
  const containerStatuses = (status.containerStatuses ?? []).map((each, i) => {
    if (each.state?.waiting === undefined) return each
    const restartCount = (each.restartCount ?? 0) + 1
    const containerID = idOf(pod, pod.spec?.containers?.[i]?.name ?? '', restartCount)
    return { ...each, started: true, restartCount, containerID, state: { running: { startedAt: timestamp(now) } } }
  })
  return { ...status, containerStatuses, conditions: conditions(pod, { now, initialized: 'True', ready: 'False' }) }
}

function wait(pod: Pod, context: StepContext): PodStatus {
  const { now, reason, message, hostIp } = context
  const { spec, status = {} } = pod
  const waiting = { ready: false, started: false, state: { waiting: { reason, message } } }
  const containerStatuses = (spec?.containers ?? []).map(({ name = '', image = '' }) => {
    const before = status.containerStatuses?.find((each) => each.name === name)
    if (before === undefined) return { name, image, imageID: '', restartCount: 0, ...waiting }
    if (before.state?.running === undefined) return { ...before, ...waiting }
    return {
      ...before,
      lastState: { terminated: terminatedOf(before, { ...context, exitCode: 1, reason: '' }) },
      ...waiting,
    }
  })
  return {
    ...status,
    hostIP: hostIp,
    containerStatuses,
    startTime: status.startTime ?? timestamp(now),
    conditions: conditions(pod, { now, initialized: 'True', ready: 'False' }),
  }
}

/** Returns the fields of a container status that stay the same while the container runs. */
export function common(container: Container, pod: Pod) {
  const { name = '', image = '' } = container
  return {
    name,
    image,
    imageID: `simulated://${image}`,
    containerID: idOf(pod, name, 0),
    ...resourcesInEffect(container),
  }
}

interface Wanted {
  readonly now: number
  readonly initialized: 'True' | 'False'
  readonly ready: 'True' | 'False'
  readonly reason?: string
}

/**
 * The condition that indicates whether a pod's sandbox has network addresses. Since 1.29, node agents report it before
 * all other conditions.
 */
export const sandboxCondition = 'PodReadyToStartContainers'

/** Replaces the four pod conditions that every node reports. Other conditions are kept. */
export function conditions(
  pod: Pod,
  { now, initialized, ready, reason = 'ContainersNotReady' }: Wanted,
): NonNullable<PodStatus['conditions']> {
  const { spec, status = {} } = pod
  const present = status.conditions ?? []
  const gates = (spec?.readinessGates ?? []).map(({ conditionType }) => conditionType)
  const isOpen = gates.every((gate) => present.some(({ type, status: value }) => type === gate && value === 'True'))
  const why = ready === 'True' ? (isOpen ? undefined : 'ReadinessGatesNotReady') : reason
  const own: readonly (readonly [type: string, status: string, reason?: string | undefined])[] = [
    ['Initialized', initialized],
    ['Ready', isOpen ? ready : 'False', why],
    ['ContainersReady', ready, ready === 'True' ? undefined : reason],
    ['PodScheduled', 'True'],
  ]
  const reported = own.map(([type, value, because]) => {
    const before = present.find((each) => each.type === type && each.status === value)
    if (before !== undefined && before.reason === because) return before
    const lastTransitionTime = before?.lastTransitionTime ?? timestamp(now)
    return { type, status: value, lastTransitionTime, ...(because === undefined ? {} : { reason: because }) }
  })
  const others = present.filter(({ type }) => !own.some(([ownType]) => ownType === type))
  const isSandbox = ({ type }: { readonly type?: string }) => type === sandboxCondition
  return [...others.filter(isSandbox), ...reported, ...others.filter((each) => !isSandbox(each))]
}

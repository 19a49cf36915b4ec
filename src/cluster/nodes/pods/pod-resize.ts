/**
 * Resizes the running containers of a pod in place, as a kubelet does. A resize that fits is allocated and reported as
 * in progress. The next report states that it has taken effect. A resize that does not fit is reported as pending:
 * `Infeasible` if the node is too small, and `Deferred` if the resize must wait for other pods to end. A container
 * restarts if its `resizePolicy` requires it.
 *
 * API servers that do not support resizing drop the actual resources from the status. In that case, the node does not
 * compare resources.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { ContainerStatus, PodCondition, PodStatus } from '../../../api/kinds/core/types/pod-status.ts'
import { timestamp } from '../../../api/model/object.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'
import { idOf } from './container-id.ts'

/** Whether a node has room for a resized pod. If it has no room, the reason to report in the pod's status. */
export type Fit = 'fits' | { readonly reason: 'Infeasible' | 'Deferred'; readonly message: string }

const pending = 'PodResizePending'
const inProgress = 'PodResizeInProgress'

/** Returns the resources of a container as its status reports them. */
export function resourcesInEffect({
  resources = {},
}: Container): Pick<ContainerStatus, 'resources' | 'allocatedResources'> {
  const { requests, limits } = resources
  return {
    resources: { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) },
    ...(requests === undefined ? {} : { allocatedResources: requests }),
  }
}

/** Returns the next status of a pod whose desired and actual resources differ, or undefined if they do not differ. */
export function resized(pod: Pod, now: number, fit: () => Fit): PodStatus | undefined {
  const { spec, status = {} } = pod
  const byName = new Map((spec?.containers ?? []).map((container) => [container.name, container]))
  const statuses = status.containerStatuses ?? []
  const changed = new Set(statuses.filter((each) => differs(byName.get(each.name), each)))
  if (changed.size === 0) return withConditions(status, [])
  const isAllocated = [...changed].every((each) =>
    sameAmounts(each.allocatedResources, byName.get(each.name)!.resources?.requests),
  )
  if (hasCondition(status, inProgress) && isAllocated) {
    const actuated = statuses.map((each) =>
      changed.has(each) ? actuate(pod, byName.get(each.name)!, { status: each, now }) : each,
    )
    return { ...(withConditions(status, []) ?? status), containerStatuses: actuated }
  }
  const outcome = fit()
  if (outcome !== 'fits') return withConditions(status, [condition(pending, now, outcome)])
  const allocated = statuses.map((each) =>
    changed.has(each) ? { ...each, ...allocation(byName.get(each.name)!) } : each,
  )
  return { ...(withConditions(status, [condition(inProgress, now)]) ?? status), containerStatuses: allocated }
}

/** Whether the pod waits until the node has room for its resize. */
export function isResizeDeferred({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, reason }) => type === pending && reason === 'Deferred') === true
}

function differs(container: Container | undefined, { resources, state }: ContainerStatus): boolean {
  if (container === undefined || resources === undefined || state?.running === undefined) return false
  const desired = container.resources ?? {}
  return !sameAmounts(resources.requests, desired.requests) || !sameAmounts(resources.limits, desired.limits)
}

type Amounts = { readonly [resource: string]: unknown }

/** Whether two resource lists have equal amounts, regardless of how the server formats them. */
function sameAmounts(a: Amounts = {}, b: Amounts = {}): boolean {
  const nanos = (list: Amounts, name: string) => parseQuantity(String(list[name]))?.nanos
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => nanos(a, name) === nanos(b, name))
}

function allocation(container: Container): Pick<ContainerStatus, 'allocatedResources'> {
  const { allocatedResources } = resourcesInEffect(container)
  return allocatedResources === undefined ? {} : { allocatedResources }
}

/** Applies the desired resources to a container. */
function actuate(
  pod: Pod,
  container: Container,
  { status, now }: { status: ContainerStatus; now: number },
): ContainerStatus {
  const next = { ...status, ...resourcesInEffect(container) }
  if (!restarts(container, status)) return next
  const time = timestamp(now)
  const { state, containerID = '', restartCount = 0 } = status
  const startedAt = state?.running?.startedAt ?? time
  return {
    ...next,
    restartCount: restartCount + 1,
    containerID: idOf(pod, container.name ?? '', restartCount + 1),
    lastState: { terminated: { exitCode: 0, reason: 'Completed', startedAt, finishedAt: time, containerID } },
    state: { running: { startedAt: time } },
  }
}

function restarts({ resizePolicy = [], resources = {} }: Container, status: ContainerStatus): boolean {
  return resizePolicy.some(
    ({ resourceName = '', restartPolicy }) =>
      restartPolicy === 'RestartContainer' &&
      (['requests', 'limits'] as const).some(
        (list) => resources[list]?.[resourceName] !== status.resources?.[list]?.[resourceName],
      ),
  )
}

function hasCondition({ conditions = [] }: PodStatus, type: string): boolean {
  return conditions.some((each) => each.type === type)
}

function condition(type: string, now: number, details: { reason?: string; message?: string } = {}): PodCondition {
  return { type, status: 'True', lastTransitionTime: timestamp(now), ...details }
}

/** Replaces the conditions about a resize. Returns undefined if they are already up to date. */
function withConditions(status: PodStatus, next: readonly PodCondition[]): PodStatus | undefined {
  const { conditions = [] } = status
  const isOwn = ({ type }: PodCondition) => type === pending || type === inProgress
  const present = conditions.filter(isOwn)
  const isSame =
    present.length === next.length &&
    next.every(({ type, reason, message }) =>
      present.some((each) => each.type === type && each.reason === reason && each.message === message),
    )
  return isSame ? undefined : { ...status, conditions: [...conditions.filter((each) => !isOwn(each)), ...next] }
}

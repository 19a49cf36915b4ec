/**
 * Adds the pod status fields that node agents of later Kubernetes versions report: since 1.29, the list of host
 * addresses and the condition PodReadyToStartContainers, and since 1.34, the generation that the status describes.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { PodStatus } from '../../../api/kinds/core/types/pod-status.ts'
import { timestamp } from '../../../api/model/object.ts'
import { type EmulatedVersion, isAtLeast } from '../../../api/versions/emulated-version.ts'
import { sandboxCondition } from './pod-transitions.ts'

/** The Kubernetes version whose node agent is emulated, and the current time. */
export interface Reporter {
  readonly version: EmulatedVersion
  readonly now: number
}

type Conditions = NonNullable<PodStatus['conditions']>

const ownConditions: ReadonlySet<string | undefined> = new Set([
  sandboxCondition,
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
])

/** Returns the status with the fields that node agents of the emulated version add. */
export function reportedStatus(pod: Pod, status: PodStatus, reporter: Reporter): PodStatus {
  if (!isAtLeast(reporter.version, '1.29')) return status
  const observedGeneration = generationToReport(pod, reporter.version)
  const conditions = withSandbox(status, reporter.now)
  return {
    ...status,
    ...(status.hostIP === undefined ? {} : { hostIPs: [{ ip: status.hostIP }] }),
    ...(observedGeneration === undefined
      ? { conditions }
      : {
          observedGeneration,
          conditions: conditions.map((each) => (ownConditions.has(each.type) ? { ...each, observedGeneration } : each)),
        }),
  }
}

/** Whether the status of a running pod describes an earlier generation of the pod. */
export function lagsBehind(pod: Pod, version: EmulatedVersion): boolean {
  const generation = generationToReport(pod, version)
  return generation !== undefined && pod.status?.observedGeneration !== generation
}

function generationToReport({ metadata }: Pod, version: EmulatedVersion): number | undefined {
  return isAtLeast(version, '1.34') ? metadata.generation : undefined
}

/**
 * Returns the conditions with PodReadyToStartContainers first. That condition is true while the pod has an address and
 * has not ended.
 */
function withSandbox({ conditions = [], podIP, phase }: PodStatus, now: number): Conditions {
  const status = podIP !== undefined && phase !== 'Succeeded' && phase !== 'Failed' ? 'True' : 'False'
  const before = conditions.find(({ type }) => type === sandboxCondition)
  const condition =
    before?.status === status ? before : { type: sandboxCondition, status, lastTransitionTime: timestamp(now) }
  return [condition, ...conditions.filter((each) => each !== before)]
}

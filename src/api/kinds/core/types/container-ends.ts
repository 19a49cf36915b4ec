/**
 * Determines which terminated containers may restart. A status update must not report any other terminated container as
 * running.
 */
import { type FieldError, forbidden } from '../../../model/field-error.ts'
import { isEnabled, type RuleContext } from '../../../schema/context.ts'
import type { Container } from './container.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'

/** A status update of a pod, with the pod's spec. */
export interface StatusUpdate {
  readonly next: PodStatus
  readonly previous: PodStatus
  readonly spec: PodSpec
}

type StatusList = 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses'

/**
 * Rejects restarting a container that has terminated permanently. Errors contain the index that the container had
 * before the update.
 */
export function checkEnded({ next, previous, spec }: StatusUpdate, context: RuleContext): FieldError[] {
  const restarts = restartRules(spec, context)
  return (['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const).flatMap((list) => {
    const running = new Set((next[list] ?? []).filter((one) => exitCodeOf(one) === undefined).map(({ name }) => name))
    return (previous[list] ?? []).flatMap((old, i) => {
      const exitCode = exitCodeOf(old)
      if (exitCode === undefined || !running.has(old.name) || restarts(list, old.name, exitCode)) return []
      return [forbidden(`status.${list}[${i}].state`, 'may not be transitioned to non-terminated state')]
    })
  })
}

function exitCodeOf({ state: { terminated } = {} }: ContainerStatus): number | undefined {
  return terminated && (terminated.exitCode ?? 0)
}

/**
 * Returns a function that determines whether a container restarts after it has exited. The node agent never restarts
 * ephemeral containers.
 */
function restartRules(spec: PodSpec, context: RuleContext) {
  const { containers = [], initContainers = [], restartPolicy } = spec
  const byName = {
    containerStatuses: new Map(containers.map((one) => [one.name, one])),
    initContainerStatuses: new Map(initContainers.map((one) => [one.name, one])),
  }
  const usesRules = isEnabled('ContainerRestartRules', context)
  const restartsAll = usesRules && [...containers, ...initContainers].some(hasRestartOfAll)
  return (list: StatusList, name: string | undefined, exitCode: number): boolean => {
    if (list === 'ephemeralContainerStatuses') return false
    if (restartsAll) return true
    const one = byName[list].get(name)
    // A container's own restart policy applies to sidecars, and to all containers if ContainerRestartRules is enabled.
    const ownPolicy = usesRules || list === 'initContainerStatuses' ? one?.restartPolicy : undefined
    if (ownPolicy === undefined || one === undefined) return restartsBy(restartPolicy, exitCode)
    return restartsByRule(one, exitCode) || restartsBy(ownPolicy, exitCode)
  }
}

function restartsBy(policy: string | undefined, exitCode: number): boolean {
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}

function hasRestartOfAll({ restartPolicyRules = [] }: Container): boolean {
  return restartPolicyRules.some(({ action }) => action === 'RestartAllContainers')
}

function restartsByRule({ restartPolicyRules = [] }: Container, exitCode: number): boolean {
  return restartPolicyRules.some(
    ({ exitCodes: { operator, values = [] } = {} }) => values.includes(exitCode) === (operator === 'In'),
  )
}

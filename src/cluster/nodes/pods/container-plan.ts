/**
 * The behavior of a simulated container: how long its program and its hooks run, their exit codes, and whether the
 * container restarts. This behavior depends only on the spec.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import { isSidecar } from '../../scheduler/resources.ts'
import { type ProgramRun, runOf } from '../containers/program-run.ts'

export type ContainerRole = 'init' | 'sidecar' | 'main'

type Handler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>

const instant: ProgramRun = { ms: 0, exitCode: 0 }
/** An unknown program in a Job's pod succeeds after one second, because the Job would otherwise never finish. */
const jobRun: ProgramRun = { ms: 1000, exitCode: 0 }

/**
 * Whether the containers of a pod have different lifecycles, in which case the node drives each container separately.
 * True for pods with init containers, hooks or restart rules, and for pods in which some programs end and others do
 * not.
 */
export function hasSeparateContainers({ spec }: Pod): boolean {
  const { containers = [], initContainers = [] } = spec ?? {}
  return (
    initContainers.length > 0 ||
    containers.some(
      ({ lifecycle, restartPolicy, restartPolicyRules }) =>
        lifecycle !== undefined || restartPolicy !== undefined || restartPolicyRules !== undefined,
    ) ||
    (containers.length > 1 && containers.some((container) => runOf(container) !== undefined))
  )
}

export function roleOf(container: Container, { spec }: Pod): ContainerRole {
  if (spec?.containers?.includes(container)) return 'main'
  return isSidecar(container) ? 'sidecar' : 'init'
}

/**
 * Returns the duration and exit code of the container's program, or undefined if the program runs until the pod ends.
 */
export function programOf(container: Container, pod: Pod): ProgramRun | undefined {
  const run = runOf(container)
  if (run !== undefined) return run
  const role = roleOf(container, pod)
  if (role === 'init') return instant
  const isOfJob = pod.metadata.ownerReferences?.some(({ kind }) => kind === 'Job') === true
  return role === 'main' && isOfJob ? jobRun : undefined
}

/**
 * Returns the duration and exit code of a hook. Hooks that send a request, and hooks with an unknown command, succeed
 * immediately.
 */
export function hookRun(handler: Handler | undefined): ProgramRun {
  if (handler?.sleep !== undefined) return { ms: Number(handler.sleep.seconds ?? 0) * 1000, exitCode: 0 }
  return (handler?.exec === undefined ? undefined : runOf({ command: handler.exec.command ?? [] })) ?? instant
}

/** Whether the container restarts after exiting with this code. Restart rules take precedence over restart policies. */
export function restartsAfter(container: Container, pod: Pod, exitCode: number): boolean {
  const { restartPolicyRules = [], restartPolicy } = container
  const isMatched = restartPolicyRules.some(({ exitCodes: { operator, values = [] } = {} }) =>
    operator === 'NotIn' ? !values.includes(exitCode) : values.includes(exitCode),
  )
  if (isMatched) return true
  const policy = restartPolicy ?? pod.spec?.restartPolicy ?? 'Always'
  // An init container that has succeeded is complete, regardless of the pod's restart policy.
  const isComplete = exitCode === 0 && roleOf(container, pod) === 'init'
  return !isComplete && (policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0))
}

/**
 * Returns the milliseconds from the start of a container until its probes report that it has started, and until they
 * report that it is ready.
 */
export function probeDelays({ startupProbe, readinessProbe }: Container): { startedMs: number; readyMs: number } {
  const startedMs = (startupProbe?.initialDelaySeconds ?? 0) * 1000
  return { startedMs, readyMs: Math.max(startedMs, (readinessProbe?.initialDelaySeconds ?? 0) * 1000) }
}

/**
 * Drives the containers of a pod one by one, as a kubelet does. Init containers start in order, sidecars start before
 * the containers that follow them, and then the regular containers start. Each container has its own hooks, program and
 * restarts. When the regular containers have ended, the sidecars stop in reverse order. The result depends only on the
 * pod, the time and the start times of the containers. All state is in the status of the pod, so that a restarted node
 * continues where the previous process stopped.
 */

import { sameJson } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { ContainerStatus, PodStatus } from '../../../api/kinds/core/types/pod-status.ts'
import { asJson, timestamp } from '../../../api/model/object.ts'
import type { StageEvent } from '../stages/stage.ts'
import { idOf } from './container-id.ts'
import { hookRun, probeDelays, programOf, restartsAfter, roleOf } from './container-plan.ts'
import { common, conditions, terminatedOf } from './pod-transitions.ts'

export interface LifecycleContext {
  readonly now: number
  readonly hostIp: string
  readonly podIp: string
  /**
   * Returns the simulated time in milliseconds since an event of this pod. `key` identifies the event, and `time` is
   * the event's time in the status, with a precision of one second.
   */
  readonly elapsed: (key: string, time: string) => number
}

/** The next status of a pod and its events, or the time until they are due. */
export interface LifecycleStep {
  /** The next status. Undefined if the status stays the same. */
  readonly status: PodStatus | undefined
  readonly events: readonly StageEvent[]
  /** Milliseconds of simulated time until the next change. Undefined if only an event can change the pod. */
  readonly afterMs: number | undefined
  /** Whether all containers of a deleted pod have stopped and the node can therefore delete the pod. */
  readonly isGone: boolean
}

/** Returns the next change to a pod's containers, or how long to wait for it. */
export function nextStep(pod: Pod, context: LifecycleContext): LifecycleStep {
  return new PodRun(pod, context).step()
}

/** How long a simulated container takes to stop after SIGTERM, in milliseconds. */
const stopMs = 1000
const firstBackoffMs = 10_000
const maxBackoffMs = 300_000
/** Exit code of a container after SIGKILL. */
const killed = 137

class PodRun {
  readonly #pod: Pod
  readonly #context: LifecycleContext
  readonly #statuses: Map<string, ContainerStatus>
  readonly #events: StageEvent[] = []
  #afterMs = Number.POSITIVE_INFINITY

  constructor(pod: Pod, context: LifecycleContext) {
    this.#pod = pod
    this.#context = context
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
    this.#statuses = new Map([...initContainerStatuses, ...containerStatuses].map((each) => [each.name ?? '', each]))
  }

  step(): LifecycleStep {
    const { containers = [], initContainers = [] } = this.#pod.spec ?? {}
    if (this.#pod.metadata.deletionTimestamp !== undefined) return this.#stop()
    const inits = this.#runInits(initContainers)
    if (inits === 'complete') for (const container of containers) this.#run(container)
    const isOver = inits === 'failed' || (inits === 'complete' && containers.every((each) => this.#hasEnded(each)))
    const phase = isOver ? this.#endPhase(inits) : inits === 'complete' ? 'Running' : 'Pending'
    return this.#result({ phase, isInitialized: inits === 'complete', isGone: false })
  }

  /** Runs the init containers up to the first incomplete one, and restarts sidecars that have ended. */
  #runInits(initContainers: readonly Container[]): 'complete' | 'waiting' | 'failed' {
    const isComplete = (this.#pod.spec?.containers ?? []).some((each) => this.#hasBegun(each))
    for (const container of initContainers) {
      this.#run(container)
      const { state, started } = this.#statusOf(container)
      if (isComplete) continue
      if (roleOf(container, this.#pod) === 'sidecar') {
        if (!started && state?.terminated === undefined) return 'waiting'
      } else if (state?.terminated === undefined) return 'waiting'
      else if (state.terminated.exitCode !== 0) return 'failed'
    }
    return 'complete'
  }

  /** Starts the container, restarts it after its backoff or, if it is running, checks its state. */
  #run(container: Container): void {
    const { state } = this.#statusOf(container)
    if (state?.running !== undefined) this.#continue(container)
    else if (state?.waiting?.reason === 'CrashLoopBackOff') this.#restart(container)
    else if (state?.terminated === undefined) this.#start(container, 0)
  }

  #start(container: Container, restartCount: number): void {
    const { name = '' } = container
    const before = this.#statusOf(container)
    this.#statuses.set(name, {
      ...common(container, this.#pod),
      containerID: idOf(this.#pod, name, restartCount),
      ...(before.lastState === undefined ? {} : { lastState: before.lastState }),
      ready: false,
      started: false,
      restartCount,
      state: { running: { startedAt: timestamp(this.#context.now) } },
    })
    this.#event('Normal', 'Started', `Started container ${name}`)
    this.#continue(container)
  }

  #continue(container: Container): void {
    const status = this.#statusOf(container)
    const elapsed = this.#context.elapsed(status.containerID ?? '', status.state?.running?.startedAt ?? '')
    const hook = hookRun(container.lifecycle?.postStart)
    const program = programOf(container, this.#pod)
    if (elapsed < hook.ms) this.#wait(hook.ms - elapsed)
    else if (hook.exitCode !== 0) {
      this.#event('Warning', 'FailedPostStartHook', `PostStartHook failed: the command exited with ${hook.exitCode}`)
      this.#exit(container, killed)
    } else if (program !== undefined && elapsed >= program.ms) this.#exit(container, program.exitCode)
    else {
      if (program !== undefined) this.#wait(program.ms - elapsed)
      this.#probe(container, elapsed)
    }
  }

  /** Reports whether a running container is started and ready. Probes succeed after their initial delay. */
  #probe(container: Container, elapsed: number): void {
    const { startedMs, readyMs } = probeDelays(container)
    for (const dueMs of [startedMs, readyMs]) if (elapsed < dueMs) this.#wait(dueMs - elapsed)
    const ready = elapsed >= readyMs && roleOf(container, this.#pod) !== 'init'
    const status = this.#statusOf(container)
    this.#statuses.set(container.name ?? '', { ...status, started: elapsed >= startedMs, ready })
  }

  #exit(container: Container, exitCode: number): void {
    const status = this.#statusOf(container)
    const terminated = this.#terminated(status, exitCode)
    const ended = { ...status, ready: false, started: false }
    const { name = '' } = container
    if (!restartsAfter(container, this.#pod, exitCode)) {
      const ready = exitCode === 0 && roleOf(container, this.#pod) === 'init'
      this.#statuses.set(name, { ...ended, ready, state: { terminated } })
      return
    }
    const message = `back-off ${backoffMs(status) / 1000}s restarting failed container=${name}`
    const waiting = { reason: 'CrashLoopBackOff', message }
    this.#statuses.set(name, { ...ended, lastState: { terminated }, state: { waiting } })
    if (backoffMs(status) > 0) this.#event('Warning', 'BackOff', `Back-off restarting failed container ${name}`)
    this.#restart(container)
  }

  #restart(container: Container): void {
    const status = this.#statusOf(container)
    const { finishedAt = '' } = status.lastState?.terminated ?? {}
    const remaining = backoffMs(status) - this.#context.elapsed(`${status.containerID}/end`, finishedAt)
    if (remaining > 0) this.#wait(remaining)
    else this.#start(container, (status.restartCount ?? 0) + 1)
  }

  #hasBegun(container: Container): boolean {
    const { state, lastState } = this.#statusOf(container)
    return state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined
  }

  #hasEnded(container: Container): boolean {
    return this.#statusOf(container).state?.terminated !== undefined
  }

  /** Stops the last running sidecar. Returns the phase of the pod once all containers have stopped. */
  #endPhase(inits: 'complete' | 'waiting' | 'failed'): string {
    const { containers = [], initContainers = [] } = this.#pod.spec ?? {}
    if (this.#stopLast(initContainers)) return inits === 'failed' ? 'Pending' : 'Running'
    const isSuccess =
      inits === 'complete' && containers.every((each) => this.#statusOf(each).state?.terminated?.exitCode === 0)
    return isSuccess ? 'Succeeded' : 'Failed'
  }

  /** Stops the last running container in a list. Returns false if no container is running. */
  #stopLast(containers: readonly Container[]): boolean {
    const last = containers.findLast((each) => this.#statusOf(each).state?.running !== undefined)
    if (last !== undefined) this.#end(last, 0)
    return last !== undefined
  }

  /** Stops the containers of a deleted pod: the regular containers after their hooks, and then the sidecars. */
  #stop(): LifecycleStep {
    const { metadata, spec = {}, status = {} } = this.#pod
    const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * 1000
    const deletedAt = timestamp(Date.parse(metadata.deletionTimestamp ?? '') - graceMs)
    const elapsed = this.#context.elapsed('deletion', deletedAt)
    const { containers = [], initContainers = [] } = spec
    const running = containers.filter((each) => this.#statusOf(each).state?.running !== undefined)
    for (const container of running) {
      const hook = hookRun(container.lifecycle?.preStop)
      const neededMs = hook.ms + stopMs
      const dueMs = Math.min(neededMs, Math.max(graceMs, 0))
      if (elapsed < dueMs) this.#wait(dueMs - elapsed)
      else {
        if (hook.exitCode !== 0)
          this.#event('Warning', 'FailedPreStopHook', `PreStopHook failed: the command exited with ${hook.exitCode}`)
        this.#end(container, hook.ms > 0 && neededMs > graceMs ? killed : 0)
      }
    }
    const isWaiting = containers.some((each) => this.#statusOf(each).state?.running !== undefined)
    const isGone = !isWaiting && running.length === 0 && !this.#stopLast(initContainers)
    const phase = status.phase ?? 'Pending'
    const isInitialized = containers.some((each) => this.#hasBegun(each))
    return this.#result({ phase, isInitialized, isGone })
  }

  #end(container: Container, exitCode: number): void {
    const status = this.#statusOf(container)
    const state = { terminated: this.#terminated(status, exitCode) }
    this.#statuses.set(container.name ?? '', { ...status, ready: false, started: false, state })
    this.#event('Normal', 'Killing', `Stopping container ${container.name}`)
  }

  #terminated(status: ContainerStatus, exitCode: number) {
    const { now, hostIp, podIp } = this.#context
    return terminatedOf(status, { now, hostIp, podIp, exitCode, reason: '', message: '' })
  }

  /** Returns the status of a container. A container that has not started waits for the pod to be initialized. */
  #statusOf({ name = '', image = '' }: Container): ContainerStatus {
    return (
      this.#statuses.get(name) ?? {
        ...{ name, image, imageID: '', restartCount: 0, ready: false, started: false },
        state: { waiting: { reason: 'PodInitializing' } },
      }
    )
  }

  #wait(ms: number): void {
    this.#afterMs = Math.min(this.#afterMs, ms)
  }

  #event(type: StageEvent['type'], reason: string, message: string): void {
    this.#events.push({ type, reason, message })
  }

  #result({ phase, isInitialized, isGone }: { phase: string; isInitialized: boolean; isGone: boolean }): LifecycleStep {
    const { spec = {}, status = {} } = this.#pod
    const { now, hostIp, podIp } = this.#context
    const { containers = [], initContainers = [] } = spec
    const needed = [...containers, ...initContainers.filter((each) => roleOf(each, this.#pod) === 'sidecar')]
    const ready = isInitialized && needed.every((each) => this.#statusOf(each).ready) ? 'True' : 'False'
    const reason = phase === 'Succeeded' ? 'PodCompleted' : 'ContainersNotReady'
    const initialized = isInitialized ? 'True' : 'False'
    const next: PodStatus = {
      ...status,
      phase,
      conditions: conditions(this.#pod, { now, initialized, ready, reason }),
      hostIP: hostIp,
      podIP: podIp,
      podIPs: [{ ip: podIp }],
      startTime: status.startTime ?? timestamp(now),
      containerStatuses: containers.map((each) => this.#statusOf(each)),
      ...(initContainers.length === 0
        ? {}
        : { initContainerStatuses: initContainers.map((each) => this.#statusOf(each)) }),
    }
    return {
      status: sameJson(asJson(next), asJson(status)) ? undefined : next,
      events: this.#events,
      afterMs: Number.isFinite(this.#afterMs) ? this.#afterMs : undefined,
      isGone,
    }
  }
}

/**
 * Returns the delay in milliseconds before the next restart. The first restart has no delay. The next delay is 10
 * seconds, and each following delay is twice as long, up to five minutes.
 */
function backoffMs({ restartCount = 0 }: ContainerStatus): number {
  return restartCount === 0 ? 0 : Math.min(firstBackoffMs * 2 ** Math.min(restartCount - 1, 30), maxBackoffMs)
}

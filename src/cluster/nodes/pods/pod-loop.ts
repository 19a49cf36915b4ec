/**
 * Drives the pods on the nodes of this process through their lifecycles: finds the stage that applies to a pod, waits
 * for the stage's delay, and applies the stage as the agent of the pod's node. Only pending work is kept in memory.
 * After a restart, the loop reads the pods and continues.
 *
 * Every write requires the resourceVersion on which the decision was based, and a pod is reconciled again only after
 * the watch has delivered its change. A slow watch therefore causes no repeated writes. A stage is applied to the same
 * pod again only after at least one second.
 */

import type { Pod } from '../../../api/kinds/core/pod.ts'
import { asJson } from '../../../api/model/object.ts'
import { oldestVersion } from '../../../api/versions/emulated-version.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { TimerClock } from '../../../base/time/clock.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer, type Source } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import type { NodeOutages } from '../failures/node-outages.ts'
import { withAnnotations } from '../failures/pod-failures.ts'
import type { Stage } from '../stages/stage.ts'
import { isStageFault } from '../stages/stage-error.ts'
import { type StageChoice, StageProgress, type StageSubject, type WaitingStage } from '../stages/stage-progress.ts'
import { addressFor, applyStage, deleteNow, type StageEffects, startBlocker } from './apply-stage.ts'
import { nextStep } from './container-lifecycle.ts'
import type { NodeRoom } from './node-room.ts'
import { corrected } from './pod-corrections.ts'
import { isResizeDeferred } from './pod-resize.ts'
import { podTransitions, stoppedByNode } from './pod-transitions.ts'
import { type Reporter, reportedStatus } from './reported-status.ts'

export interface PodLoopParts extends StageEffects {
  readonly informer: Informer<Pod>
  readonly isOwnNode: (node: string) => boolean
  readonly roomOf: (node: string) => NodeRoom
  /** Stages from files, or the default stages. */
  readonly stages: readonly Stage[]
  /**
   * Returns the Stage objects for pods. While one of them selects a pod, only these stages apply to it. Returns the
   * same array until a stage changes.
   */
  readonly stageObjects: () => readonly Stage[]
  readonly clock: TimerClock
  /** Called periodically for a running pod, for example to update its volumes. */
  readonly keepUp?: (pod: Pod, client: Client) => Promise<Upkeep>
  /**
   * Called for every change to a pod on a node of this process. The state `is over` means that the pod's containers
   * will never be started again.
   */
  readonly onPod: (pod: Pod, state: 'lives' | 'is over') => void
  /** Whether the Node object is ready. If undefined, pod readiness does not depend on the Node object. */
  readonly isNodeReady?: ((node: string) => boolean) | undefined
  /** Returns the annotations that the simulated failures and the container programs add to a pod. */
  readonly failureOf: (pod: Pod) => Annotations | undefined
  /** Whether the node drives the containers of a pod one by one instead of by stages. */
  readonly followsContainers: (pod: Pod, failure: Annotations | undefined) => boolean
  readonly outages: NodeOutages
  /** Speed of the containers, as a multiple of real time. */
  readonly speed: number
  /** Additional event sources that trigger the reconciliation of pods. */
  readonly sources?: readonly Source[]
}

type Annotations = { readonly [key: string]: string }

/** When to call `keepUp` again, or the reason to evict the pod. */
export interface Upkeep {
  readonly afterMs?: number
  readonly evict?: string
}

/** Maximum number of concurrent pod writes. */
const concurrency = 64
/** Interval at which a node retries a deferred resize. */
const resizeRetryMs = 10_000

/** What this process remembers about a pod between reconciles. */
interface Progress {
  readonly uid: string
  /** The pod's resourceVersion before the last write. The cache is stale while it still shows this version. */
  actedOn: string
  /** The Stage objects on which the last write was based. */
  actedWith: readonly Stage[] | undefined
  readonly stages: StageProgress
  /**
   * When each start and end of a container was first seen, on the monotonic clock. Set only if the node drives
   * containers one by one.
   */
  seen: BoundedMap<string, number> | undefined
}

/**
 * Maximum number of events per pod whose local times are remembered. For older events, the less precise times in the
 * status are used.
 */
const maxSeen = 64
/**
 * If an event is older than this when first seen, for example after a restart of this process, the time in the status
 * is used instead.
 */
const recentMs = 2000

export function podLoop(parts: PodLoopParts): Loop {
  const driver = new PodDriver(parts)
  return {
    name: 'node-pods',
    concurrency,
    sources: [
      fromInformer(parts.informer, ({ key, previous, object }) => {
        driver.observe(key, previous, object)
        return driver.isOwn(object) ? [key] : []
      }),
      ...(parts.sources ?? []),
    ],
    reconcile: (key, signal) => driver.step(key, signal),
  }
}

class PodDriver {
  readonly #parts: PodLoopParts
  readonly #progress = new Map<string, Progress>()

  constructor(parts: PodLoopParts) {
    this.#parts = parts
  }

  isOwn(pod: Pod | undefined): boolean {
    const { nodeName } = pod?.spec ?? {}
    return nodeName !== undefined && this.#parts.isOwnNode(nodeName)
  }

  observe(key: string, previous: Pod | undefined, pod: Pod | undefined): void {
    const wasOwn = this.isOwn(previous)
    if (!wasOwn && !this.isOwn(pod)) return
    const isOther = previous !== undefined && previous.metadata.uid !== pod?.metadata.uid
    if (isOther) this.#progress.delete(key)
    if (isOther && wasOwn) this.#parts.onPod(previous, 'is over')
    if (isOther || (pod !== undefined && isOver(pod))) this.#parts.outages.forget(previous ?? pod!)
    if (pod !== undefined) this.#parts.onPod(pod, isOver(pod) ? 'is over' : 'lives')
    const { nodeName = '' } = (pod ?? previous)!.spec ?? {}
    this.#parts.addressesOf(nodeName).observe(key, pod)
    this.#parts.roomOf(nodeName).observe(key, pod)
  }

  async step(key: string, signal: AbortSignal): Promise<StepOutcome> {
    const pod = this.#parts.informer.get(nameOfKey(key))
    if (pod === undefined || !this.isOwn(pod)) return 'done'
    const { uid = '', resourceVersion: version = '' } = pod.metadata
    const progress = this.#progressOf(key, uid)
    const { outages, isNodeReady } = this.#parts
    const node = pod.spec!.nodeName!
    // A pod on an unreachable node is not processed until its SimulationRule changes.
    if (outages.isUnreachable(node) || this.#isUpToDate(progress, version)) return 'done'
    if (outages.hasLostContainers(pod)) return await this.#restart(pod, signal)
    const ending = this.#whyEnded(key, pod)
    if (ending !== undefined) return await this.#fail(pod, ending, signal)
    const fit = () => this.#parts.roomOf(node).fitOf(key, pod)
    const choice = this.#choiceFor(pod)
    const correction =
      !choice.limitsEach && isNodeReady?.(node) ? corrected(pod, this.#reporterFor(pod), fit) : undefined
    if (correction !== undefined) {
      await this.#report(pod, correction, signal)
      return 'done'
    }
    const outcome = sooner(await this.#advance(key, { pod, progress, choice }, signal), this.#deadlineInMs(pod))
    return sooner(outcome, isResizeDeferred(pod) ? resizeRetryMs : undefined)
  }

  /**
   * Whether nothing relevant has changed since the last write to the pod. The watch event of that write will trigger
   * another reconcile.
   */
  #isUpToDate({ actedOn, actedWith }: Progress, version: string): boolean {
    return actedOn === version && actedWith === this.#parts.stageObjects()
  }

  #markActedOn(progress: Progress, { metadata }: Pod): void {
    progress.actedOn = metadata.resourceVersion!
    progress.actedWith = this.#parts.stageObjects()
  }

  /**
   * Returns the stages to choose from, and the pod to match them against. If a Stage object selects the pod, only Stage
   * objects apply.
   */
  #choiceFor(pod: Pod): Choice {
    const { stages, stageObjects, clock, speed, failureOf } = this.#parts
    const failure = failureOf(pod)
    const subject = { object: asJson(withAnnotations(pod, failure)), version: pod.metadata.resourceVersion!, failure }
    const objects = stageObjects()
    const limitsEach = objects.some(({ matches }) => matches(subject.object))
    return { subject, stages: limitsEach ? objects : stages, limitsEach, clock, speed }
  }

  /** Returns the reason why the node must end the pod, such as an expired deadline, or undefined if there is none. */
  #whyEnded(key: string, pod: Pod): Ending | undefined {
    if (isOver(pod) || pod.metadata.deletionTimestamp !== undefined) return undefined
    const leftMs = this.#deadlineInMs(pod)
    if (leftMs !== undefined && leftMs <= 0)
      return {
        type: 'Normal',
        reason: 'DeadlineExceeded',
        message: 'Pod was active on the node longer than the specified deadline',
      }
    if (this.#parts.outages.isEvicted(pod))
      return { type: 'Warning', reason: 'Evicted', message: 'The node was low on resource: ephemeral-storage.' }
    if (pod.status?.startTime !== undefined) return undefined
    const refusal = this.#parts.roomOf(pod.spec!.nodeName!).admit(key, pod)
    return refusal && { type: 'Warning', ...refusal, eventMessage: `Pod ${refusal.message}` }
  }

  /** Returns the milliseconds until a pod's active deadline. */
  #deadlineInMs(pod: Pod): number | undefined {
    const seconds = pod.spec?.activeDeadlineSeconds
    const started = Date.parse(pod.status?.startTime ?? '')
    const isEnding = isOver(pod) || pod.metadata.deletionTimestamp !== undefined
    if (seconds === undefined || Number.isNaN(started) || isEnding) return undefined
    return started + seconds * 1000 - this.#parts.clock.now()
  }

  async #advance(key: string, turn: Turn, signal: AbortSignal): Promise<StepOutcome> {
    const { pod, progress, choice } = turn
    if (!choice.limitsEach && this.#parts.followsContainers(pod, choice.subject.failure))
      return await this.#advanceContainers(key, { pod, progress }, signal)
    const waiting = progress.stages.next(choice.subject, choice)
    if (waiting === undefined) return await this.#keepUp(pod, signal)
    const remainingMs = waiting.due - this.#parts.clock.monotonic()
    if (remainingMs > 0) return { afterMs: remainingMs }
    return await this.#carryOut(key, { ...turn, waiting }, signal)
  }

  /** Advances a pod whose containers the node simulates separately, and writes its new status. */
  async #advanceContainers(
    key: string,
    { pod, progress }: { readonly pod: Pod; readonly progress: Progress },
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    const { clock, nodeOf, clientOf, record, speed } = this.#parts
    const { metadata, spec, status } = pod
    const isDeleted = metadata.deletionTimestamp !== undefined
    if (isOver(pod) && !isDeleted) return 'done'
    const podIp = addressFor(this.#parts, key, pod)
    const blocker = status?.podIP || isDeleted ? undefined : await startBlocker(this.#parts, pod, podIp)
    if (blocker !== undefined) {
      record(pod, blocker)
      return 'later'
    }
    progress.stages.reset()
    const { name: node, address: hostIp } = nodeOf(spec!.nodeName!)
    const elapsed = (event: string, time: string) => this.#elapsed(progress, event, time)
    const next = nextStep(pod, { now: clock.now(), hostIp, podIp: podIp ?? '', elapsed })
    if (next.isGone) await deleteNow(clientOf(node), pod, signal)
    else if (next.status === undefined)
      return sooner(await this.#keepUp(pod, signal), next.afterMs && Math.ceil(next.afterMs / speed))
    else if (await this.#report(pod, next.status, signal)) for (const event of next.events) record(pod, event)
    this.#markActedOn(progress, pod)
    return 'done'
  }

  /**
   * Returns the simulated time since an event of a pod. Prefers the local time at which the event was first seen,
   * because times in the status have a precision of only one second.
   */
  #elapsed(progress: Progress, event: string, time: string): number {
    const { clock, speed } = this.#parts
    progress.seen ??= new BoundedMap(maxSeen)
    const { seen } = progress
    const age = clock.now() - Date.parse(time)
    const at = seen.get(event) ?? clock.monotonic() - (age < recentMs ? 0 : age)
    seen.set(event, at)
    return (clock.monotonic() - at) * speed
  }

  #progressOf(key: string, uid: string): Progress {
    const existing = this.#progress.get(key)
    if (existing?.uid === uid) return existing
    const stages = new StageProgress()
    const fresh: Progress = { uid, actedOn: '', actedWith: undefined, stages, seen: undefined }
    this.#progress.set(key, fresh)
    return fresh
  }

  async #carryOut(
    key: string,
    { pod, progress, choice, waiting }: Turn & { readonly waiting: WaitingStage },
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    const { stage } = waiting
    try {
      const outcome = await applyStage(this.#parts, { key, pod, podJson: choice.subject.object, stage }, signal)
      if (outcome !== 'done') return outcome
    } catch (error) {
      if (isStageFault(error, stage)) {
        const message = `cannot apply stage ${stage.name}: ${messageOf(error)}`
        this.#parts.record(pod, { type: 'Warning', reason: 'StageFailed', message })
        return 'later'
      }
      // Ignore a conflict or a 404: the change to the pod triggers another reconcile, which chooses a stage again.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
    this.#markActedOn(progress, pod)
    progress.stages.applied(waiting, choice)
    return 'done'
  }

  async #keepUp(pod: Pod, signal: AbortSignal): Promise<StepOutcome> {
    if (pod.status?.phase !== 'Running' || this.#parts.keepUp === undefined) return 'done'
    const client = this.#parts.clientOf(pod.spec!.nodeName!)
    const { afterMs, evict } = await this.#parts.keepUp(pod, client)
    if (evict !== undefined)
      return await this.#fail(pod, { type: 'Warning', reason: 'Evicted', message: evict }, signal)
    return afterMs === undefined ? 'done' : { afterMs }
  }

  /**
   * Reports that the containers were lost while the node was down. The restart policy determines whether they restart.
   */
  async #restart(pod: Pod, signal: AbortSignal): Promise<'done'> {
    const { nodeOf, clock, outages } = this.#parts
    const status = podTransitions.End(pod, {
      now: clock.now(),
      hostIp: nodeOf(pod.spec!.nodeName!).address,
      podIp: pod.status?.podIP ?? '',
      exitCode: 255,
      reason: 'Unknown',
      message: '',
    })
    if (await this.#report(pod, status, signal)) outages.forget(pod)
    return 'done'
  }

  /** Ends a pod on behalf of the node. Its containers are stopped and not restarted. */
  async #fail(pod: Pod, ending: Ending, signal: AbortSignal): Promise<'done'> {
    const { reason, message, eventMessage = message } = ending
    const { nodeOf, clock, record } = this.#parts
    const node = nodeOf(pod.spec!.nodeName!)
    record(pod, { type: ending.type, reason, message })
    const status = stoppedByNode(pod, { now: clock.now(), hostIp: node.address, reason, message: eventMessage })
    await this.#report(pod, status, signal)
    return 'done'
  }

  #reporterFor(pod: Pod): Reporter {
    const { nodeOf, clock } = this.#parts
    const { kubernetesVersion: version = oldestVersion } = nodeOf(pod.spec!.nodeName!)
    return { version, now: clock.now() }
  }

  /**
   * Writes the status. Returns false on a conflict or a 404. In that case, the change to the pod triggers another
   * reconcile.
   */
  async #report(pod: Pod, status: NonNullable<Pod['status']>, signal: AbortSignal): Promise<boolean> {
    const client = this.#parts.clientOf(pod.spec!.nodeName!)
    const reported = reportedStatus(pod, status, this.#reporterFor(pod))
    try {
      await client.update(kinds.Pod, { ...pod, status: reported }, { subresource: 'status', signal })
      return true
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false
      throw error
    }
  }
}

/** The stages to choose from, and the pod to match them against. */
type Choice = StageChoice & { readonly subject: StageSubject }

/** A reconcile of one pod. */
interface Turn {
  readonly pod: Pod
  readonly progress: Progress
  readonly choice: Choice
}

interface Ending {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  /** Message for the pod status and, unless `eventMessage` is set, for the Event. */
  readonly message: string
  /** Message for the Event. Set only if it differs from the message for the pod status. */
  readonly eventMessage?: string
}

function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/**
 * Maximum duration of one timer in milliseconds. Longer waits are split, because Node.js fires timers longer than 24
 * days immediately.
 */
const maxDelayMs = 60 * 60_000

/** Shortens the wait in an outcome so that the pod is reconciled within `ms` milliseconds. */
function sooner(outcome: StepOutcome, ms: number | undefined): StepOutcome {
  if (ms === undefined || outcome === 'later') return outcome
  const untilThen = Math.min(ms, maxDelayMs)
  return outcome === 'done' ? { afterMs: untilThen } : { afterMs: Math.min(outcome.afterMs, untilThen) }
}

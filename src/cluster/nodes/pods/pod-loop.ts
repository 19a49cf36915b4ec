/**
 * Drives the pods on the nodes of this process through their lifecycles: finds the stage that applies to a pod, waits
 * for its delay, and applies it as the agent of the pod's node. Only pending work is kept in memory. After a restart,
 * the loop reads the pods and continues.
 *
 * Every write requires the resourceVersion that the decision was based on, and a pod is reconciled again only after its
 * change has arrived. A slow watch therefore causes no repeated writes. A stage is applied to the same pod again only
 * after at least one second.
 */

import { sameJson } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { asJson } from '../../../api/model/object.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
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
import { chooseStage, delayOf, type Stage } from '../stages/stage.ts'
import { addressFor, applyStage, deleteNow, type StageEffects, startBlocker } from './apply-stage.ts'
import { nextStep } from './container-lifecycle.ts'
import type { NodeRoom } from './node-room.ts'
import { corrected } from './pod-corrections.ts'
import { isResizeDeferred } from './pod-resize.ts'
import { podTransitions, stoppedByNode } from './pod-transitions.ts'

export interface PodLoopParts extends StageEffects {
  readonly informer: Informer<Pod>
  readonly isOwnNode: (node: string) => boolean
  readonly roomOf: (node: string) => NodeRoom
  readonly stages: readonly Stage[]
  readonly clock: TimerClock
  /** Maintains a running pod, for example its volumes. */
  readonly keepUp?: (pod: Pod, client: Client) => Promise<Upkeep>
  /**
   * Called for every change to a pod on a node of this process. The state `is over` means that the containers of the
   * pod will not be started again.
   */
  readonly onPod: (pod: Pod, state: 'lives' | 'is over') => void
  /** Returns whether the Node object is ready. Undefined if only stages determine the readiness of pods. */
  readonly isNodeReady?: ((node: string) => boolean) | undefined
  /** Returns the annotations that simulated failures and the programs of its containers add to a pod. */
  readonly failureOf: (pod: Pod) => Annotations | undefined
  /** Whether the node drives the containers of a pod one by one instead of through stages. */
  readonly followsContainers: (pod: Pod, failure: Annotations | undefined) => boolean
  readonly outages: NodeOutages
  /** How many times faster than real time the containers run. */
  readonly speed: number
  /** Additional sources of keys. */
  readonly sources?: readonly Source[]
}

type Annotations = { readonly [key: string]: string }

/** When to maintain a pod again, or the reason to evict it. */
export interface Upkeep {
  readonly afterMs?: number
  readonly evict?: string
}

/** Maximum number of concurrent pod writes. */
const concurrency = 64
const repeatMs = 1000
/** How long a node waits before it retries a resize that does not fit yet. */
const resizeRetryMs = 10_000

/** Work in progress for a pod. */
interface Progress {
  readonly uid: string
  /** The resourceVersion that the last write replaced. */
  actedOn: string
  /** The stage whose delay has not passed yet, with the resourceVersion and the failure that it was chosen for. */
  waiting: Waiting | undefined
  last: { readonly stage: Stage; readonly at: number } | undefined
  /** Monotonic times of the starts and ends of containers, if the node drives the containers one by one. */
  seen: BoundedMap<string, number> | undefined
}

/** Maximum number of events of a pod whose times are kept. Older times are read from the status. */
const maxSeen = 64
/** An event of at most this age counts as new when this process sees it first. */
const recentMs = 2000

interface Waiting {
  readonly stage: Stage
  readonly version: string
  readonly failure: Annotations | undefined
  readonly due: number
}

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
    const { outages, clock, isNodeReady } = this.#parts
    const node = pod.spec!.nodeName!
    // The node continues when its SimulationRule changes.
    if (outages.isUnreachable(node) || progress.actedOn === version) return 'done'
    if (outages.hasLostContainers(pod)) return await this.#restart(pod, signal)
    const ending = this.#whyEnded(key, pod)
    if (ending !== undefined) return await this.#fail(pod, ending, signal)
    const fit = () => this.#parts.roomOf(node).fitOf(key, pod)
    const correction = isNodeReady?.(node) ? corrected(pod, clock.now(), fit) : undefined
    if (correction !== undefined) {
      await this.#report(pod, correction, signal)
      return 'done'
    }
    const outcome = sooner(await this.#advance(key, { pod, progress }, signal), this.#deadlineInMs(pod))
    return sooner(outcome, isResizeDeferred(pod) ? resizeRetryMs : undefined)
  }

  /** Returns the reason why the node itself ends a pod regardless of stages, or undefined if it does not. */
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

  async #advance(
    key: string,
    { pod, progress }: { readonly pod: Pod; readonly progress: Progress },
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    if (this.#parts.followsContainers(pod, this.#parts.failureOf(pod)))
      return await this.#advanceContainers(key, { pod, progress }, signal)
    const waiting = this.#waiting(progress, pod)
    if (waiting === undefined) return await this.#keepUp(pod, signal)
    const remainingMs = waiting.due - this.#parts.clock.monotonic()
    if (remainingMs > 0) return { afterMs: remainingMs }
    return await this.#carryOut(key, { pod, progress, waiting }, signal)
  }

  /** Writes the next change to a pod whose containers run one by one. */
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
    progress.waiting = undefined
    const { name: node, address: hostIp } = nodeOf(spec!.nodeName!)
    const elapsed = (event: string, time: string) => this.#elapsed(progress, event, time)
    const next = nextStep(pod, { now: clock.now(), hostIp, podIp: podIp ?? '', elapsed })
    if (next.isGone) await deleteNow(clientOf(node), pod, signal)
    else if (next.status === undefined)
      return sooner(await this.#keepUp(pod, signal), next.afterMs && Math.ceil(next.afterMs / speed))
    else if (await this.#report(pod, next.status, signal)) for (const event of next.events) record(pod, event)
    progress.actedOn = metadata.resourceVersion!
    return 'done'
  }

  /**
   * Returns the simulated time since an event of a pod. Measures from when this process saw the event first, because the
   * time in the status has a precision of one second.
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
    const fresh: Progress = { uid, actedOn: '', waiting: undefined, last: undefined, seen: undefined }
    this.#progress.set(key, fresh)
    return fresh
  }

  /**
   * Returns the stage to wait for. A waiting stage that still applies after a change keeps waiting. Otherwise a new
   * stage is chosen.
   */
  #waiting(progress: Progress, pod: Pod): Progress['waiting'] {
    const { waiting, last } = progress
    const version = pod.metadata.resourceVersion!
    const failure = this.#parts.failureOf(pod)
    const object = asJson(withAnnotations(pod, failure))
    const isSame =
      sameJson(waiting?.failure, failure) && (waiting?.version === version || waiting?.stage.matches(object))
    if (waiting !== undefined && isSame) {
      progress.waiting = { ...waiting, version }
      return progress.waiting
    }
    const stage = chooseStage(this.#parts.stages, object)
    progress.waiting = undefined
    if (stage === undefined) return undefined
    const { clock, speed } = this.#parts
    const delay = delayOf(stage.delay, object, clock.now()) / speed
    const repeated = last?.stage === stage ? last.at + repeatMs : 0
    progress.waiting = { stage, version, failure, due: Math.max(clock.monotonic() + delay, repeated) }
    return progress.waiting
  }

  async #carryOut(
    key: string,
    { pod, progress, waiting: { stage, failure } }: { pod: Pod; progress: Progress; waiting: Waiting },
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    try {
      const podJson = asJson(withAnnotations(pod, failure))
      const outcome = await applyStage(this.#parts, { key, pod, podJson, stage }, signal)
      if (outcome !== 'done') return outcome
    } catch (error) {
      // The pod was changed or deleted. That change triggers the pod again, and a new stage is then chosen.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
    progress.actedOn = pod.metadata.resourceVersion!
    progress.waiting = undefined
    progress.last = { stage, at: this.#parts.clock.monotonic() }
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

  /** Writes the status. Returns false if the pod was changed or deleted, which triggers the pod again. */
  async #report(pod: Pod, status: NonNullable<Pod['status']>, signal: AbortSignal): Promise<boolean> {
    const client = this.#parts.clientOf(pod.spec!.nodeName!)
    try {
      await client.update(kinds.Pod, { ...pod, status }, { subresource: 'status', signal })
      return true
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false
      throw error
    }
  }
}

interface Ending {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  /** Message of the Event. */
  readonly message: string
  /** Message of the status, if it differs from the message of the Event. */
  readonly eventMessage?: string
}

function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/**
 * Maximum duration of one timer in milliseconds. Longer waits are split, because timers of more than 24 days fire
 * immediately.
 */
const maxDelayMs = 60 * 60_000

/** Combines the outcome of a step with another time to reconcile the pod. */
function sooner(outcome: StepOutcome, ms: number | undefined): StepOutcome {
  if (ms === undefined || outcome === 'later') return outcome
  const untilThen = Math.min(ms, maxDelayMs)
  return outcome === 'done' ? { afterMs: untilThen } : { afterMs: Math.min(outcome.afterMs, untilThen) }
}

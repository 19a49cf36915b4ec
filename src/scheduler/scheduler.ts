/**
 * The scheduler as a loop: follows Pods, nodes and what else decides where Pods go, and gives Pods without a node one. The
 * loop has one key, a round: in it Pods are tried one after the other, each by the state that all decisions before it have
 * left. What is decided is written in the background, a bounded number of writes at a time.
 */
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { TaskPool } from '../base/task-pool.ts'
import { type Steps, TimeSlice } from '../base/time-slice.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder } from '../client/event-recorder.ts'
import { objectKey } from '../client/resource-type.ts'
import { isConflict, isNotFound } from '../client/status-error.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Loop } from '../reconcile/loop.ts'
import type { StepOutcome } from '../reconcile/work-queue.ts'
import { errorFields, type Log } from '../telemetry/log.ts'
import { bindingKeys } from '../volumes/annotations.ts'
import { Cluster, placeKeys } from './cluster.ts'
import { explainRefusals } from './explain.ts'
import { findNode, type Search, type SearchState } from './find-node.ts'
import type { NodeInfo } from './node-info.ts'
import { happened, type Refusal, type Sight } from './plugin.ts'
import { type VolumeChoice, volumesFor } from './pod-volumes.ts'
import { PodWrites } from './pod-writes.ts'
import { findPreemption, mayPreempt, type Preemption } from './preemption.ts'
import { defaultProfile, type Profile } from './profile.ts'
import { defaultTiming, type QueuedPod, type QueueTiming, SchedulingQueue } from './queue.ts'
import { type Followed, sourcesOf } from './sources.ts'
import { VolumeReservations } from './volume-reservations.ts'
import { ClaimWaiters, writeVolumes } from './volume-writes.ts'
import { workloadSelectors } from './workload-selector.ts'

export interface SchedulerParts extends Followed {
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: Clock
  readonly log: Log
  readonly settings: SchedulerSettings
}

/** How Pods are placed. */
export interface SchedulerSettings {
  readonly profiles: readonly Profile[]
  /** How many of the nodes are looked at; 0: fewer of them the more there are. */
  readonly percentageOfNodes: number
  readonly timing: QueueTiming
}

/** One profile, as a kube-scheduler without a configuration. */
export const defaultSettings: SchedulerSettings = {
  ...{ profiles: [defaultProfile], percentageOfNodes: 0, timing: defaultTiming },
}

/** How many writes are under way at most. */
const maxWrites = 100
/** How long the volumes of a Pod may take to be bound. */
const volumeTimeoutMs = 10 * 60_000

const round = 'round'

/** The loop that gives Pods their nodes. */
export function schedulerLoop(parts: SchedulerParts): Loop {
  const scheduler = new Scheduler(parts)
  return {
    name: 'scheduler',
    concurrency: 1,
    sources: sourcesOf(parts, scheduler).map(({ feed, listen }) => ({
      feed,
      connect: (add) => {
        scheduler.begin = () => add(round)
        return listen(scheduler.begin)
      },
    })),
    reconcile: (_, signal) => scheduler.round(signal),
    onStop: () => scheduler.stop(),
  }
}

class Scheduler {
  readonly cluster: Cluster
  readonly queue: SchedulingQueue
  readonly claimWaiters: ClaimWaiters
  readonly profiles: ReadonlyMap<string, Profile>
  /** Has a round begin. */
  begin = () => {}
  readonly #parts: SchedulerParts
  readonly #sight: Sight
  readonly #state: SearchState
  readonly #reservations = new VolumeReservations()
  readonly #recorders: ReadonlyMap<string, EventRecorder>
  readonly #writes = new TaskPool(maxWrites)
  readonly #podWrites: PodWrites
  #signal = new AbortController().signal
  /** The first failure of a write since the last round began, which the loop reports. */
  #failure: { readonly error: unknown } | undefined

  constructor(parts: SchedulerParts) {
    const { client, vendor, clock, settings, log } = parts
    this.#parts = parts
    this.cluster = new Cluster(placeKeys(vendor), (name) => parts.namespaces.get({ name })?.metadata.labels)
    this.queue = new SchedulingQueue(() => clock.monotonic(), settings.timing)
    this.profiles = new Map(settings.profiles.map((profile) => [profile.schedulerName, profile]))
    this.claimWaiters = new ClaimWaiters(parts.claims, bindingKeys(vendor))
    this.#state = { percentageOfNodes: settings.percentageOfNodes, start: 0, random: Math.random }
    this.#podWrites = new PodWrites({ client, type: parts.pods.type, now: () => clock.now() })
    const onError = (error: unknown) =>
      log.warn('an event could not be written', { loop: 'scheduler', ...errorFields(error) })
    this.#recorders = new Map(
      [...this.profiles.keys()].map((component) => [
        component,
        new EventRecorder({ client, component, clock, onError }),
      ]),
    )
    const { claims, volumes, classes, csiNodes } = parts
    this.#sight = {
      ...{ cluster: this.cluster, vendor, workloadSelector: workloadSelectors(parts) },
      storage: { claims, volumes, classes, csiNodes, reservations: this.#reservations },
    }
  }

  /** Tries every Pod whose turn it is. Throws what went wrong with a write, so that it is reported as of any loop. */
  async round(signal: AbortSignal): Promise<StepOutcome> {
    this.#signal = signal
    const slice = new TimeSlice()
    this.queue.refresh()
    for (let entry = this.queue.take(); entry !== undefined; entry = this.queue.take()) {
      await this.#tryOne(entry, slice)
      if (signal.aborted) return 'done'
      const pause = this.#writes.room() ?? slice.yieldIfDue()
      if (pause === undefined) continue
      await pause
      slice.begin()
      this.queue.refresh()
    }
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure.error
    const { nextMs } = this.queue
    return nextMs === undefined ? 'done' : { afterMs: nextMs }
  }

  async stop(): Promise<void> {
    await this.#writes.settled()
    for (const recorder of this.#recorders.values()) recorder.stop()
  }

  async #tryOne(entry: QueuedPod, slice: TimeSlice): Promise<void> {
    try {
      await slice.run(this.#try(entry))
    } catch (error) {
      this.#failure ??= { error }
      this.queue.retry(entry)
    }
  }

  *#try(entry: QueuedPod): Steps<void> {
    const { pod } = entry
    const profile = this.profiles.get(pod.spec.schedulerName ?? '')
    if (profile === undefined || pod.isTerminating) return this.queue.done(entry)
    const search: Search = { pod, profile, sight: this.#sight, state: this.#state }
    const found = yield* findNode(search)
    if (!this.queue.holds(entry)) return this.queue.done(entry)
    if ('node' in found) this.#place(entry, found.node)
    else yield* this.#refuse(entry, search, found.refusals)
  }

  /** From here on the Pod counts as placed. */
  #place(entry: QueuedPod, node: NodeInfo): void {
    const { pod } = entry
    const volumes = volumesFor(pod, node, this.#sight)
    if (volumes === undefined && pod.claims.length > 0) {
      this.queue.retry(entry)
      return
    }
    const nomination = this.cluster.nominationOf(pod.key)
    this.cluster.assume(pod, node)
    this.cluster.withdrawNomination(pod.key)
    const release = this.#reserve(volumes, node)
    this.#writes.run(async () => {
      try {
        await this.#bind(entry, node.name, volumes)
      } catch (error) {
        this.cluster.forget(pod)
        if (nomination !== undefined && this.queue.holds(entry)) this.cluster.nominate(pod, nomination)
        this.queue.note(happened.podGone)
        await this.#bindingFailed(entry, error)
      } finally {
        release()
      }
    })
  }

  #reserve(volumes: VolumeChoice | undefined, node: NodeInfo): () => void {
    if (volumes === undefined) return () => {}
    return this.#reservations.reserve({
      volumes: new Map(volumes.matched.map(({ claim, volume }) => [objectKey(claim), volume.metadata.name!])),
      claims: volumes.provisioned.map(objectKey),
      node: node.name,
    })
  }

  async #bind(entry: QueuedPod, node: string, volumes: VolumeChoice | undefined): Promise<void> {
    const { pod } = entry
    const signal = this.#signal
    if (volumes !== undefined) await this.#bindVolumes(volumes, node, signal)
    await this.#podWrites.bind(pod, node, signal)
    this.queue.done(entry)
    const message = `Successfully assigned ${pod.namespace}/${pod.name} to ${node}`
    this.#recorderOf(entry)?.record(pod.pod, { type: 'Normal', reason: 'Scheduled', message })
  }

  async #bindVolumes(volumes: VolumeChoice, node: string, signal: AbortSignal): Promise<void> {
    const { client, claims, volumes: informer, vendor } = this.#parts
    const all = [...volumes.matched.map(({ claim }) => claim), ...volumes.provisioned]
    if (all.length === 0) return
    await writeVolumes({ client, keys: bindingKeys(vendor), claims, volumes: informer }, volumes, { node, signal })
    const waiting = this.claimWaiters.wait(all, { node, timeoutMs: volumeTimeoutMs, signal })
    const why = await this.#writes.outside(waiting)
    if (why !== undefined) throw new Error(`binding volumes: ${why}`)
  }

  async #bindingFailed(entry: QueuedPod, error: unknown): Promise<void> {
    if (this.#signal.aborted) return
    // Somebody was faster, or the Pod is gone: the watch tells which.
    if (!isConflict(error) && !isNotFound(error)) {
      this.#failure ??= { error }
      const message = `binding rejected: ${messageOf(error)}`
      await this.#report(entry, { reason: 'SchedulerError', message, nominatedNode: undefined })
    }
    this.queue.retry(entry)
    this.begin()
  }

  /** The Pod fits nowhere: others make room for it if they can, it is told why, and it waits for what could help it. */
  *#refuse(entry: QueuedPod, search: Search, refusals: ReadonlyMap<NodeInfo, Refusal>): Steps<void> {
    const { pod, profile } = search
    const message = explainRefusals(refusals, this.cluster.nodes.length)
    const parts = { ...search, refusals, budgets: this.#parts.budgets.objects() }
    const preempts = refusals.size > 0 && mayPreempt(parts)
    const preemption = preempts ? yield* findPreemption(parts) : undefined
    if (!this.queue.holds(entry)) return this.queue.done(entry)
    const nominatedNode = preempts ? (preemption?.node.name ?? '') : undefined
    const outranked = preemption === undefined ? [] : this.#outranked(search, preemption)
    if (nominatedNode !== undefined) this.cluster.nominate(pod, nominatedNode)
    const wokenBy = wakeBits(profile, refusals)
    this.#writes.run(async () => {
      try {
        for (const victim of preemption?.victims ?? []) await this.#evict(entry, victim, preemption!.node.name)
        for (const other of outranked) await this.#podWrites.clearNomination(other, this.#signal)
      } catch (error) {
        this.#failure ??= { error }
      }
      await this.#report(entry, { reason: 'Unschedulable', message, nominatedNode })
      this.queue.rest(entry, wokenBy)
      this.begin()
    })
  }

  /** Less important Pods that the node was kept for: they have to look for another. */
  #outranked({ pod }: Search, { node }: Preemption) {
    const others = [...this.cluster.nominatedAt(node.name)].filter(({ priority }) => priority < pod.priority)
    for (const { key } of others) this.cluster.withdrawNomination(key)
    return others
  }

  async #evict(entry: QueuedPod, victim: QueuedPod['pod'], node: string): Promise<void> {
    if (victim.isTerminating) return
    await this.#podWrites.evict(victim, this.#signal)
    const message = `Preempted by ${entry.pod.namespace}/${entry.pod.name} on node ${node}`
    this.#recorderOf(entry)?.record(victim.pod, { type: 'Normal', reason: 'Preempted', message })
  }

  async #report(entry: QueuedPod, unplaced: Parameters<PodWrites['report']>[1]): Promise<void> {
    const { message } = unplaced
    this.#recorderOf(entry)?.record(entry.pod.pod, { type: 'Warning', reason: 'FailedScheduling', message })
    try {
      await this.#podWrites.report(entry.pod, unplaced, this.#signal)
    } catch (error) {
      if (!this.#signal.aborted) this.#failure ??= { error }
    }
  }

  #recorderOf({ pod }: QueuedPod): EventRecorder | undefined {
    return this.#recorders.get(pod.spec.schedulerName ?? '')
  }
}

/** What could help a Pod that was refused like this. */
function wakeBits({ filters }: Profile, refusals: ReadonlyMap<NodeInfo, Refusal>): number {
  const bits = new Map(filters.map(({ name, wokenBy = ~0 }) => [name, wokenBy]))
  const plugins = new Set([...refusals.values()].map(({ plugin }) => plugin))
  return [...plugins].reduce<number>((all, plugin) => all | (bits.get(plugin) ?? ~0), happened.nodeAdded)
}

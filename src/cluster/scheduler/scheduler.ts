/**
 * The scheduler loop. It watches Pods, nodes and all other objects that affect scheduling, and assigns nodes to Pods.
 * The loop has a single key. Each step is a round in which Pods are tried one after another. Each attempt takes the
 * results of all earlier decisions into account. Decisions are written in the background, with a limited number of
 * concurrent writes.
 */
import { type Sliced, TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import { Cluster, placeKeys } from './cluster.ts'
import { type DecisionParts, Decisions } from './decisions.ts'
import type { DeviceWaiters } from './devices/binding-conditions.ts'
import { Inventory } from './devices/inventory.ts'
import { usesDevices } from './devices/pod-devices.ts'
import { explainRefusals } from './explain.ts'
import { findNode, type Search, type SearchState } from './find-node.ts'
import type { NodeInfo } from './node-info.ts'
import { happened, type Refusal, type Sight } from './plugin.ts'
import { findPreemption, mayPreempt } from './preemption.ts'
import { defaultProfile, type Profile } from './profile.ts'
import { defaultTiming, type QueuedPod, type QueueTiming, SchedulingQueue } from './queue.ts'
import { type Change, sourcesOf } from './sources.ts'
import { VolumeReservations } from './volume-reservations.ts'
import type { ClaimWaiters } from './volume-writes.ts'
import { workloadSelectors } from './workload-selector.ts'

export type SchedulerParts = DecisionParts & { readonly settings: SchedulerSettings }

/** Scheduler settings from the configuration file, or their defaults. */
export interface SchedulerSettings {
  readonly profiles: readonly Profile[]
  /**
   * A search stops when it has found this percentage of nodes to be suitable. With 0, the percentage depends on the
   * size of the cluster: the larger the cluster, the lower the percentage.
   */
  readonly percentageOfNodes: number
  readonly timing: QueueTiming
  /** How long the watch may take to show a bound Pod on its node, in milliseconds. Defaults to 30 seconds. */
  readonly confirmMs?: number
}

const defaultConfirmMs = 30_000

/** Settings with a single default profile, as in kube-scheduler without a configuration file. */
export const defaultSettings: SchedulerSettings = {
  profiles: [defaultProfile],
  percentageOfNodes: 0,
  timing: defaultTiming,
}

const changesBetweenSteps = 32

const round = 'round'

/** Creates the scheduler loop. */
export function schedulerLoop(parts: SchedulerParts): Loop {
  const scheduler = new Scheduler(parts)
  return {
    name: 'scheduler',
    concurrency: 1,
    sources: sourcesOf(parts, scheduler).map(({ feed, listen }) => ({
      feed,
      connect: (add) => {
        scheduler.begin = () => add(round)
        return listen((change) => scheduler.take(change))
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
  readonly deviceWaiters: DeviceWaiters | undefined
  readonly profiles: ReadonlyMap<string, Profile>
  /** Requests a scheduling round. Replaced when the loop starts. */
  begin = () => {}
  readonly #parts: SchedulerParts
  readonly #sight: Sight
  readonly #state: SearchState
  readonly #decisions: Decisions
  #changes: Change[] = []

  constructor(parts: SchedulerParts) {
    const { vendor, clock, settings } = parts
    this.#parts = parts
    this.cluster = new Cluster(placeKeys(vendor), (name) => parts.namespaces.get({ name })?.metadata.labels)
    this.queue = new SchedulingQueue(() => clock.monotonic(), settings.timing)
    this.profiles = new Map(settings.profiles.map((profile) => [profile.schedulerName, profile]))
    this.#state = { percentageOfNodes: settings.percentageOfNodes, start: 0, random: Math.random }
    const { claims, volumes, classes, csiNodes } = parts
    this.#sight = {
      cluster: this.cluster,
      vendor,
      workloadSelector: workloadSelectors(parts),
      inventory: parts.devices && new Inventory(parts.devices),
      storage: { claims, volumes, classes, csiNodes, reservations: new VolumeReservations() },
    }
    this.#decisions = new Decisions(parts, {
      sight: this.#sight,
      queue: this.queue,
      begin: () => this.begin(),
      confirmMs: settings.confirmMs ?? defaultConfirmMs,
    })
    this.claimWaiters = this.#decisions.claimWaiters
    this.deviceWaiters = this.#decisions.deviceWaiters
  }

  /** Queues a change to the cluster model. Changes are applied before the next Pod is tried. */
  take(change: Change): void {
    if (this.#changes.push(change) === 1) this.begin()
  }

  /** Tries every Pod that is due. Throws the first failure of a write, so that the loop reports it. */
  async round(signal: AbortSignal): Promise<StepOutcome> {
    this.#decisions.signal = signal
    const slice = new TimeSlice()
    await slice.run(this.#applyChanges())
    for (let entry = this.queue.take(); entry !== undefined; entry = this.queue.take()) {
      await this.#tryOne(entry, slice)
      if (signal.aborted) return 'done'
      await (this.#decisions.room() ?? slice.yieldIfDue())
      await slice.run(this.#applyChanges())
    }
    this.#decisions.throwFailure()
    const { nextMs } = this.queue
    return nextMs === undefined ? 'done' : { afterMs: nextMs }
  }

  async stop(): Promise<void> {
    await this.#decisions.stop()
  }

  *#applyChanges(): Sliced<void> {
    for (let changes = this.#changes; changes.length > 0; changes = this.#changes) {
      this.#changes = []
      for (const [i, change] of changes.entries()) {
        this.#apply(change)
        if (i % changesBetweenSteps === changesBetweenSteps - 1) yield
      }
    }
    this.queue.refresh()
  }

  #apply(change: Change): void {
    try {
      change()
    } catch (error) {
      this.#decisions.fail(error)
    }
  }

  async #tryOne(entry: QueuedPod, slice: TimeSlice): Promise<void> {
    try {
      if (usesDevices(entry.pod)) await this.#sight.inventory?.selectors.load()
      await slice.run(this.#try(entry))
    } catch (error) {
      this.#decisions.fail(error)
      this.queue.retry(entry)
    }
  }

  *#try(entry: QueuedPod): Sliced<void> {
    const { pod } = entry
    const profile = this.profiles.get(pod.spec.schedulerName ?? '')
    if (profile === undefined || pod.isTerminating) return this.queue.done(entry)
    const search: Search = { pod, profile, sight: this.#sight, state: this.#state }
    const outcome = yield* findNode(search)
    if (!this.queue.holds(entry)) return this.queue.done(entry)
    if ('node' in outcome) this.#decisions.place(entry, outcome.node)
    else yield* this.#refuse(entry, search, outcome.refusals)
  }

  /**
   * Handles a Pod that fits on no node: tries preemption, reports the reason, and puts the Pod back into the queue,
   * where it waits for a relevant change.
   */
  *#refuse(entry: QueuedPod, search: Search, refusals: ReadonlyMap<NodeInfo, Refusal>): Sliced<void> {
    const message = explainRefusals(refusals, this.cluster.nodes.length)
    const parts = { ...search, refusals, budgets: this.#parts.budgets.objects() }
    const preempts = refusals.size > 0 && mayPreempt(parts)
    const preemption = preempts ? yield* findPreemption(parts) : undefined
    if (!this.queue.holds(entry)) return this.queue.done(entry)
    const wokenBy = wakeBits(search.profile, refusals)
    const nominatedNode = preempts ? (preemption?.node.name ?? '') : undefined
    this.#decisions.refuse(entry, { message, nominatedNode, preemption, wokenBy })
  }
}

/** Returns a bit set of the changes after which a Pod that fits on no node should be retried. */
function wakeBits({ filters }: Profile, refusals: ReadonlyMap<NodeInfo, Refusal>): number {
  const bits = new Map(filters.map(({ name, wokenBy = ~0 }) => [name, wokenBy]))
  const plugins = new Set([...refusals.values()].map(({ plugin }) => plugin))
  return [...plugins].reduce<number>((all, plugin) => all | (bits.get(plugin) ?? ~0), happened.nodeAdded)
}

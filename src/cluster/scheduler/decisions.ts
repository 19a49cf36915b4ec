/**
 * Carries out the scheduler's decisions in the background, with a limited number of concurrent writes: binds Pods to
 * nodes (volumes first), reports why Pods cannot be scheduled, and evicts preempted Pods. Failed decisions are undone
 * and retried later.
 */

import { timestamp } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { TaskPool } from '../../base/concurrency/task-pool.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { Clock } from '../../base/time/clock.ts'
import { EventRecorder } from '../../client/informers/event-recorder.ts'
import type { Client } from '../../client/requests/client.ts'
import { objectKey } from '../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../client/requests/status-error.ts'
import { bindingKeys } from '../volumes/annotations.ts'
import { BoundPods } from './bound-pods.ts'
import type { Cluster } from './cluster.ts'
import { DeviceWaiters, releaseClaims } from './devices/binding-conditions.ts'
import { chooseDevices, type DeviceChoice, deviceClaimsOf, usesDevices, writeDevices } from './devices/pod-devices.ts'
import { SearchBudget } from './devices/search-budget.ts'
import type { NodeInfo } from './node-info.ts'
import { happened, type Sight } from './plugin.ts'
import { PodInfo } from './pod-info.ts'
import { type VolumeChoice, volumesFor } from './pod-volumes.ts'
import { PodWrites, type Unplaced } from './pod-writes.ts'
import type { Preemption } from './preemption.ts'
import type { QueuedPod, SchedulingQueue } from './queue.ts'
import type { Followed } from './sources.ts'
import { ClaimWaiters, writeVolumes } from './volume-writes.ts'

export interface DecisionParts extends Followed {
  /** Whether an evicted Pod gets the condition DisruptionTarget. */
  readonly recordsDisruption: boolean
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: Clock
  readonly log: Log
}

/** The model and queue that the decisions update, so that the next decision takes them into account. */
interface Deciding {
  readonly sight: Sight
  readonly queue: SchedulingQueue
  /** Requests another scheduling round. */
  readonly begin: () => void
  /** How long the watch may take to show a bound Pod on its node, in milliseconds. */
  readonly confirmMs: number
}

/** The reason why a Pod fits on no node, and how to proceed: by preemption or by waiting for a change. */
export interface RefusedPod {
  readonly message: string
  /** The nominated node. An empty name clears the nomination, and undefined leaves it unchanged. */
  readonly nominatedNode: string | undefined
  readonly preemption: Preemption | undefined
  /** Bit set of the changes that could make the Pod schedulable. */
  readonly wokenBy: number
}

/** The chosen volumes and devices, which must be written before the Pod is bound. */
interface Needs {
  readonly volumes: VolumeChoice | undefined
  readonly devices: DeviceChoice | undefined
}

/** Maximum number of concurrent writes. */
const maxWrites = 100
/** Maximum time for binding a Pod's volumes, in milliseconds. */
const volumeTimeoutMs = 10 * 60_000

export class Decisions {
  readonly claimWaiters: ClaimWaiters
  /** Undefined if the server does not support dynamic resource allocation. */
  readonly deviceWaiters: DeviceWaiters | undefined
  /** Aborts when the scheduler stops. After that, no writes are started. */
  signal: AbortSignal = new AbortController().signal
  readonly #parts: DecisionParts
  readonly #sight: Sight
  readonly #cluster: Cluster
  readonly #queue: SchedulingQueue
  readonly #begin: () => void
  /** Recorders by scheduler name. */
  readonly #recorders = new Map<string, EventRecorder>()
  readonly #writes = new TaskPool(maxWrites)
  readonly #podWrites: PodWrites
  readonly #boundPods: BoundPods
  #failure: { readonly error: unknown } | undefined

  constructor(parts: DecisionParts, { sight, queue, begin, confirmMs }: Deciding) {
    const { client, clock, vendor } = parts
    this.#parts = parts
    this.#sight = sight
    this.#cluster = sight.cluster
    this.#queue = queue
    this.#begin = begin
    this.claimWaiters = new ClaimWaiters(parts.claims, bindingKeys(vendor))
    this.deviceWaiters = sight.inventory && new DeviceWaiters(sight.inventory)
    this.#podWrites = new PodWrites({
      client,
      type: parts.pods.type,
      now: () => clock.now(),
      recordsDisruption: parts.recordsDisruption,
    })
    this.#boundPods = new BoundPods({
      confirmMs,
      isUnconfirmed: (pod) => this.#cluster.isAssumed(pod),
      check: (pod) => this.#writes.run(() => this.#checkBound(pod)),
    })
  }

  /** Resolves when there is capacity for another write. Undefined if there is capacity now. */
  room(): Promise<void> | undefined {
    return this.#writes.room()
  }

  /** Stores a failure until `throwFailure` is called. */
  fail(error: unknown): void {
    if (!this.signal.aborted) this.#failure ??= { error }
  }

  /** Throws the first stored failure, so that the loop reports it. */
  throwFailure(): void {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure.error
  }

  async stop(): Promise<void> {
    this.#boundPods.stop()
    await this.#writes.settled()
    for (const recorder of this.#recorders.values()) recorder.stop()
  }

  /** Assigns the Pod to a node. From now on, the Pod is assumed to be on the node. */
  place(entry: QueuedPod, node: NodeInfo): void {
    const { pod } = entry
    const volumes = volumesFor(pod, node, this.#sight)
    if (volumes === undefined && pod.claims.length > 0) {
      this.#queue.retry(entry)
      return
    }
    const devices = this.#devicesFor(pod, node)
    if (devices === 'gone') {
      this.#queue.retry(entry)
      return
    }
    const nomination = this.#cluster.nominationOf(pod.key)
    this.#cluster.assume(pod, node)
    this.#cluster.withdrawNomination(pod.key)
    const release = this.#reserve(volumes, node)
    const reservedDevices = this.#reserveDevices(devices)
    this.#writes.run(async () => {
      try {
        await this.#bind(entry, node.name, { volumes, devices })
      } catch (error) {
        for (const releaseDevice of reservedDevices) releaseDevice()
        this.#cluster.forget(pod)
        if (nomination !== undefined && this.#queue.holds(entry)) this.#cluster.nominate(pod, nomination)
        this.#queue.note(happened.podGone)
        await this.#bindingFailed(entry, error)
      } finally {
        release()
      }
    })
  }

  /** Chooses devices for a Pod on a node. Returns `gone` if another Pod has taken the devices in the meantime. */
  #devicesFor(pod: PodInfo, node: NodeInfo): DeviceChoice | undefined | 'gone' {
    const { inventory } = this.#sight
    if (inventory === undefined || !usesDevices(pod)) return undefined
    const claims = deviceClaimsOf(pod, inventory)
    const choice = 'reasons' in claims ? claims : chooseDevices(claims, { node, inventory, budget: new SearchBudget() })
    return 'reasons' in choice ? 'gone' : choice
  }

  #reserveDevices(choice: DeviceChoice | undefined): (() => void)[] {
    const { inventory } = this.#sight
    if (choice === undefined || inventory === undefined) return []
    return [...choice.allocations].map(([claim, allocation]) => inventory.reserve(claim, allocation))
  }

  #reserve(volumes: VolumeChoice | undefined, node: NodeInfo): () => void {
    if (volumes === undefined) return () => {}
    return this.#sight.storage.reservations.reserve({
      volumes: new Map(volumes.matched.map(({ claim, volume }) => [objectKey(claim), volume.metadata.name!])),
      claims: volumes.provisioned.map(objectKey),
      node: node.name,
    })
  }

  async #bind(entry: QueuedPod, node: string, { volumes, devices }: Needs): Promise<void> {
    const { pod } = entry
    const signal = this.signal
    if (volumes !== undefined) await this.#bindVolumes(volumes, node, signal)
    if (devices !== undefined) await this.#bindDevices(devices, pod)
    await this.#podWrites.bind(pod, node, signal)
    this.#queue.done(entry)
    this.#boundPods.add(pod)
    const message = `Successfully assigned ${pod.namespace}/${pod.name} to ${node}`
    this.#recorderOf(entry).record(pod.pod, { type: 'Normal', reason: 'Scheduled', message })
  }

  /** Reads a bound Pod that the watch has not shown on its node. If the Pod has no node, it is scheduled again. */
  async #checkBound(pod: PodInfo): Promise<void> {
    const { client, pods } = this.#parts
    const { namespace, name, uid } = pod
    try {
      const live = await client.get(pods.type, { namespace, name }, { signal: this.signal })
      if (!this.#cluster.isAssumed(pod)) return
      if (live.metadata.uid === uid && live.spec?.nodeName) return this.#boundPods.add(pod)
      this.#cluster.forget(pod)
      this.#queue.note(happened.podGone)
      if (live.metadata.uid === uid) this.#queue.set(new PodInfo(live), { isChanged: true })
      this.#begin()
    } catch (error) {
      if (this.signal.aborted) return
      if (isNotFound(error)) this.#cluster.forget(pod)
      else {
        this.fail(error)
        this.#boundPods.add(pod)
      }
    }
  }

  async #bindDevices(choice: DeviceChoice, pod: PodInfo): Promise<void> {
    const { client, clock, vendor, devices } = this.#parts
    const { signal } = this
    const { type } = devices!.resourceClaims
    const parts = { client, vendor, type, signal }
    const now = clock.now()
    await writeDevices(parts, choice, { pod, time: devices!.recordsTime ? timestamp(now) : undefined })
    const claims = [...choice.allocated, ...choice.allocations.keys()]
    const why = await this.#writes.outside(this.deviceWaiters!.wait(claims, { now, signal }))
    if (why === undefined) return
    if (!signal.aborted) await releaseClaims(parts, claims, pod.uid)
    throw new Error(`binding devices: ${why}`)
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
    if (this.signal.aborted) return
    // On a conflict or a 404, nothing needs to be reported: the watch will deliver the change to the Pod.
    if (!isConflict(error) && !isNotFound(error)) {
      this.fail(error)
      const message = `binding rejected: ${messageOf(error)}`
      await this.#report(entry, { reason: 'SchedulerError', message, nominatedNode: undefined })
    }
    this.#queue.retry(entry)
    this.#begin()
  }

  /**
   * Handles an unschedulable Pod: reports the reason, puts the Pod back into the queue, and evicts the Pods that it
   * preempts.
   */
  refuse(entry: QueuedPod, { message, nominatedNode, preemption, wokenBy }: RefusedPod): void {
    const outranked = preemption === undefined ? [] : this.#outranked(entry, preemption)
    if (nominatedNode !== undefined) this.#cluster.nominate(entry.pod, nominatedNode)
    for (const victim of preemption?.victims ?? []) this.#cluster.markGoing(victim)
    this.#writes.run(async () => {
      try {
        for (const victim of preemption?.victims ?? []) await this.#evict(entry, victim, preemption!.node.name)
        for (const other of outranked) await this.#podWrites.clearNomination(other, this.signal)
      } catch (error) {
        this.fail(error)
      }
      await this.#report(entry, { reason: 'Unschedulable', message, nominatedNode })
      this.#queue.rest(entry, wokenBy)
      this.#begin()
    })
  }

  /** Withdraws the nominations of lower-priority Pods for this node, and returns these Pods. */
  #outranked({ pod }: QueuedPod, { node }: Preemption): PodInfo[] {
    const others = [...this.#cluster.nominatedAt(node.name)].filter(({ priority }) => priority < pod.priority)
    for (const { key } of others) this.#cluster.withdrawNomination(key)
    return others
  }

  async #evict(entry: QueuedPod, victim: PodInfo, node: string): Promise<void> {
    if (victim.isTerminating) return
    try {
      await this.#podWrites.evict(victim, entry.pod, this.signal)
    } catch (error) {
      this.#cluster.unmarkGoing(victim)
      throw error
    }
    const message = `Preempted by ${entry.pod.namespace}/${entry.pod.name} on node ${node}`
    this.#recorderOf(entry).record(victim.pod, { type: 'Normal', reason: 'Preempted', message })
  }

  async #report(entry: QueuedPod, unplaced: Unplaced): Promise<void> {
    const { message } = unplaced
    this.#recorderOf(entry).record(entry.pod.pod, { type: 'Warning', reason: 'FailedScheduling', message })
    try {
      await this.#podWrites.report(entry.pod, unplaced, this.signal)
    } catch (error) {
      this.fail(error)
    }
  }

  #recorderOf({ pod }: QueuedPod): EventRecorder {
    const component = pod.spec.schedulerName ?? ''
    const { client, clock, log } = this.#parts
    const onError = (error: unknown) => log.warn('cannot record event', { loop: 'scheduler', ...errorFields(error) })
    const recorder = this.#recorders.get(component) ?? new EventRecorder({ client, component, clock, onError })
    this.#recorders.set(component, recorder)
    return recorder
  }
}

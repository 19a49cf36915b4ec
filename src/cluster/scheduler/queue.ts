/**
 * The queue of Pods that need a node. Ready Pods are ordered by priority, then by time. A Pod that fits on no node
 * waits until a change could make it schedulable, but at least for a backoff time that grows with each attempt. After
 * one minute, the Pod is retried even without a change. Pods are therefore neither retried too often nor forgotten.
 *
 * Changes are collected and evaluated once per round (`refresh`), regardless of their number.
 */
import { Heap } from '../../base/collections/heap.ts'
import type { PodInfo } from './pod-info.ts'

/** Backoff and maximum waiting time of the scheduling queue, in milliseconds. */
export interface QueueTiming {
  readonly firstBackoffMs: number
  readonly maxBackoffMs: number
  /** Time in milliseconds after which an unschedulable Pod is retried even without a change. */
  readonly maxRestMs: number
}

export const defaultTiming: QueueTiming = { firstBackoffMs: 1_000, maxBackoffMs: 10_000, maxRestMs: 60_000 }

type Place = 'ready' | 'backing off' | 'resting' | 'being tried'

export interface QueuedPod {
  pod: PodInfo
  place: Place
  /** Time when the Pod entered its current state, in milliseconds on the queue's clock. */
  since: number
  attempts: number
  /** Time when the Pod's backoff ends, after which it may be tried again. */
  notBefore: number
  /**
   * Bit set of the changes that could make the Pod schedulable. All bits are set if the reason for the failure is
   * unknown.
   */
  wokenBy: number
  /** Bit set of the changes that occurred while the Pod was being tried. */
  missed: number
}

const anything = ~0

/** Contains the Pods that need a node, and decides which Pod to try next and when to retry a Pod. */
export class SchedulingQueue {
  readonly #timing: QueueTiming
  readonly #now: () => number
  readonly #pods = new Map<string, QueuedPod>()
  /** Pods that are ready to be tried. If a Pod's state changes, its entry becomes stale and is skipped. */
  readonly #ready = new Heap<QueuedPod>(comesBefore)
  readonly #backingOff = new Heap<{ readonly entry: QueuedPod; readonly at: number }>((a, b) => a.at < b.at)
  /** Unschedulable Pods, ordered by waiting time, longest first. */
  readonly #resting = new Set<QueuedPod>()
  readonly #tried = new Set<QueuedPod>()
  #happened = 0

  /** Creates a queue. `now` returns milliseconds and never decreases. */
  constructor(now: () => number, timing: QueueTiming = defaultTiming) {
    this.#now = now
    this.#timing = timing
  }

  get size(): number {
    return this.#pods.size
  }

  /** Whether the queue still contains this entry. */
  holds(entry: QueuedPod): boolean {
    return this.#pods.get(entry.pod.key) === entry
  }

  /** Adds an unscheduled Pod or updates it. `isChanged` means that the update may make the Pod schedulable. */
  set(pod: PodInfo, { isChanged }: { readonly isChanged: boolean }): void {
    const queuedPod = this.#pods.get(pod.key)
    if (queuedPod !== undefined && queuedPod.pod.uid === pod.uid) {
      // An update leaves the Pod's position in the queue unchanged, because priority and queueing time are fixed.
      queuedPod.pod = pod
      if (queuedPod.place === 'being tried') queuedPod.missed |= isChanged ? anything : 0
      else if (isChanged && queuedPod.place === 'resting') this.#wake(queuedPod)
      return
    }
    this.remove(pod.key)
    const since = this.#now()
    const entry: QueuedPod = { pod, place: 'ready', since, attempts: 0, notBefore: 0, wokenBy: anything, missed: 0 }
    this.#pods.set(pod.key, entry)
    this.#ready.push(entry)
  }

  remove(key: string): void {
    const entry = this.#pods.get(key)
    if (entry === undefined) return
    this.#pods.delete(key)
    this.#resting.delete(entry)
  }

  /** Records a bit set of cluster changes that may make Pods schedulable. */
  note(bits: number): void {
    this.#happened |= bits
    for (const entry of this.#tried) entry.missed |= bits
  }

  /** Makes Pods ready if their backoff or wait has ended or a relevant change has occurred. */
  refresh(): void {
    const now = this.#now()
    if (this.#happened !== 0) {
      for (const entry of [...this.#resting]) if ((entry.wokenBy & this.#happened) !== 0) this.#wake(entry)
      this.#happened = 0
    }
    for (const entry of this.#resting) {
      if (now - entry.since < this.#timing.maxRestMs) break
      this.#wake(entry)
    }
    for (let first = this.#backingOff.peek(); first !== undefined && first.at <= now; first = this.#backingOff.peek()) {
      this.#backingOff.pop()
      if (this.#isCurrent(first.entry, 'backing off') && first.entry.notBefore === first.at)
        this.#makeReady(first.entry)
    }
  }

  /** Returns the next Pod to try, and marks it as being tried. */
  take(): QueuedPod | undefined {
    for (let entry = this.#ready.pop(); entry !== undefined; entry = this.#ready.pop()) {
      if (!this.#isCurrent(entry, 'ready')) continue
      entry.place = 'being tried'
      entry.missed = 0
      entry.attempts++
      this.#tried.add(entry)
      return entry
    }
    return undefined
  }

  /** Removes a Pod that has been assigned a node. */
  done(entry: QueuedPod): void {
    this.#tried.delete(entry)
    if (this.holds(entry)) this.#pods.delete(entry.pod.key)
  }

  /** Puts back a Pod that fits on no node. `wokenBy` is the bit set of changes that could make the Pod schedulable. */
  rest(entry: QueuedPod, wokenBy: number): void {
    if (!this.#return(entry)) return
    entry.wokenBy = wokenBy
    entry.place = 'resting'
    this.#resting.add(entry)
    if ((entry.missed & wokenBy) !== 0) this.#wake(entry)
  }

  /**
   * Puts back a Pod for another attempt after its backoff, because the last attempt failed for reasons unrelated to the
   * Pod.
   */
  retry(entry: QueuedPod): void {
    if (this.#return(entry)) this.#backOff(entry)
  }

  /** Returns the milliseconds until the next Pod becomes due without a change, or undefined if no Pod is waiting. */
  get nextMs(): number | undefined {
    const now = this.#now()
    if (this.#ready.size > 0) return 0
    const times: number[] = []
    const backing = this.#backingOff.peek()
    if (backing !== undefined) times.push(backing.at - now)
    const [oldest] = this.#resting
    if (oldest !== undefined) times.push(oldest.since + this.#timing.maxRestMs - now)
    return times.length === 0 ? undefined : Math.max(0, Math.ceil(Math.min(...times)))
  }

  /** Ends the attempt to schedule a Pod. Returns whether the Pod still needs a node. */
  #return(entry: QueuedPod): boolean {
    this.#tried.delete(entry)
    const { firstBackoffMs, maxBackoffMs } = this.#timing
    const now = this.#now()
    entry.since = now
    entry.notBefore = now + Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(entry.attempts - 1, 30))
    return this.holds(entry)
  }

  #wake(entry: QueuedPod): void {
    this.#resting.delete(entry)
    if (entry.notBefore > this.#now()) this.#backOff(entry)
    else this.#makeReady(entry)
  }

  #backOff(entry: QueuedPod): void {
    entry.place = 'backing off'
    this.#backingOff.push({ entry, at: entry.notBefore })
  }

  #makeReady(entry: QueuedPod): void {
    entry.place = 'ready'
    this.#ready.push(entry)
  }

  #isCurrent(entry: QueuedPod, place: Place): boolean {
    return entry.place === place && this.holds(entry)
  }
}

function comesBefore(a: QueuedPod, b: QueuedPod): boolean {
  return a.pod.priority > b.pod.priority || (a.pod.priority === b.pod.priority && a.since < b.since)
}

/**
 * The Pods that need a node. Those that can be tried wait in the order of their priority, then of their time. Those that
 * fitted nowhere rest until something happens that could help them, at least for a back-off that grows with each attempt;
 * after a minute they are tried in any case. So nothing is tried again and again for nothing, and nothing is forgotten.
 *
 * What happens is gathered and looked at once per round (`refresh`), however much it is.
 */
import { Heap } from '../../base/collections/heap.ts'
import type { PodInfo } from './pod-info.ts'

/** How long Pods rest. */
export interface QueueTiming {
  readonly firstBackoffMs: number
  readonly maxBackoffMs: number
  /** After which a Pod that fits nowhere is tried again, whatever happened. */
  readonly maxRestMs: number
}

export const defaultTiming: QueueTiming = { firstBackoffMs: 1_000, maxBackoffMs: 10_000, maxRestMs: 60_000 }

type Place = 'ready' | 'backing off' | 'resting' | 'being tried'

/** A Pod in the queue. */
export interface QueuedPod {
  pod: PodInfo
  place: Place
  /** When it came to where it is, by the clock of the queue. */
  since: number
  attempts: number
  /** When it may be tried again. */
  notBefore: number
  /** What could help it, as bits; all of them where nobody knows. */
  wokenBy: number
  /** What happened while it was being tried. */
  missed: number
}

const anything = ~0

/** Which Pods are tried when. */
export class SchedulingQueue {
  readonly #timing: QueueTiming
  readonly #now: () => number
  readonly #pods = new Map<string, QueuedPod>()
  /** May hold what has left since: an entry counts only if it is as it was when it was pushed. */
  readonly #ready = new Heap<QueuedPod>(comesBefore)
  readonly #backingOff = new Heap<{ readonly entry: QueuedPod; readonly at: number }>((a, b) => a.at < b.at)
  /** The one that has rested longest first. */
  readonly #resting = new Set<QueuedPod>()
  readonly #tried = new Set<QueuedPod>()
  #happened = 0

  /** `now` in milliseconds, never falling. */
  constructor(now: () => number, timing: QueueTiming = defaultTiming) {
    this.#now = now
    this.#timing = timing
  }

  get size(): number {
    return this.#pods.size
  }

  /** Whether the Pod still needs a node. */
  holds(entry: QueuedPod): boolean {
    return this.#pods.get(entry.pod.key) === entry
  }

  /** A Pod that needs a node, or another state of it. One that was changed may fit now. */
  set(pod: PodInfo, { isChanged }: { readonly isChanged: boolean }): void {
    const known = this.#pods.get(pod.key)
    if (known !== undefined && known.pod.uid === pod.uid) {
      // Its place in the order stays: neither its priority nor its time can change.
      known.pod = pod
      if (known.place === 'being tried') known.missed |= isChanged ? anything : 0
      else if (isChanged && known.place === 'resting') this.#wake(known)
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

  /** Something happened that may help Pods: bits. */
  note(bits: number): void {
    this.#happened |= bits
    for (const entry of this.#tried) entry.missed |= bits
  }

  /** Lets Pods be tried whose time has come, or which something happened for. */
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

  /** The next Pod to try, which is being tried from now on. */
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

  /** The Pod has a node. */
  done(entry: QueuedPod): void {
    this.#tried.delete(entry)
    if (this.holds(entry)) this.#pods.delete(entry.pod.key)
  }

  /** The Pod fits nowhere; this could help it, as bits. */
  rest(entry: QueuedPod, wokenBy: number): void {
    if (!this.#return(entry)) return
    entry.wokenBy = wokenBy
    entry.place = 'resting'
    this.#resting.add(entry)
    if ((entry.missed & wokenBy) !== 0) this.#wake(entry)
  }

  /** The attempt failed for a reason that is not the Pod's: it is tried again after its back-off. */
  retry(entry: QueuedPod): void {
    if (this.#return(entry)) this.#backOff(entry)
  }

  /** After how many milliseconds the next Pod can be tried that nothing else wakes; undefined for none. */
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

  /** Whether the Pod still needs a node, now that it is no longer being tried. */
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

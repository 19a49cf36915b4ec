/**
 * Tracks Pods from the time when the server acknowledges their binding until the watch shows them on their node. If a
 * restore of the store undoes a binding before the watch has delivered it, no event would ever confirm the Pod, and the
 * scheduler would treat it as assigned to the node forever. The scheduler therefore checks Pods that the watch does not
 * confirm in time.
 */
import type { PodInfo } from './pod-info.ts'

export interface BoundPodsParts {
  /** How long the watch may take to show a Pod on its node, in milliseconds. */
  readonly confirmMs: number
  /** Returns whether the scheduler is still waiting for the watch to show the Pod on its node. */
  readonly isUnconfirmed: (pod: PodInfo) => boolean
  /** Called for a Pod that the watch did not show on its node in time. */
  readonly check: (pod: PodInfo) => void
}

interface BoundPod {
  readonly pod: PodInfo
  /** When to check the Pod, on the monotonic clock. */
  readonly due: number
}

export class BoundPods {
  readonly #parts: BoundPodsParts
  /** Unconfirmed Pods, ordered by due time. */
  readonly #pods = new Map<string, BoundPod>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: BoundPodsParts) {
    this.#parts = parts
  }

  add(pod: PodInfo): void {
    this.#pods.delete(pod.key)
    this.#pods.set(pod.key, { pod, due: performance.now() + this.#parts.confirmMs })
    this.#timer ??= this.#wait(this.#parts.confirmMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#pods.clear()
  }

  #wait(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#checkDue(), ms).unref()
  }

  #checkDue(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const [key, { pod, due }] of this.#pods) {
      if (due > now) {
        this.#timer = this.#wait(due - now)
        return
      }
      this.#pods.delete(key)
      if (this.#parts.isUnconfirmed(pod)) this.#parts.check(pod)
    }
  }
}

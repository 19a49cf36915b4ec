/** Builds the status of a HorizontalPodAutoscaler during one reconcile. */
import type { HorizontalPodAutoscaler } from '../../../api/kinds/autoscaling/horizontal-pod-autoscaler.ts'

type Status = NonNullable<HorizontalPodAutoscaler['status']>
type Conditions = NonNullable<Status['conditions']>

export class AutoscalerStatus {
  readonly autoscaler: HorizontalPodAutoscaler
  readonly #now: string
  #value: Status

  constructor(autoscaler: HorizontalPodAutoscaler, now: string) {
    this.autoscaler = autoscaler
    this.#now = now
    const { generation } = autoscaler.metadata
    this.#value = { ...autoscaler.status, ...(generation === undefined ? {} : { observedGeneration: generation }) }
  }

  get value(): Status {
    return this.#value
  }

  set(change: Partial<Status>): void {
    this.#value = { ...this.#value, ...change }
  }

  /** Sets a condition. The last transition time changes only when the condition's status changes. */
  condition(type: string, status: 'True' | 'False', { reason, message }: { reason: string; message: string }): void {
    const conditions: Conditions = this.#value.conditions ?? []
    const place = conditions.findIndex((each) => each.type === type)
    const before = conditions[place]
    const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? this.#now) : this.#now
    const next = { type, status, lastTransitionTime, reason, message }
    this.#value = {
      ...this.#value,
      conditions: place < 0 ? [...conditions, next] : conditions.with(place, next),
    }
  }
}

/** Forwards the log lines, metrics and readiness of the simulation thread to the API server. */
import type { LoopRecords } from '../../client/reconcile/loop.ts'
import type { QueueSeries } from '../../client/reconcile/work-queue.ts'
import type { QueueReport, RecordMessage } from './messages.ts'

interface Queue {
  readonly series: QueueSeries
  /** Queue state in the thread's latest report. */
  readonly state: { depth: number; underWaySeconds: readonly number[] }
}

export class HostRecords {
  readonly #records: LoopRecords
  readonly #queues = new Map<string, Queue>()
  /** Keys that could not be reconciled because a loop lacks a permission. */
  readonly #refused = new Map<string, readonly [loop: string, key: string]>()

  constructor(records: LoopRecords) {
    this.#records = records
  }

  receive(message: RecordMessage): void {
    if (message.type === 'log') this.#records.log[message.severity](message.message, message.fields)
    else if (message.type === 'queues') for (const report of message.reports) this.#count(report)
    else this.#setRight(message)
  }

  /**
   * Resets the state of the thread's loops after the thread has ended: the queues are empty, and no permissions are
   * missing.
   */
  clear(): void {
    for (const { state } of this.#queues.values()) Object.assign(state, { depth: 0, underWaySeconds: [] })
    for (const [loop, key] of this.#refused.values()) this.#records.missingRights.has(loop, key)
    this.#refused.clear()
  }

  #setRight({ loop, key, refusal }: Extract<RecordMessage, { type: 'right' }>): void {
    const { missingRights } = this.#records
    if (refusal === undefined) {
      missingRights.has(loop, key)
      this.#refused.delete(`${loop} ${key}`)
    } else {
      missingRights.lacks(loop, key, new Error(refusal))
      this.#refused.set(`${loop} ${key}`, [loop, key])
    }
  }

  #count(report: QueueReport): void {
    const { series, state } = this.#queueOf(report.name)
    series.adds.value += report.adds
    series.retries.value += report.retries
    for (const seconds of report.waitingSeconds) series.waiting.observe(seconds)
    for (const seconds of report.workingSeconds) series.working.observe(seconds)
    Object.assign(state, { depth: report.depth, underWaySeconds: report.underWaySeconds })
  }

  #queueOf(name: string): Queue {
    const existing = this.#queues.get(name)
    if (existing !== undefined) return existing
    const state = { depth: 0, underWaySeconds: [] }
    const queue = { state, series: this.#records.metrics.open(name, state) }
    this.#queues.set(name, queue)
    return queue
  }
}

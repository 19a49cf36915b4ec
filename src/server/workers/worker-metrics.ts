/**
 * The metrics of all workers in one response. The worker that received the request sends its own metrics and requests
 * the metrics of all other workers. If a worker does not respond in time, its last known values are used. The counters
 * of workers that have exited remain in the sum, so that counters never decrease.
 */
import { exposePage } from '../../base/telemetry/exposition.ts'
import { MetricSums } from '../../base/telemetry/metric-sums.ts'
import type { ToSupervisor, WorkerPort } from '../threads/messages.ts'

type MetricMessage = Extract<ToSupervisor, { metrics: unknown }>

const answerMs = 500

export class WorkerMetrics {
  readonly #sums = new MetricSums<WorkerPort>()
  readonly #workers = new Set<WorkerPort>()
  readonly #pendingReplies = new Map<number, () => void>()
  #lastId = 0

  add(worker: WorkerPort): void {
    this.#workers.add(worker)
  }

  remove(worker: WorkerPort): void {
    this.#workers.delete(worker)
    this.#sums.end(worker)
  }

  receive(worker: WorkerPort, message: MetricMessage): void {
    if (!this.#workers.has(worker)) return
    this.#sums.update(worker, message.metrics)
    if (message.type === 'samples') this.#pendingReplies.get(message.id)?.()
    else void this.#answer(worker, message)
  }

  async #answer(asking: WorkerPort, { id, page }: Extract<MetricMessage, { page: unknown }>): Promise<void> {
    const others = [...this.#workers].filter((worker) => worker !== asking)
    await Promise.all(others.map((worker) => this.#ask(worker)))
    const exposition = await exposePage(this.#sums.total(), page)
    asking.postMessage({ type: 'exposition', id, exposition })
  }

  #ask(worker: WorkerPort): Promise<void> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#pendingReplies.delete(id)
        resolve()
      }
      const timer = setTimeout(done, answerMs)
      this.#pendingReplies.set(id, done)
      worker.postMessage({ type: 'sample', id })
    })
  }
}

/** Work-queue metrics of control loops, by loop name. */
import { Counter, Gauge, Histogram, type Metric } from '../../base/telemetry/metrics.ts'
import type { QueueSeries, QueueState } from './work-queue.ts'

/** Histogram buckets from ten nanoseconds to ten seconds. */
const durations = Array.from({ length: 10 }, (_, i) => 1e-8 * 10 ** i)
const labels = ['name']

/** Metrics of all work queues. */
export class WorkQueueMetrics {
  readonly #queues = new Map<string, QueueState>()
  readonly #adds = counter('workqueue_adds_total', 'Number of keys added to the queue.')
  readonly #retries = counter(
    'workqueue_retries_total',
    'Number of keys that were requeued because they failed or were not finished.',
  )
  readonly #waiting = histogram('workqueue_queue_duration_seconds', 'Time that keys waited in the queue, in seconds.')
  readonly #working = histogram('workqueue_work_duration_seconds', 'Time to process a key, in seconds.')
  readonly metrics: readonly Metric[] = [
    this.#adds,
    this.#retries,
    this.#waiting,
    this.#working,
    this.#gauge('workqueue_depth', 'Number of waiting keys.', ({ depth }) => depth),
    this.#gauge(
      'workqueue_unfinished_work_seconds',
      'Total time spent on work in progress, in seconds.',
      ({ underWaySeconds }) => underWaySeconds.reduce((sum, seconds) => sum + seconds, 0),
    ),
    this.#gauge(
      'workqueue_longest_running_processor_seconds',
      'Time spent on the longest-running work in progress, in seconds.',
      ({ underWaySeconds }) => Math.max(0, ...underWaySeconds),
    ),
  ]

  /** Registers a queue and returns its series. */
  open(name: string, queue: QueueState): QueueSeries {
    this.#queues.set(name, queue)
    return {
      adds: this.#adds.at(name),
      retries: this.#retries.at(name),
      waiting: this.#waiting.at(name),
      working: this.#working.at(name),
    }
  }

  #gauge(name: string, help: string, read: (queue: QueueState) => number): Gauge {
    return new Gauge({ name, help, labels }, () =>
      [...this.#queues].map(([queue, state]) => [[queue], read(state)] as const),
    )
  }
}

function counter(name: string, help: string): Counter {
  return new Counter({ name, help, labels })
}

function histogram(name: string, help: string): Histogram {
  return new Histogram({ name, help, labels }, durations)
}

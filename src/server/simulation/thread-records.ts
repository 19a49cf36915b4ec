/**
 * Sends the records of the thread's loops to the API server as messages: log lines, queue states and missing
 * permissions.
 */

import type { Log, LogFields } from '../../base/telemetry/log.ts'
import type { LoopRecords } from '../../client/reconcile/loop.ts'
import { MissingRights } from '../../client/reconcile/missing-rights.ts'
import type { QueueSeries, QueueState, StepOutcome } from '../../client/reconcile/work-queue.ts'
import { WorkQueueMetrics } from '../../client/reconcile/work-queue-metrics.ts'
import type { QueueReport, RecordMessage } from './messages.ts'

type Post = (message: RecordMessage) => void

const reportMs = 1000

/** Returns the records for the thread's loops. Reporting does not keep the thread alive. */
export function threadRecords(post: Post, verbosity: number): LoopRecords {
  const metrics = new ReportedQueues()
  const report = () => {
    const reports = metrics.takeReports()
    if (reports.length > 0) post({ type: 'queues', reports })
  }
  setInterval(report, reportMs).unref()
  return { log: threadLog(post, verbosity), metrics, missingRights: new ReportedRights(post) }
}

function threadLog(post: Post, verbosity: number): Log {
  const line =
    (severity: 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}) =>
      post({ type: 'log', severity, message, fields })
  const info = line('info')
  return {
    info,
    warn: line('warn'),
    error: line('error'),
    verbose: (level, message, fields) => {
      if (level <= verbosity) info(message, fields)
    },
    isEnabled: (level) => level <= verbosity,
  }
}

/** Log nothing here, because the thread reports missing permissions in a message and the server logs them. */
const silent: Log = { info: () => {}, warn: () => {}, error: () => {}, verbose: () => {}, isEnabled: () => false }

class ReportedRights extends MissingRights {
  readonly #post: Post
  readonly #refused = new Set<string>()

  constructor(post: Post) {
    super(silent)
    this.#post = post
  }

  override lacks(loop: string, key: string, error: Error): StepOutcome {
    this.#refused.add(`${loop} ${key}`)
    this.#post({ type: 'right', loop, key, refusal: error.message })
    return super.lacks(loop, key, error)
  }

  override has(loop: string, key: string): void {
    super.has(loop, key)
    if (this.#refused.delete(`${loop} ${key}`)) this.#post({ type: 'right', loop, key, refusal: undefined })
  }
}

class ReportedQueues extends WorkQueueMetrics {
  readonly #queues: { readonly name: string; readonly state: QueueState; readonly since: CountedQueue }[] = []

  override open(name: string, state: QueueState): QueueSeries {
    const since = new CountedQueue()
    this.#queues.push({ name, state, since })
    return since
  }

  /** Returns reports of the queues that have been active since their last report or are not empty. */
  takeReports(): QueueReport[] {
    return this.#queues
      .map(({ name, state: { depth, underWaySeconds }, since }) => ({ name, ...since.take(), depth, underWaySeconds }))
      .filter(
        ({ adds, depth, underWaySeconds, workingSeconds }) =>
          adds + depth + underWaySeconds.length + workingSeconds.length > 0,
      )
  }
}

/** Counts a queue's activity until the next report. */
class CountedQueue implements QueueSeries {
  readonly adds = { value: 0 }
  readonly retries = { value: 0 }
  readonly waiting = new Observations()
  readonly working = new Observations()

  take(): Pick<QueueReport, 'adds' | 'retries' | 'waitingSeconds' | 'workingSeconds'> {
    const adds = this.adds.value
    const retries = this.retries.value
    this.adds.value = 0
    this.retries.value = 0
    return { adds, retries, waitingSeconds: this.waiting.take(), workingSeconds: this.working.take() }
  }
}

class Observations {
  #seconds: number[] = []

  observe(seconds: number): void {
    this.#seconds.push(seconds)
  }

  take(): number[] {
    const seconds = this.#seconds
    this.#seconds = []
    return seconds
  }
}

/** Builds the status of a CronJob during one reconcile: active Jobs, last schedule time and last successful time. */

import type { CronJob } from '../../../api/kinds/batch/cron-job.ts'
import type { Job } from '../../../api/kinds/batch/job.ts'
import { checkDnsSubdomain } from '../../../api/model/names.ts'
import { timestamp } from '../../../api/model/object.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import type { CronJobParts } from './cron-parts.ts'
import { isFinished } from './job-state.ts'

type Status = NonNullable<CronJob['status']>
type Reference = NonNullable<Status['active']>[number]

export class CronStatus {
  readonly cronJob: CronJob
  readonly #parts: CronJobParts
  #active: readonly Reference[]
  #others: Omit<Status, 'active'>

  constructor(parts: CronJobParts, cronJob: CronJob) {
    const { active = [], ...others } = cronJob.status ?? {}
    this.cronJob = cronJob
    this.#parts = parts
    // Any client that may write the status can add references to arbitrary Jobs, so references to Jobs that cannot
    // belong to this CronJob are ignored.
    this.#active = active.filter(
      ({ namespace, name = '' }) => namespace === cronJob.metadata.namespace && checkDnsSubdomain(name).length === 0,
    )
    this.#others = others
  }

  get value(): Status {
    return { ...this.#others, ...(this.#active.length > 0 ? { active: [...this.#active] } : {}) }
  }

  get active(): readonly Reference[] {
    return this.#active
  }

  /** Updates the status from the Jobs that the CronJob owns. */
  async followJobs(children: readonly Job[], signal: AbortSignal): Promise<void> {
    for (const job of children) this.#follow(job)
    const childUids = new Set(children.map(({ metadata }) => metadata.uid))
    for (const reference of this.#active) if (!childUids.has(reference.uid)) await this.#lookFor(reference, signal)
  }

  /** Records that a Job was created for the run at this time. */
  started(job: Job, at: number): void {
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = job.metadata
    const reference = { apiVersion: 'batch/v1', kind: 'Job', namespace, name, uid, resourceVersion }
    this.#others = { ...this.#others, lastScheduleTime: timestamp(at) }
    if (!isFinished(job) && !this.#isActive(job)) this.#active = [...this.#active, reference]
  }

  ended(uid: string | undefined): void {
    this.#active = this.#active.filter((each) => each.uid !== uid)
  }

  #isActive({ metadata: { uid } }: Job): boolean {
    return this.#active.some((each) => each.uid === uid)
  }

  #follow(job: Job): void {
    const { name, uid } = job.metadata
    const record = (type: 'Normal' | 'Warning', reason: string, message: string) =>
      this.#parts.recorder.record(this.cronJob, { type, reason, message })
    const ending = job.status?.conditions?.find(({ type, status }) => endings.has(type ?? '') && status === 'True')
    if (ending === undefined && !this.#isActive(job)) {
      record('Warning', 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${name}`)
    } else if (ending !== undefined && this.#isActive(job)) {
      this.ended(uid)
      record('Normal', 'SawCompletedJob', `Saw completed job: ${name}, status: ${ending.type}`)
    }
    const { completionTime } = job.status ?? {}
    if (ending?.type === 'Complete' && completionTime !== undefined) this.#succeeded(completionTime)
  }

  #succeeded(at: string): void {
    const { lastSuccessfulTime: last } = this.#others
    if (last === undefined || Date.parse(at) > Date.parse(last))
      this.#others = { ...this.#others, lastSuccessfulTime: at }
  }

  /**
   * Reads a Job that is missing from the informer, because the Job may be too new for the informer or may have been
   * deleted.
   */
  async #lookFor({ namespace = '', name = '', uid }: Reference, signal: AbortSignal): Promise<void> {
    const job = await ignoreNotFound(this.#parts.client.get(kinds.Job, { namespace, name }, { signal }))
    if (job?.metadata.uid === uid) return
    const message = `Active job went missing: ${name}`
    this.#parts.recorder.record(this.cronJob, { type: 'Normal', reason: 'MissingJob', message })
    this.ended(uid)
  }
}

const endings = new Set(['Complete', 'Failed'])

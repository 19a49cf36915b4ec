/** What the steps of a CronJob work with. */
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/event-recorder.ts'
import type { Informer } from '../../client/informer.ts'
import type { CronJob } from '../../kinds/batch/cron-job.ts'
import type { Job } from '../../kinds/batch/job.ts'

export interface CronJobParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly clock: Clock
  readonly cronJobs: Informer<CronJob>
  readonly jobs: Informer<Job>
}

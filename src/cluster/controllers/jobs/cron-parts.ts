/** The clients and informers that the CronJob loop uses. */

import type { CronJob } from '../../../api/kinds/batch/cron-job.ts'
import type { Job } from '../../../api/kinds/batch/job.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Client } from '../../../client/requests/client.ts'

export interface CronJobParts {
  readonly vendor: Vendor
  readonly emulation: Emulation
  readonly client: Client
  readonly recorder: EventRecorder
  readonly clock: Clock
  readonly cronJobs: Informer<CronJob>
  readonly jobs: Informer<Job>
}

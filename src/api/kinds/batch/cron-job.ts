/** CronJob: makes a Job at set times. */

import { scheduleFault } from '../../model/cron-schedule.ts'
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import type { Vendor } from '../../model/vendor.ts'
import { ageColumn, ago, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { objectMeta } from '../../schema/object-meta.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { dropUnserved } from '../core/types/pod-spec.ts'
import { objectReference } from '../core/types/references.ts'
import { noneNegative } from '../counts.ts'
import { isNewGeneration } from '../generation.ts'
import { containerColumns, countColumn, selectorColumn, templateWarnings } from '../pod-templates.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { type JobSpec, jobSpec } from './types/job-spec.ts'

/** A selector is refused whatever it says. */
const templateSpec: typeof jobSpec = { ...jobSpec, leavesUnjudged: () => ['selector'] }

const jobTemplate = s.object(
  {
    metadata: field(1, objectMeta, { zero: 'write', doc: 'Labels and annotations of the Jobs.' }),
    spec: field(2, templateSpec, { zero: 'write', doc: 'What the Jobs run.' }),
  },
  {
    name: 'JobTemplateSpec',
    doc: 'What Jobs are made from.',
    check: ({ spec = {} }, path) => checkMadeSelector(spec, child(path, 'spec')),
  },
)

const policies = ['Allow', 'Forbid', 'Replace'] as const

const specFields = {
  schedule: field(1, s.string(), {
    zero: 'write',
    published: 'required',
    doc: 'When: minute, hour, day of the month, month, day of the week, as cron has them; or a word such as @daily.',
  }),
  startingDeadlineSeconds: field(2, s.int64(), {
    zero: 'keep',
    doc: 'How late a Job may still be started that was missed; however late if unset.',
  }),
  concurrencyPolicy: field(3, s.string(), {
    default: 'Allow',
    doc: 'What becomes of a new Job while the last still runs: Allow it, Forbid it, or Replace the last one.',
  }),
  suspend: field(4, s.boolean(), { zero: 'keep', default: false, doc: 'Whether no Job is made meanwhile.' }),
  jobTemplate: field(5, jobTemplate, { zero: 'write', published: 'required', doc: 'What Jobs are made from.' }),
  successfulJobsHistoryLimit: field(6, s.int32(), {
    zero: 'keep',
    default: 3,
    doc: 'How many Jobs that succeeded are kept.',
  }),
  failedJobsHistoryLimit: field(7, s.int32(), { zero: 'keep', default: 1, doc: 'How many Jobs that failed are kept.' }),
}

const spec = s.object(specFields, { name: 'CronJobSpec', doc: 'When Jobs are made, and which.', check: checkSpec })

const status = s.object(
  {
    active: field(1, s.list(objectReference), { doc: 'The Jobs that run now.' }),
    lastScheduleTime: field(4, s.time(), { doc: 'When a Job was last made.' }),
    lastSuccessfulTime: field(5, s.time(), { doc: 'When a Job last succeeded.' }),
  },
  { name: 'CronJobStatus', doc: 'What was done last.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'When Jobs are made, and which.' }),
  status: field(3, status, { zero: 'write', doc: 'What was done last. Set by the controller.' }),
}

export type CronJob = ObjectOf<typeof fields>

const suspendColumn: Column<CronJob> = {
  ...column('Suspend', 'Whether no Job is made meanwhile.', ({ spec }: CronJob) => (spec?.suspend ? 'True' : 'False')),
  type: 'boolean',
}

const templatePath = 'spec.jobTemplate.spec.template.spec'

export const cronJob = defineKind({
  names: {
    group: 'batch',
    version: 'v1',
    kind: 'CronJob',
    plural: 'cronjobs',
    shortNames: ['cj'],
    categories: ['all'],
    scope: 'Namespaced',
  },
  doc: 'Makes a Job at set times.',
  fields,
  rules: specAndStatus<CronJob>({
    generation: ({ spec }) => spec,
    newStatus: () => ({}),
    prepareForCreate: (object, context) => dropUnserved(templateOf(object)?.spec, templatePath, context),
    prepareForUpdate: (next, _, context) => dropUnserved(templateOf(next)?.spec, templatePath, context),
    validateCreate: ({ metadata }) => checkLength(metadata.name ?? ''),
    warnings: (object, previous, { vendor }) => [
      ...(isNewGeneration(object, previous)
        ? templateWarnings(templateOf(object), { path: 'spec.jobTemplate.spec.template', vendor })
        : []),
      ...zoneWarnings(object, vendor),
    ],
  }),
  views: {
    columns: [
      nameColumn,
      column('Schedule', 'When Jobs are made.', ({ spec }: CronJob) => spec?.schedule ?? ''),
      suspendColumn,
      countColumn('Active', 'How many of its Jobs run now.', ({ status }: CronJob) => status?.active?.length),
      column('Last Schedule', 'How long ago a Job was last made.', ({ status }: CronJob, now) =>
        status?.lastScheduleTime ? ago(status.lastScheduleTime, now) : '<none>',
      ),
      ageColumn,
      ...containerColumns(templateOf),
      selectorColumn(({ spec }: CronJob) => spec?.jobTemplate?.spec?.selector),
    ],
    subresources: { status: plainStatus },
  },
})

/** The same objects; Jobs that are left when one is deleted through this version stay by default. */
export const cronJobV1beta1 = defineVersion(cronJob, {
  version: 'v1beta1',
  fields,
  deprecated: { since: 'v1.21', until: 'v1.25', instead: { group: 'batch', version: 'v1', kind: 'CronJob' } },
  life: { orphansByDefault: true },
})

function templateOf({ spec }: CronJob) {
  return spec?.jobTemplate?.spec?.template
}

function checkSpec(value: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  const { schedule = '', concurrencyPolicy: policy = '' } = value
  const place = child(path, 'schedule')
  const fault = scheduleFault(schedule)
  const limits = ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'] as const
  return [
    ...(schedule === '' ? [required(place)] : fault === undefined ? [] : [invalid(place, schedule, fault)]),
    ...noneNegative(value, limits, path),
    ...(policies.some((known) => known === policy)
      ? []
      : [notSupported(child(path, 'concurrencyPolicy'), policy, policies)]),
  ]
}

/** Each Job gets a selector of its own. */
function checkMadeSelector({ selector, manualSelector }: JobSpec, path: FieldPath): FieldError[] {
  return [
    ...(selector === undefined
      ? []
      : [invalid(child(path, 'selector'), selector, '`selector` will be auto-generated')]),
    ...(manualSelector ? [notSupported(child(path, 'manualSelector'), true, ['nil', 'false'])] : []),
  ]
}

/** Jobs are named after it and the time, and pods after them. */
const maxNameLength = 52

function checkLength(name: string): FieldError[] {
  return name.length <= maxNameLength
    ? []
    : [invalid('metadata.name', name, `must be no more than ${maxNameLength} characters`)]
}

function zoneWarnings({ spec }: CronJob, { keyDomain }: Vendor): string[] {
  if (!spec?.schedule?.includes('TZ')) return []
  const place = `https://${keyDomain}/docs/concepts/workloads/controllers/cron-jobs/`
  return [`CRON_TZ or TZ used in spec.schedule is not officially supported, see ${place} for more details`]
}

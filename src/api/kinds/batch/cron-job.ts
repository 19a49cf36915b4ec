/** A CronJob creates Jobs on a schedule. */

import { scheduleFault } from '../../model/cron-expression.ts'
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { isTimeZone } from '../../model/time-zone.ts'
import type { Vendor } from '../../model/vendor.ts'
import { ageColumn, ago, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type RuleContext } from '../../schema/context.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { objectMeta } from '../../schema/object-meta.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { resetGated } from '../core/types/gated-parts.ts'
import { objectReference } from '../core/types/references.ts'
import { noneNegative } from '../counts.ts'
import { isNewGeneration } from '../generation.ts'
import { containerColumns, countColumn, nameWarnings, selectorColumn } from '../pod-templates.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { jobWarnings } from './job.ts'
import { type JobSpec, jobSpec, unvalidatedFields } from './types/job-spec.ts'

/**
 * The spec of the Jobs to create. Validation skips the selector, because `checkMadeSelector` rejects any selector.
 * Fields of disabled features are dropped only when a Job is created.
 */
const templateSpec: typeof jobSpec = {
  ...jobSpec,
  fieldsToSkip: (spec) => [...unvalidatedFields(spec), 'selector'],
  keepsDisabledFields: 'own',
}

const jobTemplate = s.object(
  {
    metadata: field(1, objectMeta, {
      zeroValue: 'write',
      doc: 'Metadata for the Jobs. Only labels and annotations take effect.',
    }),
    spec: field(2, templateSpec, { zeroValue: 'write', doc: 'Specification for the Jobs.' }),
  },
  {
    name: 'JobTemplateSpec',
    doc: 'Template for the Jobs that a CronJob creates.',
    check: ({ spec = {} }, path) => checkMadeSelector(spec, child(path, 'spec')),
  },
)

const policies = ['Allow', 'Forbid', 'Replace'] as const

const specFields = {
  schedule: field(1, s.string(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Schedule in cron format, with fields for minute, hour, day of month, month and day of week, or a macro such as `@daily`.',
  }),
  startingDeadlineSeconds: field(2, s.int64(), {
    zeroValue: 'keep',
    doc: 'Maximum delay of a Job in seconds. A Job that cannot be started within this time after its scheduled time is skipped. If unset, there is no limit.',
  }),
  concurrencyPolicy: field(3, s.string(), {
    default: 'Allow',
    doc: 'What to do if the previous Job is still running: run both (`Allow`), skip the new Job (`Forbid`) or replace the running Job (`Replace`). Defaults to `Allow`.',
  }),
  suspend: field(4, s.boolean(), {
    zeroValue: 'keep',
    default: false,
    doc: 'Whether to suspend the schedule. Jobs that are already running are not affected. Defaults to false.',
  }),
  jobTemplate: field(5, jobTemplate, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Template for the Jobs that the CronJob creates.',
  }),
  successfulJobsHistoryLimit: field(6, s.int32(), {
    zeroValue: 'keep',
    default: 3,
    doc: 'Number of successful Jobs to keep. Defaults to 3.',
  }),
  failedJobsHistoryLimit: field(7, s.int32(), {
    zeroValue: 'keep',
    default: 1,
    doc: 'Number of failed Jobs to keep. Defaults to 1.',
  }),
  timeZone: field(8, s.string(), {
    zeroValue: 'keep',
    since: '1.24',
    gate: 'CronJobTimeZone',
    doc: "Time zone of the schedule, such as `Europe/Berlin`. If unset, the controller's time zone applies.",
  }),
}

const spec = s.object(specFields, { name: 'CronJobSpec', doc: 'Specification of a CronJob.', check: checkSpec })

const status = s.object(
  {
    active: field(1, s.list(objectReference), { doc: 'References to the running Jobs.' }),
    lastScheduleTime: field(4, s.time(), { doc: 'Time for which the most recently created Job was scheduled.' }),
    lastSuccessfulTime: field(5, s.time(), { doc: 'Time when the most recent successful Job completed.' }),
  },
  { name: 'CronJobStatus', doc: 'Observed status of a CronJob.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired schedule and Job template.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the CronJob, set by the controller.' }),
}

export type CronJob = ObjectOf<typeof fields>

const suspendColumn: Column<CronJob> = {
  ...column('Suspend', 'Whether the schedule is suspended.', ({ spec }: CronJob) => (spec?.suspend ? 'True' : 'False')),
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
  doc: 'Creates Jobs from a template on a repeating schedule.',
  fields,
  rules: specAndStatus<CronJob>({
    generation: ({ spec }) => spec,
    newStatus: () => ({}),
    prepareForCreate: (object, context) => resetGated({ spec: templateOf(object)?.spec }, templatePath, context),
    prepareForUpdate: (next, previous, context) =>
      resetGated({ spec: templateOf(next)?.spec, previous: templateOf(previous)?.spec }, templatePath, context),
    validateCreate: (object, context) => [
      ...checkLength(object.metadata.name ?? ''),
      ...checkZones(object, undefined, context),
    ],
    validateUpdate: (next, previous, context) =>
      context.subresource === '' ? checkZones(next, previous, context) : [],
    warnings: (object, previous, context) => [
      ...nameWarnings(object.metadata, previous, context),
      ...(isNewGeneration(object, previous)
        ? jobWarnings(object.spec?.jobTemplate?.spec, 'spec.jobTemplate.spec', context)
        : []),
      ...zoneWarnings(object, context.vendor),
    ],
  }),
  views: {
    columns: [
      nameColumn,
      column('Schedule', 'Cron schedule.', ({ spec }: CronJob) => spec?.schedule ?? ''),
      {
        ...column('Timezone', 'Time zone of the schedule.', ({ spec }: CronJob) => spec?.timeZone ?? '<none>'),
        since: '1.29',
      },
      suspendColumn,
      countColumn('Active', 'Number of running Jobs.', ({ status }: CronJob) => status?.active?.length),
      column('Last Schedule', 'Time since a Job was last scheduled.', ({ status }: CronJob, now) =>
        status?.lastScheduleTime ? ago(status.lastScheduleTime, now) : '<none>',
      ),
      ageColumn,
      ...containerColumns(templateOf),
      selectorColumn(({ spec }: CronJob) => spec?.jobTemplate?.spec?.selector),
    ],
    subresources: { status: plainStatus },
  },
})

/**
 * CronJob v1beta1, which differs from v1 only in one respect: deleting a CronJob through v1beta1 orphans its Jobs by
 * default.
 */
export const cronJobV1beta1 = defineVersion(cronJob, {
  version: 'v1beta1',
  fields,
  until: '1.25',
  deprecated: { since: '1.21', instead: { group: 'batch', version: 'v1', kind: 'CronJob' } },
  lifecycle: { orphansByDefault: true },
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

/** Rejects a selector in the Job template, because the server generates a selector for each Job. */
function checkMadeSelector({ selector, manualSelector }: JobSpec, path: FieldPath): FieldError[] {
  return [
    ...(selector === undefined
      ? []
      : [invalid(child(path, 'selector'), selector, '`selector` will be auto-generated')]),
    ...(manualSelector ? [notSupported(child(path, 'manualSelector'), true, ['nil', 'false'])] : []),
  ]
}

/**
 * Maximum length of a CronJob name. Longer names would leave no room for the scheduled time in Job names and for the
 * suffix in pod names.
 */
const maxNameLength = 52

function checkLength(name: string): FieldError[] {
  return name.length <= maxNameLength
    ? []
    : [invalid('metadata.name', name, `must be no more than ${maxNameLength} characters`)]
}

/** The first Kubernetes version in which the schedule of a new CronJob must not contain a time zone. */
const onlyFieldSince = '1.29'

/**
 * Validates the time zone in its own field and in the schedule. A schedule that is already stored may keep its time
 * zone.
 */
function checkZones({ spec = {} }: CronJob, previous: CronJob | undefined, context: RuleContext): FieldError[] {
  const { schedule = '', timeZone } = spec
  const stored = previous?.spec ?? {}
  const inSchedule = schedule.includes('TZ')
  const mayStay = stored.schedule?.includes('TZ') || !isAtLeast(emulationOf(context).version, onlyFieldSince)
  const why = mayStay
    ? 'cannot use both timeZone field and TZ or CRON_TZ in schedule'
    : 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
  return [
    ...(inSchedule && (timeZone !== undefined || !mayStay) ? [invalid('spec.schedule', schedule, why)] : []),
    ...(timeZone === undefined || timeZone === stored.timeZone ? [] : checkZone(timeZone, 'spec.timeZone')),
  ]
}

function checkZone(zone: string, path: FieldPath): FieldError[] {
  if (zone === '') return [invalid(path, zone, 'must be unset or the name of a time zone')]
  if (isTimeZone(zone)) return []
  const why = /^local$/i.test(zone) ? 'must be an explicit time zone' : 'unknown time zone'
  return [invalid(path, zone, why)]
}

function zoneWarnings({ spec }: CronJob, { keyDomain }: Vendor): string[] {
  if (!spec?.schedule?.includes('TZ')) return []
  const place = `https://${keyDomain}/docs/concepts/workloads/controllers/cron-jobs/`
  return [`CRON_TZ or TZ used in spec.schedule is not officially supported, see ${place} for more details`]
}

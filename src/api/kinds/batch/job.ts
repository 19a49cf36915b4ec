/**
 * A Job runs pods until enough of them have succeeded. Unless manualSelector is true, the server generates the selector
 * and the matching pod labels.
 */

import { humanDuration } from '../../../base/time/human-duration.ts'
import { child, type FieldError, type FieldPath, invalid, required } from '../../model/field-error.ts'
import { checkDnsLabel } from '../../model/names.ts'
import type { ObjectMeta } from '../../model/object.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type PrepareContext, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { resetGated } from '../core/types/gated-parts.ts'
import { isNewGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'
import { checkMatches, containerColumns, nameWarnings, selectorColumn, templateWarnings } from '../pod-templates.ts'
import { specAndStatus } from '../spec-and-status.ts'
import { statusKeepingLabels } from '../template-labels.ts'
import { checkGeneratedLabels, generateLabels } from './types/generated-labels.ts'
import { type JobSpec, jobSpec, manyCompletions, maxWithManyCompletions } from './types/job-spec.ts'
import { jobStatus } from './types/job-status.ts'
import { checkStatusUpdate } from './types/job-status-rules.ts'
import { checkTemplateUpdate } from './types/job-template-update.ts'

const fields = {
  spec: field(2, jobSpec, { zeroValue: 'write', doc: 'Desired behavior of the Job.' }),
  status: field(3, jobStatus, { zeroValue: 'write', doc: 'Observed status of the Job, set by the controller.' }),
}

export type Job = ObjectOf<typeof fields>

export const job = defineKind({
  names: {
    group: 'batch',
    version: 'v1',
    kind: 'Job',
    plural: 'jobs',
    categories: ['all'],
    scope: 'Namespaced',
  },
  doc: 'A workload that runs pods until a given number of them have succeeded.',
  fields,
  rules: specAndStatus<Job>({
    generation: ({ spec }) => spec,
    newStatus: () => ({}),
    fillDefaults,
    prepareForCreate: (object, context) => {
      dropTracking(object, context)
      resetGated({ spec: object.spec?.template?.spec }, 'spec.template.spec', context)
      dropPerIndexRules(object, context)
      if (!object.spec?.manualSelector) generateLabels(object, context)
    },
    prepareForUpdate: (next, previous, context) => {
      if (!isTracked(previous, context.vendor)) dropTracking(next, context)
      resetGated(
        { spec: next.spec?.template?.spec, previous: previous.spec?.template?.spec },
        'spec.template.spec',
        context,
      )
    },
    validate: checkJob,
    validateCreate: (object, context) => checkGeneratedLabels(object, undefined, context),
    validateUpdate: checkUpdate,
    warnings: (object, previous, context) => [
      ...nameWarnings(object.metadata, previous, context),
      ...(isNewGeneration(object, previous) ? jobWarnings(object.spec, 'spec', context) : []),
    ],
  }),
  lifecycle: {
    orphansByDefault: true,
    orphanWarning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  },
  views: {
    columns: [
      nameColumn,
      {
        ...column('Status', 'State of the Job: its most important condition, or `Running`.', jobState),
        since: '1.30',
      },
      column('Completions', 'Number of successful pods and required number of completions.', completions),
      column('Duration', 'How long the Job has been running, or how long it took to complete.', duration),
      ageColumn,
      ...containerColumns(({ spec }: Job) => spec?.template),
      selectorColumn(({ spec }: Job) => spec?.selector),
    ],
    selectable: ({ status }) => ({ 'status.successful': String(status?.succeeded ?? 0) }),
    subresources: { status: statusKeepingLabels },
  },
})

const unlimitedRetries = 2_147_483_647

/**
 * Sets the defaults of a Job. A Job without labels shares the labels object of its template, which lets
 * `generateLabels` recognize the copied labels.
 */
function fillDefaults({ spec, metadata }: Job, context: RuleContext): void {
  if (spec === undefined) return
  const { version, gates } = emulationOf(context)
  if (spec.parallelism === undefined) spec.completions ??= 1
  spec.parallelism ??= 1
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : unlimitedRetries
  spec.completionMode ??= 'NonIndexed'
  spec.suspend ??= false
  if (isAtLeast(version, '1.29')) spec.manualSelector ??= false
  if (gates.has('JobPodReplacementPolicy'))
    spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed'
  for (const { onPodConditions = [] } of spec.podFailurePolicy?.rules ?? [])
    for (const pattern of onPodConditions) pattern.status ||= 'True'
  const labels = spec.template?.metadata?.labels
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = labels
}

/**
 * Returns the key of the annotation that marks Jobs whose pods are tracked with finalizers. Clients cannot add this
 * annotation.
 */
function trackingKey(vendor: Vendor): string {
  return vendorKey(vendor, 'job-tracking', 'batch')
}

function isTracked({ metadata }: Job, vendor: Vendor): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, trackingKey(vendor))
}

/** Removes the annotation for pod tracking, which versions since 1.27 ignore. */
function dropTracking(object: Job, context: RuleContext): void {
  const { vendor } = context
  if (!isTracked(object, vendor) || isAtLeast(emulationOf(context).version, '1.27')) return
  const { annotations, ...metadata } = object.metadata
  const { [trackingKey(vendor)]: _, ...others } = annotations ?? {}
  object.metadata = Object.keys(others).length > 0 ? { ...metadata, annotations: others } : metadata
}

/** Drops pod failure rules with the action FailIndex from a new Job if their feature gate is disabled. */
function dropPerIndexRules({ spec }: Job, context: PrepareContext): void {
  const policy = spec?.podFailurePolicy
  if (policy?.rules === undefined || emulationOf(context).gates.has('JobBackoffLimitPerIndex')) return
  policy.rules = policy.rules.filter(({ action }) => action !== 'FailIndex')
}

function checkJob({ metadata, spec = {} }: Job, context: RuleContext): FieldError[] {
  return [
    ...(spec.selector === undefined ? [required('spec.selector')] : []),
    ...checkMatches(spec, 'spec'),
    ...(isAtLeast(emulationOf(context).version, '1.27') ? checkHostnames(metadata, spec) : []),
  ]
}

/** Validates the pod hostnames of an Indexed Job, which consist of the Job's name and an index. */
function checkHostnames({ name = '' }: ObjectMeta, { completionMode, completions = 0 }: JobSpec): FieldError[] {
  if (completionMode !== 'Indexed' || completions <= 0) return []
  const longest = `${name}-${completions - 1}`
  if (checkDnsLabel(longest).length === 0) return []
  return [invalid('metadata.name', name, `the pod hostname ${longest} would not be a valid DNS label`)]
}

function checkUpdate(next: Job, previous: Job, context: RuleContext): FieldError[] {
  if (context.subresource === 'status') return checkStatusUpdate(next, previous, context)
  const { spec = {} } = next
  const { spec: stored = {} } = previous
  const fixed = ['selector', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy']
  return [
    ...checkGeneratedLabels(next, previous, context),
    ...checkCompletions(spec, stored, context),
    ...checkTemplateUpdate(spec, previous, context),
    ...(fixed as (keyof JobSpec)[]).flatMap((name) => immutableField(`spec.${name}`, spec[name], stored[name])),
  ]
}

/**
 * Rejects a change to the completions, unless an elastic Indexed Job sets its completions and parallelism to the same
 * number.
 */
function checkCompletions(next: JobSpec, stored: JobSpec, context: RuleContext): FieldError[] {
  const path = 'spec.completions'
  const { completions, parallelism, completionMode } = next
  const isElastic = completionMode === 'Indexed' && emulationOf(context).gates.has('ElasticIndexedJob')
  if (!isElastic) return immutableField(path, completions, stored.completions)
  if (completions === undefined || completions === stored.completions || completions === parallelism) return []
  return [invalid(path, completions, 'can only be modified in tandem with spec.parallelism')]
}

/** Returns warnings about the specification of a Job, or about the Job template of a CronJob. */
export function jobWarnings(spec: JobSpec = {}, path: FieldPath, context: RuleContext): string[] {
  const { completionMode, completions = 0, parallelism = 0 } = spec
  const isLarge = completionMode === 'Indexed' && completions > manyCompletions && parallelism > maxWithManyCompletions
  return [
    ...(isLarge && isAtLeast(emulationOf(context).version, '1.26')
      ? [
          `${path}: In Indexed Jobs with a number of completions higher than ${manyCompletions} and a parallelism higher than ${maxWithManyCompletions}, the completed indexes may not be tracked when many indexes fail`,
        ]
      : []),
    ...templateWarnings(spec.template, child(path, 'template'), context),
  ]
}

const shownConditions = ['Complete', 'Failed', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet']

/** Returns the state to display for a Job. A deletion takes precedence over all conditions except final ones. */
function jobState({ metadata, status = {} }: Job): string {
  const current = new Set(status.conditions?.filter((each) => each.status === 'True').map(({ type }) => type))
  const shown = shownConditions.find((type) => current.has(type)) ?? 'Running'
  const isFinal = shown === 'Complete' || shown === 'Failed'
  return metadata.deletionTimestamp && !isFinal ? 'Terminating' : shown
}

/** Formats the progress of a Job, for example as `2/5`, or as `0/1 of 3` for a work queue with a parallelism of 3. */
function completions({ spec = {}, status = {} }: Job): string {
  const { succeeded = 0 } = status
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`
  return (spec.parallelism ?? 0) > 1 ? `${succeeded}/1 of ${spec.parallelism}` : `${succeeded}/1`
}

function duration({ status = {} }: Job, now: number): string {
  const { startTime, completionTime } = status
  if (!startTime) return ''
  return humanDuration((completionTime ? Date.parse(completionTime) : now) - Date.parse(startTime))
}

/**
 * Job: runs pods until enough of them have succeeded. Unless manualSelector is true, the server generates the selector
 * and the matching pod labels.
 */

import { humanDuration } from '../../../base/time/human-duration.ts'
import { at, duplicate, type FieldError, type FieldPath, invalid, required } from '../../model/field-error.ts'
import { checkLabelValue } from '../../model/names.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { conditionFields } from '../conditions.ts'
import { resetGated } from '../core/types/gated-parts.ts'
import type { PodTemplateSpec } from '../core/types/pod-template-spec.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { noneNegative } from '../counts.ts'
import { isNewGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'
import { selects } from '../meta/selecting.ts'
import { checkMatches, containerColumns, selectorColumn, templateWarnings } from '../pod-templates.ts'
import { specAndStatus } from '../spec-and-status.ts'
import { statusKeepingLabels } from '../template-labels.ts'
import { type JobSpec, jobSpec } from './types/job-spec.ts'

const condition = s.object(
  {
    type: conditionFields.type,
    status: conditionFields.status,
    lastProbeTime: field(3, s.time(), { zeroValue: 'write', doc: 'Time when the condition was last probed.' }),
    lastTransitionTime: field(4, s.time(), {
      zeroValue: 'write',
      doc: 'Time when the status of the condition last changed.',
    }),
    reason: field(5, s.string(), {
      doc: "Machine-readable reason for the condition's last change, one word in CamelCase.",
    }),
    message: field(6, s.string(), { doc: 'Human-readable details about the last change of the condition.' }),
  },
  { name: 'JobCondition', doc: 'A condition of a Job.' },
)

const uids = s.list(s.string(), { list: 'set' })

const uncounted = s.object(
  {
    succeeded: field(1, uids, { doc: 'UIDs of succeeded pods.' }),
    failed: field(2, uids, { doc: 'UIDs of failed pods.' }),
  },
  { name: 'UncountedTerminatedPods', doc: 'UIDs of terminated pods that the Job status does not count yet.' },
)

const statusFields = {
  conditions: field(1, s.list(condition, { patch: 'merge', mergeKey: 'type' }), {
    doc: 'Current conditions of the Job, such as Complete, Failed or Suspended.',
  }),
  startTime: field(2, s.time(), { doc: 'Time when the Job started, or when it was last resumed after a suspension.' }),
  completionTime: field(3, s.time(), { doc: 'Time when the Job completed successfully.' }),
  active: field(4, s.int32(), { doc: 'Number of pending and running pods.' }),
  succeeded: field(5, s.int32(), { doc: 'Number of succeeded pods.' }),
  failed: field(6, s.int32(), { doc: 'Number of failed pods.' }),
  completedIndexes: field(7, s.string(), {
    doc: 'Completed indexes of an Indexed Job, as numbers and ranges such as `1,3-5,7`.',
  }),
  uncountedTerminatedPods: field(8, uncounted, { doc: 'Terminated pods that the status does not count yet.' }),
  ready: field(9, s.int32(), { zeroValue: 'keep', doc: 'Number of ready pods.' }),
  failedIndexes: field(10, s.string(), {
    zeroValue: 'keep',
    since: '1.28',
    gate: 'JobBackoffLimitPerIndex',
    doc: 'Failed indexes of an Indexed Job, as numbers and ranges such as `1,3-5,7`.',
  }),
  terminating: field(11, s.int32(), {
    zeroValue: 'keep',
    since: '1.28',
    gate: 'JobPodReplacementPolicy',
    doc: 'Number of terminating pods.',
  }),
}

const status = s.object(statusFields, { name: 'JobStatus', doc: 'Observed status of a Job.' })

const fields = {
  spec: field(2, jobSpec, { zeroValue: 'write', doc: 'Desired behavior of the Job.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the Job, set by the controller.' }),
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
  doc: 'A workload that runs pods until enough of them have succeeded.',
  fields,
  rules: specAndStatus<Job>({
    generation: ({ spec }) => spec,
    newStatus: () => ({}),
    fillDefaults,
    prepareForCreate: (object, context) => {
      const { vendor } = context
      dropTracking(object, vendor)
      resetGated({ spec: object.spec?.template?.spec }, 'spec.template.spec', context)
      if (!object.spec?.manualSelector) tellApart(object)
    },
    prepareForUpdate: (next, previous, context) => {
      const { vendor } = context
      if (!isTracked(previous, vendor)) dropTracking(next, vendor)
      resetGated(
        { spec: next.spec?.template?.spec, previous: previous.spec?.template?.spec },
        'spec.template.spec',
        context,
      )
    },
    validate: (object) => [...checkJob(object), ...checkOwnLabels(object)],
    validateUpdate: checkUpdate,
    warnings: (object, previous, context) =>
      isNewGeneration(object, previous) ? templateWarnings(object.spec?.template, 'spec.template', context) : [],
  }),
  lifecycle: {
    orphansByDefault: true,
    orphanWarning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  },
  views: {
    columns: [
      nameColumn,
      column('Completions', 'Number of succeeded pods and required completions.', completions),
      column('Duration', 'Time since the start of the Job, or until its completion.', duration),
      ageColumn,
      ...containerColumns(({ spec }: Job) => spec?.template),
      selectorColumn(({ spec }: Job) => spec?.selector),
    ],
    selectable: ({ status }) => ({ 'status.successful': String(status?.succeeded ?? 0) }),
    subresources: { status: statusKeepingLabels },
  },
})

const nameLabel = 'job-name'
const uidLabel = 'controller-uid'

/**
 * Sets defaults. A Job without labels shares the label object of its template, so that `tellApart` can recognize the
 * copied labels.
 */
function fillDefaults({ spec, metadata }: Job): void {
  if (spec === undefined) return
  if (spec.parallelism === undefined) spec.completions ??= 1
  spec.parallelism ??= 1
  spec.backoffLimit ??= 6
  spec.completionMode ??= 'NonIndexed'
  spec.suspend ??= false
  const labels = spec.template?.metadata?.labels
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = labels
}

/**
 * Generates the unique pod labels, with the name and the UID of the Job, and a selector for the UID. Keeps labels and
 * selectors that the user has set, which validation rejects if they differ. If the labels of the Job are a copy of the
 * template's labels, also updates the copy.
 */
function tellApart(object: Job): void {
  const { spec = {}, metadata } = object
  const { name = '', uid = '' } = metadata
  const { template = {} } = spec
  const labels = { [nameLabel]: name, [uidLabel]: uid, ...template.metadata?.labels }
  const matchLabels = { [uidLabel]: uid, ...spec.selector?.matchLabels }
  object.spec = {
    ...spec,
    selector: { ...spec.selector, matchLabels },
    template: { ...template, metadata: { ...template.metadata, labels } },
  }
  const follows = metadata.labels === undefined || metadata.labels === template.metadata?.labels
  // Skips a name that is too long for a label, so that validation reports it only once, for the template.
  if (follows && checkLabelValue(name).length === 0) object.metadata = { ...metadata, labels: { ...labels } }
}

/** Returns the annotation that marks Jobs whose pods are tracked with finalizers. Clients cannot add it. */
function trackingKey(vendor: Vendor): string {
  return vendorKey(vendor, 'job-tracking', 'batch')
}

function isTracked({ metadata }: Job, vendor: Vendor): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, trackingKey(vendor))
}

function dropTracking(object: Job, vendor: Vendor): void {
  if (!isTracked(object, vendor)) return
  const { annotations, ...metadata } = object.metadata
  const { [trackingKey(vendor)]: _, ...others } = annotations ?? {}
  object.metadata = Object.keys(others).length > 0 ? { ...metadata, annotations: others } : metadata
}

function checkJob({ spec = {} }: Job): FieldError[] {
  return [...(spec.selector === undefined ? [required('spec.selector')] : []), ...checkMatches(spec, 'spec')]
}

/** Requires the generated selector and pod labels, unless manualSelector is true. */
function checkOwnLabels({ metadata, spec = {} }: Job): FieldError[] {
  if (spec.manualSelector || spec.selector === undefined) return []
  const own = { [nameLabel]: metadata.name ?? '', [uidLabel]: metadata.uid ?? '' }
  const labels = spec.template?.metadata?.labels ?? {}
  const path = 'spec.template.metadata.labels'
  return [
    ...(selects(spec.selector, own) === false
      ? [invalid('spec.selector', spec.selector, '`selector` not auto-generated')]
      : []),
    ...Object.entries(own).flatMap(([key, value]) => checkOwnLabel(labels[key], value, at(path, key))),
  ]
}

function checkOwnLabel(label: string | undefined, wanted: string, path: FieldPath): FieldError[] {
  if (label === wanted) return []
  const why = `must be '${wanted}'`
  return [label === undefined ? required(path, why) : invalid(path, label, why)]
}

function checkUpdate(next: Job, previous: Job, { subresource }: RuleContext): FieldError[] {
  if (subresource === 'status') return checkStatus(next.status ?? {})
  const { spec = {} } = next
  const { spec: stored = {} } = previous
  return [
    ...immutableField('spec.completions', spec.completions, stored.completions),
    ...immutableField('spec.selector', spec.selector, stored.selector),
    ...immutableField('spec.template', spec.template, comparedTemplate(spec, previous)),
    ...immutableField('spec.completionMode', spec.completionMode, stored.completionMode),
  ]
}

/**
 * Returns the template that an update must send. A suspended Job that has never started may change the labels,
 * annotations, node selector, tolerations and node affinity of its template.
 */
function comparedTemplate({ template: next = {} }: JobSpec, { spec = {}, status = {} }: Job) {
  const { template = {} } = spec
  if (!spec.suspend || status.startTime !== undefined) return template
  const { labels: _l, annotations: _a, ...metadata } = template.metadata ?? {}
  const { nodeSelector: _n, tolerations: _t, affinity: _f, ...pods } = template.spec ?? {}
  const { labels, annotations } = next.metadata ?? {}
  const { nodeSelector, tolerations } = next.spec ?? {}
  const affinity = comparedAffinity(next, template)
  const set = (members: object) =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
  return {
    ...template,
    metadata: { ...metadata, ...set({ labels, annotations }) },
    spec: { ...pods, ...set({ nodeSelector, tolerations, affinity }) },
  }
}

/**
 * Returns the affinity that an update must send. Only the node affinity may change. An affinity without other parts may
 * also be added or removed as a whole.
 */
function comparedAffinity({ spec: next = {} }: PodTemplateSpec, { spec: stored = {} }: PodTemplateSpec) {
  const { nodeAffinity: _, ...others } = stored.affinity ?? {}
  if (next.affinity === undefined) return Object.keys(others).length > 0 ? others : undefined
  const { nodeAffinity } = next.affinity
  return nodeAffinity === undefined ? others : { ...others, nodeAffinity }
}

function checkStatus(status: InferFields<typeof statusFields>): FieldError[] {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  const path = 'status.uncountedTerminatedPods'
  const places = [
    ...succeeded.map((_, i) => at(`${path}.succeeded`, i)),
    ...failed.map((_, i) => at(`${path}.failed`, i)),
  ]
  return [
    ...noneNegative(status, ['active', 'succeeded', 'failed', 'ready'], 'status'),
    ...checkUids([...succeeded, ...failed], places),
  ]
}

function checkUids(all: readonly string[], places: readonly FieldPath[]): FieldError[] {
  const repeated = repeatedAt(all.map((uid) => uid || undefined))
  return all.flatMap((uid, i) => {
    if (uid === '') return [invalid(places[i]!, uid, 'must not be empty')]
    return repeated.has(i) ? [duplicate(places[i]!, uid)] : []
  })
}

/** Returns the progress, such as `2/5`, or `0/1 of 3` for a work queue with a parallelism of 3. */
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

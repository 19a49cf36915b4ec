/** JobSpec is the specification of a Job, in a Job or in the Job template of a CronJob. */

import {
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../model/field-error.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { podTemplateSpec } from '../../core/types/pod-template-spec.ts'
import { noneNegative } from '../../counts.ts'
import { checkDomainPath } from '../../domain-path.ts'
import { labelSelector } from '../../meta/label-selector.ts'
import { podFailurePolicy, successPolicy } from './job-policies.ts'
import { checkFailurePolicy, checkReplacement, checkSuccessPolicy } from './policy-rules.ts'

const fields = {
  parallelism: field(1, s.int32(), {
    zeroValue: 'keep',
    doc: 'Maximum number of pods that run at the same time. Defaults to 1.',
  }),
  completions: field(2, s.int32(), {
    zeroValue: 'keep',
    doc: 'Number of pods that must succeed. If both `completions` and `parallelism` are unset, defaults to 1. If only `completions` is unset, the success of any pod completes the Job.',
  }),
  activeDeadlineSeconds: field(3, s.int64(), {
    zeroValue: 'keep',
    doc: 'Maximum duration of the Job in seconds. A Job that runs longer fails. If unset, there is no limit.',
  }),
  backoffLimit: field(7, s.int32(), {
    zeroValue: 'keep',
    doc: 'Number of retries before the Job counts as failed. Defaults to 6.',
  }),
  selector: field(4, labelSelector, {
    doc: "Label selector for the Job's pods. The server generates the selector unless `manualSelector` is true.",
  }),
  manualSelector: field(5, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether you provide the selector and the pod labels. If so, you must ensure that they are unique to this Job.',
  }),
  template: field(6, podTemplateSpec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Template for the pods that the Job creates. Its `restartPolicy` must be `OnFailure` or `Never`.',
  }),
  ttlSecondsAfterFinished: field(8, s.int32(), {
    zeroValue: 'keep',
    doc: 'Number of seconds after which a finished Job is deleted. If unset, the Job is not deleted automatically.',
  }),
  completionMode: field(9, s.string(), {
    zeroValue: 'keep',
    doc: 'Whether pods are interchangeable (`NonIndexed`, the default) or each have an index from 0 to completions - 1 (`Indexed`).',
  }),
  suspend: field(10, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether to suspend the Job. The active pods of a suspended Job are deleted. Defaults to false.',
  }),
  podFailurePolicy: field(11, podFailurePolicy, {
    since: '1.25',
    gate: 'JobPodFailurePolicy',
    doc: 'How to handle failed pods. If unset, every failure counts towards `backoffLimit`. Immutable.',
  }),
  backoffLimitPerIndex: field(12, s.int32(), {
    zeroValue: 'keep',
    since: '1.28',
    gate: 'JobBackoffLimitPerIndex',
    doc: 'Number of retries for each index before the index counts as failed. Only for Indexed Jobs. Immutable.',
  }),
  maxFailedIndexes: field(13, s.int32(), {
    zeroValue: 'keep',
    since: '1.28',
    gate: 'JobBackoffLimitPerIndex',
    doc: 'Maximum number of failed indexes. If more indexes fail, the Job fails. Requires `backoffLimitPerIndex`.',
  }),
  podReplacementPolicy: field(14, s.string(), {
    zeroValue: 'keep',
    since: '1.28',
    gate: 'JobPodReplacementPolicy',
    doc: 'When to replace a pod: as soon as it is terminating or has failed (`TerminatingOrFailed`), or only after it has terminated completely (`Failed`).',
  }),
  managedBy: field(15, s.string(), {
    zeroValue: 'keep',
    since: '1.30',
    gate: 'JobManagedBy',
    // Drop the field only on creation. It is immutable, so no update can add it.
    gateDrops: 'onCreate',
    doc: 'Name of the controller that manages the Job. If unset, the built-in controller manages the Job. Immutable.',
  }),
  successPolicy: field(16, successPolicy, {
    since: '1.30',
    gate: 'JobSuccessPolicy',
    doc: 'When to declare the Job successful. If unset, all indexes must succeed. Immutable.',
  }),
}

export type JobSpec = InferFields<typeof fields>

export const jobSpec = s.object(fields, {
  name: 'batch.v1.JobSpec',
  doc: 'Specification of a Job.',
  fieldsToSkip: unvalidatedFields,
  check: checkJobSpec,
})

/** Returns the names of fields whose content is not validated. Only Indexed Jobs can use `successPolicy`. */
export function unvalidatedFields({ completionMode }: JobSpec): string[] {
  return completionMode === 'Indexed' ? [] : ['successPolicy']
}

const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const

function checkJobSpec(spec: JobSpec, path: FieldPath): FieldError[] {
  return [
    ...noneNegative(spec, counts, path),
    ...checkMode(spec, path),
    ...checkManager(spec.managedBy, child(path, 'managedBy')),
    ...checkFailurePolicy(spec, path),
    ...checkReplacement(spec, path),
    ...checkSuccessPolicy(spec, path),
    ...checkRestarts(spec, child(path, 'template.spec.restartPolicy')),
  ]
}

const modes = ['NonIndexed', 'Indexed']

/**
 * Maximum parallelism, and maximum number of failed indexes of an Indexed Job. Both are limited because the controller
 * tracks each index.
 */
const maxParallel = 100_000
const maxFailed = 100_000

/**
 * Number of completions above which a Job with a backoff limit per index must set `maxFailedIndexes` and is subject to
 * lower limits.
 */
export const manyCompletions = 100_000
/** Maximum parallelism and maximum number of failed indexes of a Job with many completions. */
export const maxWithManyCompletions = 10_000

function checkMode(spec: JobSpec, path: FieldPath): FieldError[] {
  const { completionMode: mode } = spec
  if (mode !== undefined && !modes.includes(mode)) return [notSupported(child(path, 'completionMode'), mode, modes)]
  return [
    ...(spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined
      ? [required(child(path, 'backoffLimitPerIndex'), 'when maxFailedIndexes is specified')]
      : []),
    ...(mode === 'Indexed' ? checkIndexed(spec, path) : checkNotIndexed(spec, path)),
  ]
}

function checkNotIndexed(spec: JobSpec, path: FieldPath): FieldError[] {
  return (['backoffLimitPerIndex', 'maxFailedIndexes'] as const).flatMap((name) =>
    spec[name] === undefined ? [] : [invalid(child(path, name), spec[name], 'requires indexed completion mode')],
  )
}

function checkIndexed(spec: JobSpec, path: FieldPath): FieldError[] {
  const why = `must be less than or equal to ${maxParallel} when completion mode is Indexed`
  const failedPath = child(path, 'maxFailedIndexes')
  const { completions, parallelism = 0, maxFailedIndexes: failed = 0 } = spec
  return [
    ...(completions === undefined ? [required(child(path, 'completions'), 'when completion mode is Indexed')] : []),
    ...(parallelism > maxParallel ? [invalid(child(path, 'parallelism'), parallelism, why)] : []),
    ...(completions !== undefined && failed > completions
      ? [invalid(failedPath, failed, 'must be less than or equal to completions')]
      : []),
    ...(failed > maxFailed ? [invalid(failedPath, failed, `must be less than or equal to ${maxFailed}`)] : []),
    ...(spec.backoffLimitPerIndex !== undefined && (completions ?? 0) > manyCompletions
      ? checkManyCompletions(spec, path)
      : []),
  ]
}

function checkManyCompletions({ maxFailedIndexes: failed, parallelism = 0 }: JobSpec, path: FieldPath): FieldError[] {
  const why = `must be less than or equal to ${maxWithManyCompletions} with backoffLimitPerIndex and over ${manyCompletions} completions`
  const failedPath = child(path, 'maxFailedIndexes')
  return [
    ...(failed === undefined ? [required(failedPath, `when completions is above ${manyCompletions}`)] : []),
    ...((failed ?? 0) > maxWithManyCompletions ? [invalid(failedPath, failed, why)] : []),
    ...(parallelism > maxWithManyCompletions ? [invalid(child(path, 'parallelism'), parallelism, why)] : []),
  ]
}

const maxManagerLength = 63

function checkManager(name: string | undefined, path: FieldPath): FieldError[] {
  if (name === undefined) return []
  if (name === '') return [required(path)]
  return [...checkDomainPath(name, path), ...(name.length > maxManagerLength ? [tooLong(path, maxManagerLength)] : [])]
}

/**
 * Rejects the restart policy Always, because the pods of a Job must terminate. Defaulting has already set an unset
 * policy to Always.
 */
function checkRestarts({ template, podFailurePolicy }: JobSpec, path: FieldPath): FieldError[] {
  const { restartPolicy = 'Always' } = template?.spec ?? {}
  const allowed = ['OnFailure', 'Never']
  if (restartPolicy === 'Always') return [required(path, 'valid values: "OnFailure", "Never"')]
  if (!allowed.includes(restartPolicy)) return [notSupported(path, restartPolicy, allowed)]
  if (podFailurePolicy === undefined || restartPolicy === 'Never') return []
  return [invalid(path, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified')]
}

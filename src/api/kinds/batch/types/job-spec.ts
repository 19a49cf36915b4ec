/** JobSpec: what a Job runs and how often. It stands in Jobs and in the templates that CronJobs make them from. */
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../../model/field-error.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import type { PodSpec } from '../../core/types/pod-spec.ts'
import { podTemplateSpec } from '../../core/types/pod-template-spec.ts'
import { noneNegative } from '../../counts.ts'
import { labelSelector } from '../../meta/label-selector.ts'

const fields = {
  parallelism: field(1, s.int32(), { zero: 'keep', doc: 'How many of its pods may run at once; 1 by default.' }),
  completions: field(2, s.int32(), {
    zero: 'keep',
    doc: 'How many pods must succeed. Unset, the success of any one is enough. 1 if neither it nor parallelism is set.',
  }),
  activeDeadlineSeconds: field(3, s.int64(), {
    zero: 'keep',
    doc: 'How long it may run, from its start, before it fails.',
  }),
  backoffLimit: field(7, s.int32(), {
    zero: 'keep',
    doc: 'How often it is tried again before it fails; 6 by default.',
  }),
  selector: field(4, labelSelector, { doc: 'Which pods count. Made by the server unless manualSelector is set.' }),
  manualSelector: field(5, s.boolean(), {
    zero: 'keep',
    doc: 'Whether its author sees to it that its selector and the labels of its pods are its own.',
  }),
  template: field(6, podTemplateSpec, {
    zero: 'write',
    published: 'required',
    doc: 'What its pods are made from. Their restartPolicy is OnFailure or Never.',
  }),
  ttlSecondsAfterFinished: field(8, s.int32(), {
    zero: 'keep',
    doc: 'How long after its end it is deleted; never if unset.',
  }),
  completionMode: field(9, s.string(), {
    zero: 'keep',
    doc: 'Whether each completion has a number (Indexed), from 0 to completions - 1, or all are alike (NonIndexed).',
  }),
  suspend: field(10, s.boolean(), { zero: 'keep', doc: 'Whether it waits: its pods are ended, and none is made.' }),
}

export type JobSpec = InferFields<typeof fields>

export const jobSpec = s.object(fields, {
  name: 'batch.v1.JobSpec',
  doc: 'What a Job runs and how often.',
  check: checkJobSpec,
})

function checkJobSpec(spec: JobSpec, path: FieldPath): FieldError[] {
  const counts = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit'] as const
  return [
    ...noneNegative(spec, [...counts, 'ttlSecondsAfterFinished'], path),
    ...checkMode(spec, path),
    ...checkRestarts(spec.template?.spec, child(path, 'template.spec.restartPolicy')),
  ]
}

const modes = ['NonIndexed', 'Indexed']
const maxParallel = 100_000

/** The controller tracks numbered pods one by one. */
function checkMode({ completionMode: mode, completions, parallelism = 0 }: JobSpec, path: FieldPath): FieldError[] {
  if (mode !== undefined && !modes.includes(mode)) return [notSupported(child(path, 'completionMode'), mode, modes)]
  if (mode !== 'Indexed') return []
  const why = `must be less than or equal to ${maxParallel} when completion mode is Indexed`
  return [
    ...(completions === undefined ? [required(child(path, 'completions'), 'when completion mode is Indexed')] : []),
    ...(parallelism > maxParallel ? [invalid(child(path, 'parallelism'), parallelism, why)] : []),
  ]
}

/** Pods of a Job end. Always is also what an unset policy has become. */
function checkRestarts({ restartPolicy = 'Always' }: PodSpec = {}, path: FieldPath): FieldError[] {
  const allowed = ['OnFailure', 'Never']
  if (restartPolicy === 'Always') return [required(path, 'valid values: "OnFailure", "Never"')]
  return allowed.includes(restartPolicy) ? [] : [notSupported(path, restartPolicy, allowed)]
}

/** JobStatus is the observed status of a Job. `job-status-rules.ts` validates JobStatus. */
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { conditionFields } from '../../conditions.ts'

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
      doc: "Machine-readable reason for the condition's last change, as one CamelCase word.",
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
  { name: 'UncountedTerminatedPods', doc: "UIDs of terminated pods that are not yet counted in the Job's status." },
)

const statusFields = {
  conditions: field(1, s.list(condition, { patch: 'merge', mergeKey: 'type' }), {
    doc: 'Current conditions of the Job, such as Complete, Failed or Suspended.',
  }),
  startTime: field(2, s.time(), { doc: 'Time when the Job started or was last resumed.' }),
  completionTime: field(3, s.time(), { doc: 'Time when the Job completed successfully.' }),
  active: field(4, s.int32(), { doc: 'Number of pods that are pending or running.' }),
  succeeded: field(5, s.int32(), { doc: 'Number of succeeded pods.' }),
  failed: field(6, s.int32(), { doc: 'Number of failed pods.' }),
  completedIndexes: field(7, s.string(), {
    doc: 'Completed indexes of an Indexed Job, as a list of numbers and ranges such as `1,3-5,7`.',
  }),
  uncountedTerminatedPods: field(8, uncounted, {
    doc: "Terminated pods that are not yet counted in the Job's status.",
  }),
  ready: field(9, s.int32(), { zeroValue: 'keep', doc: 'Number of ready pods.' }),
  failedIndexes: field(10, s.string(), {
    zeroValue: 'keep',
    since: '1.28',
    gate: 'JobBackoffLimitPerIndex',
    doc: 'Failed indexes of an Indexed Job, as a list of numbers and ranges such as `1,3-5,7`.',
  }),
  terminating: field(11, s.int32(), {
    zeroValue: 'keep',
    since: '1.28',
    gate: 'JobPodReplacementPolicy',
    doc: 'Number of terminating pods.',
  }),
}

export type JobStatus = InferFields<typeof statusFields>

export const jobStatus = s.object(statusFields, {
  name: 'JobStatus',
  doc: 'Observed status of a Job.',
  keepsDisabledFields: 'all',
})

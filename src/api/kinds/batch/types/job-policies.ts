/** The failure and success policies of a Job. */
import { field, s } from '../../../schema/schema.ts'

const onExitCodes = s.object(
  {
    containerName: field(1, s.string(), {
      zeroValue: 'keep',
      doc: 'Name of the container to check. Unset checks all containers.',
    }),
    operator: field(2, s.string(), {
      zeroValue: 'write',
      doc: 'Relation between the exit code and the values: `In` or `NotIn`.',
    }),
    values: field(3, s.list(s.int32(), { list: 'set' }), {
      zeroValue: 'write',
      doc: 'Exit codes, from 1 to 255 unique values in ascending order.',
    }),
  },
  {
    name: 'PodFailurePolicyOnExitCodesRequirement',
    doc: 'Exit codes of containers that a failure policy rule matches.',
  },
)

const onPodCondition = s.object(
  {
    type: field(1, s.string(), { zeroValue: 'write', doc: 'Type of the pod condition.' }),
    status: field(2, s.string(), {
      zeroValue: 'write',
      published: 'optional',
      doc: 'Status of the pod condition. Defaults to True.',
    }),
  },
  { name: 'PodFailurePolicyOnPodConditionsPattern', doc: 'A pod condition that a failure policy rule matches.' },
)

const failureRule = s.object(
  {
    action: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Action for a matching pod failure: `FailJob`, `FailIndex`, `Ignore` or `Count`.',
    }),
    onExitCodes: field(2, onExitCodes, { doc: 'Exit codes that the rule matches.' }),
    onPodConditions: field(3, s.list(onPodCondition), {
      zeroValue: 'write',
      published: 'optional',
      doc: 'Pod conditions that the rule matches. One matching condition is enough.',
    }),
  },
  {
    name: 'PodFailurePolicyRule',
    doc: 'A rule for failed pods. Exactly one of onExitCodes and onPodConditions is set.',
  },
)

export const podFailurePolicy = s.object(
  {
    rules: field(1, s.list(failureRule), {
      zeroValue: 'write',
      doc: 'Rules in order, at most 20. The first rule that matches a failed pod applies.',
    }),
  },
  { name: 'PodFailurePolicy', doc: 'Policy for failed pods in a Job.' },
)

const successRule = s.object(
  {
    succeededIndexes: field(1, s.string(), {
      zeroValue: 'keep',
      doc: 'Indexes that must succeed, as numbers and ranges such as `1,3-5,7`.',
    }),
    succeededCount: field(2, s.int32(), { zeroValue: 'keep', doc: 'Minimum number of indexes that must succeed.' }),
  },
  { name: 'SuccessPolicyRule', doc: 'A rule for declaring a Job succeeded. At least one field must be set.' },
)

export const successPolicy = s.object(
  {
    rules: field(1, s.list(successRule), {
      zeroValue: 'write',
      doc: 'Rules in order, at most 20. The Job succeeds once one rule is met.',
    }),
  },
  { name: 'SuccessPolicy', doc: 'Policy that declares an Indexed Job succeeded before all indexes succeed.' },
)

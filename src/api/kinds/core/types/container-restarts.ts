/** Settings for restarting a container when its resources change and after it exits. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../model/field-error.ts'
import { isEnabled, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { repeatedAt } from './repeated.ts'

const resizePolicyFields = {
  resourceName: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'Resource to which the policy applies: `cpu` or `memory`.',
  }),
  restartPolicy: field(2, s.string(), {
    zeroValue: 'write',
    doc: 'Whether the container must be restarted when the resource is resized: `NotRequired` or `RestartContainer`.',
  }),
}

export type ResizePolicy = InferFields<typeof resizePolicyFields>

export const resizePolicy = s.object(resizePolicyFields, {
  name: 'ContainerResizePolicy',
  doc: 'Specifies whether the container restarts when a resource is resized.',
})

const onExitCodes = s.object(
  {
    operator: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Whether the exit code must be one of the values (`In`) or none of them (`NotIn`).',
    }),
    values: field(2, s.list(s.int32(), { list: 'set' }), { doc: 'Exit codes to match. At most 255 entries.' }),
  },
  { name: 'ContainerRestartRuleOnExitCodes', doc: 'Matches a container by its exit code.' },
)

const ruleFields = {
  action: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'What to do if the rule matches: restart the container (`Restart`) or all containers in the pod (`RestartAllContainers`).',
  }),
  exitCodes: field(2, onExitCodes, { doc: 'Exit codes that the rule matches.' }),
}

type RestartRule = InferFields<typeof ruleFields>

export const restartRule = s.object(ruleFields, {
  name: 'ContainerRestartRule',
  doc: 'A rule that decides whether a container restarts after it exits.',
})

const restartPolicies = ['Always', 'Never', 'OnFailure']

/** Validates the restart policy and the restart rules of a container. Rules require a policy. */
export function checkRestart(
  { restartPolicy, restartPolicyRules: rules = [] }: { restartPolicy?: string; restartPolicyRules?: RestartRule[] },
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const place = child(path, 'restartPolicy')
  const rulesPath = child(path, 'restartPolicyRules')
  return [
    ...(restartPolicy === undefined && rules.length > 0
      ? [required(place, 'must specify restartPolicy when restart rules are used')]
      : []),
    ...(restartPolicy === undefined || restartPolicies.includes(restartPolicy)
      ? []
      : [notSupported(place, restartPolicy, restartPolicies)]),
    ...(rules.length > maxRules ? [tooMany(rulesPath, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, i) => checkRule(rule, at(rulesPath, i), context)),
  ]
}

const maxRules = 20
const maxExitCodes = 255
const operators = ['In', 'NotIn']

function checkRule({ action = '', exitCodes }: RestartRule, path: FieldPath, context: RuleContext): FieldError[] {
  const all = isEnabled('RestartAllContainersOnContainerExits', context)
  const actions = all ? ['Restart', 'RestartAllContainers'] : ['Restart']
  const place = child(path, 'exitCodes')
  const unknownAction = actions.includes(action) ? [] : [notSupported(child(path, 'action'), action, actions)]
  if (exitCodes === undefined) return [...unknownAction, required(place, 'must be specified')]
  const { operator = '', values = [] } = exitCodes
  return [
    ...unknownAction,
    ...(operators.includes(operator) ? [] : [notSupported(child(place, 'operator'), operator, operators)]),
    ...(values.length > maxExitCodes ? [tooMany(child(place, 'values'), values.length, maxExitCodes)] : []),
  ]
}

const resizableResources = ['cpu', 'memory']
const resizeRestarts = ['NotRequired', 'RestartContainer']

/**
 * Validates the resize policies. All errors except those about duplicates are reported for the list, as clients expect.
 */
export function checkResizePolicies(
  policies: readonly ResizePolicy[],
  path: FieldPath,
  podRestartPolicy: string | undefined,
): FieldError[] {
  const repeated = repeatedAt(policies.map(({ resourceName = '' }) => resourceName))
  return policies.flatMap(({ resourceName = '', restartPolicy = '' }, i) => [
    ...(repeated.has(i) ? [duplicate(at(path, i), resourceName)] : []),
    ...checkChoice(resourceName, resizableResources, path),
    ...checkChoice(restartPolicy, resizeRestarts, path),
    ...(podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired'
      ? [invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")]
      : []),
  ])
}

function checkChoice(value: string, supported: readonly string[], path: FieldPath): FieldError[] {
  if (value === '') return [required(path)]
  return supported.includes(value) ? [] : [notSupported(path, value, supported)]
}

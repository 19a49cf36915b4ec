/**
 * A MutatingAdmissionPolicy contains CEL expressions that change objects before they are stored. A policy takes effect
 * through bindings. The expressions are compiled and checked in `apiserver/admission/policy`.
 */
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { countsGeneration } from '../generation.ts'
import { byName } from '../list-keys.ts'
import { matchCondition } from './types/match-condition.ts'
import { checkConstraints, checkNoDeletions, matchResources } from './types/match-resources.ts'
import { checkMatchConditions, paramKind, variable } from './types/policy-parts.ts'

const expression = (name: string, doc: string) =>
  s.object(
    { expression: field(1, s.string(), { doc: 'CEL expression.' }) },
    {
      name,
      doc,
      check: ({ expression = '' }, path) => (expression.trim() === '' ? [required(child(path, 'expression'))] : []),
    },
  )

const mutationFields = {
  patchType: field(2, s.string(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'How the mutation changes the object: `ApplyConfiguration` or `JSONPatch`.',
  }),
  applyConfiguration: field(
    3,
    expression(
      'ApplyConfiguration',
      'A CEL expression whose result is merged into the object as an apply configuration.',
    ),
    { doc: 'CEL expression that returns the apply configuration, as in `Object{spec: Object.spec{replicas: 3}}`.' },
  ),
  jsonPatch: field(4, expression('JSONPatch', 'A CEL expression that returns the operations of a JSON patch.'), {
    doc: "CEL expression that returns the patch operations, as in `[JSONPatch{op: 'remove', path: '/spec/replicas'}]`.",
  }),
}

type Mutation = InferFields<typeof mutationFields>

const mutation = s.object(mutationFields, {
  name: 'Mutation',
  doc: 'A change that a policy makes to an object.',
  check: checkMutation,
})

/** Name of the field with the CEL expression, for each patch type. */
const expressionFields = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const
const patchTypes = Object.keys(expressionFields)

function checkMutation(value: Mutation, path: FieldPath): FieldError[] {
  const { patchType = '' } = value
  if (patchType === '') return [required(child(path, 'patchType'))]
  if (!Object.hasOwn(expressionFields, patchType))
    return [notSupported(child(path, 'patchType'), patchType, patchTypes)]
  const requiredField = expressionFields[patchType as keyof typeof expressionFields]
  const other = requiredField === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  const condition = `specified when patchType is ${patchType}`
  return [
    ...(value[requiredField] === undefined ? [required(child(path, requiredField), `must be ${condition}`)] : []),
    ...(value[other] === undefined ? [] : [invalid(child(path, other), `{${other}}`, `must not be ${condition}`)]),
  ]
}

const specFields = {
  paramKind: field(1, paramKind, {
    doc: "Kind of the objects that hold the policy's parameters. Leave unset if the policy takes no parameters.",
  }),
  matchConstraints: field(2, matchResources, { doc: 'Requests to which the policy applies. Required.' }),
  variables: field(3, s.list(variable), {
    doc: "Named CEL expressions that the policy's mutations can use.",
  }),
  mutations: field(4, s.list(mutation), {
    doc: 'Mutations to apply to the object, in order. Each mutation sees the result of the previous one. At least one mutation is required.',
  }),
  failurePolicy: field(5, s.oneOf('Fail', 'Ignore'), {
    zeroValue: 'keep',
    default: 'Fail',
    doc: 'What to do if the policy cannot be evaluated: `Fail` rejects the request, and `Ignore` skips the mutation. Defaults to `Fail`.',
  }),
  matchConditions: field(6, s.list(matchCondition, byName), {
    doc: 'Additional CEL conditions that a request must meet for the policy to apply. At most 64 conditions.',
  }),
  reinvocationPolicy: field(7, s.string(), {
    doc: 'Whether the policy may be applied again if the object changes after the policy has run: `Never` or `IfNeeded`. Required.',
  }),
}

type Spec = InferFields<typeof specFields>

const spec = s.object(specFields, {
  name: 'MutatingAdmissionPolicySpec',
  doc: 'Specification of a MutatingAdmissionPolicy.',
  check: checkSpec,
})

const reinvocationPolicies = ['IfNeeded', 'Never']

function checkSpec(value: Spec, path: FieldPath): FieldError[] {
  const { matchConstraints, matchConditions, mutations = [], reinvocationPolicy = '' } = value
  const constraintsPath = child(path, 'matchConstraints')
  const reinvocationPath = child(path, 'reinvocationPolicy')
  return [
    ...checkConstraints(matchConstraints, constraintsPath),
    ...checkNoDeletions(matchConstraints, constraintsPath),
    ...checkMatchConditions(matchConditions, child(path, 'matchConditions')),
    ...(mutations.length === 0 ? [required(child(path, 'mutations'), 'mutations must contain at least one item')] : []),
    ...(reinvocationPolicy === '' ? [required(reinvocationPath)] : []),
    ...(reinvocationPolicy !== '' && !reinvocationPolicies.includes(reinvocationPolicy)
      ? [notSupported(reinvocationPath, reinvocationPolicy, reinvocationPolicies)]
      : []),
  ]
}

const fields = { spec: field(2, spec, { zeroValue: 'write', doc: 'Specification of the policy.' }) }

export type MutatingAdmissionPolicy = ObjectOf<typeof fields>
/** The spec of a MutatingAdmissionPolicy. */
export type MutatingAdmissionPolicySpec = Spec

export const mutatingAdmissionPolicy = defineKind({
  names: {
    group: 'admissionregistration',
    version: 'v1',
    kind: 'MutatingAdmissionPolicy',
    plural: 'mutatingadmissionpolicies',
    categories: ['api-extensions'],
    scope: 'Cluster',
  },
  since: '1.36',
  doc: 'CEL expressions that change objects before they are stored. A policy takes effect only through bindings.',
  fields,
  rules: countsGeneration(({ spec }: MutatingAdmissionPolicy) => spec),
  views: {
    columns: [
      nameColumn,
      {
        ...column(
          'Mutations',
          'Number of mutations.',
          ({ spec }: MutatingAdmissionPolicy) => (spec?.mutations ?? []).length,
        ),
        type: 'integer',
      },
      column(
        'ParamKind',
        "Kind of the objects that hold the policy's parameters.",
        ({ spec }: MutatingAdmissionPolicy) =>
          spec?.paramKind === undefined ? '<unset>' : `${spec.paramKind.apiVersion}/${spec.paramKind.kind}`,
      ),
      ageColumn,
    ],
  },
})

export const mutatingAdmissionPolicyV1beta1 = defineVersion(mutatingAdmissionPolicy, {
  version: 'v1beta1',
  fields,
  since: '1.34',
  optIn: true,
})

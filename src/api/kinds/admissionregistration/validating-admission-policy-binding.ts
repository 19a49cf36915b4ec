/**
 * A ValidatingAdmissionPolicyBinding applies a validating admission policy to requests. It defines the parameters of
 * the policy and the actions to take.
 */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../model/field-error.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { countsGeneration } from '../generation.ts'
import { bindingColumns } from './types/binding-columns.ts'
import { matchResources } from './types/match-resources.ts'
import { checkPolicyName, paramRef } from './types/policy-parts.ts'

const specFields = {
  policyName: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the policy.' }),
  paramRef: field(2, paramRef, { doc: 'Parameters for the policy. Leave unset if the policy takes no parameters.' }),
  matchResources: field(3, matchResources, {
    doc: 'Further restricts the requests to which the binding applies. By default, the binding applies to all requests that the policy matches.',
  }),
  validationActions: field(4, s.list(s.string(), { list: 'set' }), {
    published: 'required',
    doc: 'What to do about a violation: `Deny` rejects the request, `Warn` returns a warning to the client, and `Audit` adds an audit annotation.',
  }),
}

const spec = s.object(specFields, {
  name: 'ValidatingAdmissionPolicyBindingSpec',
  doc: 'Specification of a ValidatingAdmissionPolicyBinding.',
  check: ({ policyName, validationActions }, path) => [
    ...checkPolicyName(policyName, child(path, 'policyName')),
    ...checkActions(validationActions, child(path, 'validationActions')),
  ],
})

const allActions = ['Audit', 'Deny', 'Warn']

function checkActions(actions: readonly string[] = [], path: FieldPath): FieldError[] {
  if (actions.length === 0) return [required(path, 'at least one validation action is required')]
  const repeated = repeatedAt(actions)
  const conflict = 'must not contain both Deny and Warn, because the response would report each violation twice'
  return [
    ...actions.flatMap((action, i) => [
      ...(allActions.includes(action) ? [] : [notSupported(at(path, i), action, allActions)]),
      ...(repeated.has(i) ? [duplicate(at(path, i), action)] : []),
    ]),
    ...(actions.includes('Deny') && actions.includes('Warn') ? [invalid(path, [...actions], conflict)] : []),
  ]
}

const fields = { spec: field(2, spec, { zeroValue: 'write', doc: 'Specification of the binding.' }) }

export type ValidatingAdmissionPolicyBinding = ObjectOf<typeof fields>

export const validatingAdmissionPolicyBinding = defineKind({
  names: {
    group: 'admissionregistration',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    categories: ['api-extensions'],
    scope: 'Cluster',
  },
  since: '1.30',
  doc: 'Binds a ValidatingAdmissionPolicy to requests, and specifies the parameters and enforcement actions of the policy.',
  fields,
  rules: countsGeneration(({ spec }: ValidatingAdmissionPolicyBinding) => spec),
  views: {
    columns: bindingColumns,
  },
})

export const validatingAdmissionPolicyBindingV1beta1 = defineVersion(validatingAdmissionPolicyBinding, {
  version: 'v1beta1',
  fields,
  since: '1.28',
  until: '1.34',
  optIn: true,
})

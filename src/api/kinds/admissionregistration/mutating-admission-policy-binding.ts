/** A MutatingAdmissionPolicyBinding applies a mutating admission policy, with parameters, to requests. */
import { child } from '../../model/field-error.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { countsGeneration } from '../generation.ts'
import { bindingColumns } from './types/binding-columns.ts'
import { checkNoDeletions, matchResources } from './types/match-resources.ts'
import { checkPolicyName, paramRef } from './types/policy-parts.ts'

const specFields = {
  policyName: field(1, s.string(), { doc: 'Name of the policy. Required.' }),
  paramRef: field(2, paramRef, { doc: 'Parameters for the policy. Leave unset if the policy takes no parameters.' }),
  matchResources: field(3, matchResources, {
    doc: 'Further restricts the requests to which the binding applies. By default, the binding applies to all requests that the policy matches.',
  }),
}

const spec = s.object(specFields, {
  name: 'MutatingAdmissionPolicyBindingSpec',
  doc: 'Specification of a MutatingAdmissionPolicyBinding.',
  check: ({ policyName, matchResources }, path) => [
    ...checkPolicyName(policyName, child(path, 'policyName')),
    ...checkNoDeletions(matchResources, child(path, 'matchResources')),
  ],
})

const fields = { spec: field(2, spec, { zeroValue: 'write', doc: 'Specification of the binding.' }) }

export type MutatingAdmissionPolicyBinding = ObjectOf<typeof fields>

export const mutatingAdmissionPolicyBinding = defineKind({
  names: {
    group: 'admissionregistration',
    version: 'v1',
    kind: 'MutatingAdmissionPolicyBinding',
    plural: 'mutatingadmissionpolicybindings',
    categories: ['api-extensions'],
    scope: 'Cluster',
  },
  since: '1.36',
  doc: 'Binds a MutatingAdmissionPolicy to requests, and specifies the parameters of the policy.',
  fields,
  rules: countsGeneration(({ spec }: MutatingAdmissionPolicyBinding) => spec),
  views: { columns: bindingColumns },
})

export const mutatingAdmissionPolicyBindingV1beta1 = defineVersion(mutatingAdmissionPolicyBinding, {
  version: 'v1beta1',
  fields,
  since: '1.34',
  optIn: true,
})

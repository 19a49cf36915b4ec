/**
 * Defines the two families of admission policies, validating and mutating: the kinds of each family, and the functions
 * that compile its policies.
 */
import {
  type MutatingAdmissionPolicySpec,
  mutatingAdmissionPolicy,
} from '../../../api/kinds/admissionregistration/mutating-admission-policy.ts'
import { mutatingAdmissionPolicyBinding } from '../../../api/kinds/admissionregistration/mutating-admission-policy-binding.ts'
import {
  type ValidatingAdmissionPolicySpec,
  validatingAdmissionPolicy,
} from '../../../api/kinds/admissionregistration/validating-admission-policy.ts'
import { validatingAdmissionPolicyBinding } from '../../../api/kinds/admissionregistration/validating-admission-policy-binding.ts'
import { groupName } from '../../../api/model/vendor.ts'
import type { AdmissionRequest } from '../admission.ts'
import { type CompiledMutatingPolicy, compileMutatingPolicy } from './compiled-mutations.ts'
import { type CompiledPolicy, compilePolicy } from './compiled-policy.ts'
import type { Policies, Policy, PolicyFamily } from './policies.ts'

/** A validating policy with its bindings. */
export type ValidatingPolicy = Policy<CompiledPolicy>
/** The stored validating policies. */
export type ValidatingPolicies = Policies<ValidatingAdmissionPolicySpec, CompiledPolicy>
export type MutatingPolicy = Policy<CompiledMutatingPolicy>

/** The kinds and the compiler of ValidatingAdmissionPolicies. */
export const validatingFamily: PolicyFamily<ValidatingAdmissionPolicySpec, CompiledPolicy> = {
  policies: validatingAdmissionPolicy,
  bindings: validatingAdmissionPolicyBinding,
  compile: compilePolicy,
}

export const mutatingFamily: PolicyFamily<MutatingAdmissionPolicySpec, CompiledMutatingPolicy> = {
  policies: mutatingAdmissionPolicy,
  bindings: mutatingAdmissionPolicyBinding,
  compile: compileMutatingPolicy,
}

const policyPlurals = [validatingFamily, mutatingFamily].flatMap(({ policies, bindings }) => [
  policies.plural,
  bindings.plural,
])

/** Resources to which policies never apply, by group. This exemption ensures that a broken policy can be repaired. */
const exemptResources = new Map<string, readonly string[]>([
  ['admissionregistration', policyPlurals],
  ['authentication', ['selfsubjectreviews', 'tokenreviews']],
  [
    'authorization',
    ['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews'],
  ],
])

/** Whether the resource of the request is exempt from all policies. */
export function isExempt({ type, vendor }: AdmissionRequest): boolean {
  for (const [group, plurals] of exemptResources)
    if (plurals.includes(type.plural) && type.group === groupName(vendor, group)) return true
  return false
}

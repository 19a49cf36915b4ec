/**
 * ValidatingAdmissionPolicy: evaluates the stored policies whose rules and bindings match a request. A violation
 * rejects the request, adds a warning or an audit annotation, as the binding says. Policies do not apply to policies,
 * so that a broken one can be repaired.
 */

import { ApiError } from '../../../api/model/api-error.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import { groupName, type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { judgePolicy, type Violation } from '../policy/judge-request.ts'
import { matchedForm } from '../policy/matching.ts'
import { type FindParameterType, parametersOf } from '../policy/parameters.ts'
import { type Binding, Policies, type Policy } from '../policy/policies.ts'
import type { LoadPatterns } from '../policy/policy-faults.ts'
import { requestData } from '../policy/request-data.ts'
import { refusal } from '../refusal.ts'
import { everyOperation } from '../webhook/mutating-webhooks.ts'

export interface PolicyControlParts {
  readonly vendor: Vendor
  readonly lookup: Lookup
  readonly authorizer: Authorizer
  readonly findParameterType: FindParameterType
  readonly loadPatterns: LoadPatterns
}

export function validatingAdmissionPolicy(parts: PolicyControlParts): Control {
  const policies = new Policies(parts.lookup, parts.loadPatterns)
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: { operations: everyOperation },
    asksOthers: true,
    isIdle: () => policies.all.length === 0,
    validate: (request) => {
      const candidates = policies.candidates(request)
      if (candidates.length === 0 || isPolicy(request)) return
      return judgeAll(parts, request, candidates)
    },
  }
}

const policyResources = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])

function isPolicy({ type, vendor }: AdmissionRequest): boolean {
  return policyResources.has(type.plural) && type.group === groupName(vendor, 'admissionregistration')
}

interface Reported extends Violation {
  readonly policy: string
  readonly binding: string
}

async function judgeAll(
  parts: PolicyControlParts,
  request: AdmissionRequest,
  candidates: readonly Policy[],
): Promise<void> {
  const denied: Reported[] = []
  const notes = new AuditNotes(request)
  const timeSlice = new TimeSlice()
  for (const policy of candidates) {
    await timeSlice.yieldIfDue()
    const form = await matchedForm(policy.matcher, request, parts.lookup)
    if (form === undefined) continue
    let data: Awaited<ReturnType<typeof requestData>> | undefined
    for (const binding of policy.bindings) {
      if ((await matchedForm(binding.matcher, request, parts.lookup)) === undefined) continue
      await timeSlice.yieldIfDue()
      data ??= await requestData(request, form, parts)
      const query = { kind: policy.spec.paramKind, ref: binding.spec.paramRef, namespace: request.namespace }
      const parameters = parametersOf(query, parts.lookup, parts.findParameterType)
      const { violations, annotations } = await judgePolicy(policy, { data, parameters, timeSlice })
      for (const [key, value] of annotations) notes.add(`${policy.name}/${key}`, value)
      for (const violation of violations) denied.push(...report(request, notes, { policy, binding, violation }))
    }
  }
  notes.write()
  if (denied.length > 0) throw denial(request, denied[0]!)
}

interface Found {
  readonly policy: Policy
  readonly binding: Binding
  readonly violation: Violation
}

/** Adds the warning and the audit annotation of a violation. Returns it if the binding denies the request. */
function report(request: AdmissionRequest, notes: AuditNotes, { policy, binding, violation }: Found): Reported[] {
  const actions = binding.spec.validationActions ?? []
  const names = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`
  if (actions.includes('Warn')) request.warn(`Validation failed for ${names}: ${violation.message}`)
  if (actions.includes('Audit')) {
    const { message, index: expressionIndex } = violation
    notes.failures.push({
      message,
      policy: policy.name,
      binding: binding.name,
      expressionIndex,
      validationActions: [...actions],
    })
  }
  return actions.includes('Deny') ? [{ ...violation, policy: policy.name, binding: binding.name }] : []
}

/** Collects the audit annotations of one request. Bindings may add different values for one key. */
class AuditNotes {
  readonly failures: object[] = []
  readonly #values = new Map<string, Set<string>>()
  readonly #request: AdmissionRequest

  constructor(request: AdmissionRequest) {
    this.#request = request
  }

  add(key: string, value: string): void {
    const values = this.#values.get(key) ?? new Set()
    this.#values.set(key, values.add(value))
  }

  write(): void {
    const { audit, vendor } = this.#request
    for (const [key, values] of this.#values) audit?.annotate(key, [...values].join(', '))
    if (this.failures.length === 0) return
    audit?.annotate(
      vendorKey(vendor, 'validation_failure', 'validation.policy.admission'),
      JSON.stringify(this.failures),
    )
  }
}

const codes: { readonly [reason: string]: number } = { Forbidden: 403, Invalid: 422, RequestEntityTooLarge: 413 }

function denial(request: AdmissionRequest, { policy, binding, message, reason }: Reported): ApiError {
  const why = `ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${message}`
  const { message: text, details } = refusal(request, why)
  return new ApiError(codes[reason] ?? 422, reason, text, { ...details, causes: [{ message: why }] })
}

/**
 * ValidatingAdmissionPolicy: evaluates the stored policies whose rules and bindings match a request. Depending on the
 * binding, a violation rejects the request, adds a warning or adds an audit annotation. Policies do not apply to policy
 * objects, so that a broken policy can be repaired.
 */

import { ApiError } from '../../../api/model/api-error.ts'
import { vendorKey } from '../../../api/model/vendor.ts'
import { isAvailable } from '../../../api/versions/availability.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import type { ObjectForm } from '../object-forms.ts'
import type { Candidates } from '../policy/candidates.ts'
import { policyExplainer } from '../policy/explain-policy.ts'
import { isExempt, type ValidatingPolicy } from '../policy/families.ts'
import { type Invocation, invocationsOf } from '../policy/invocations.ts'
import { actionsFor, type Decision, evaluatePolicy, type Violation } from '../policy/judge-request.ts'
import type { PolicyControlParts } from '../policy/policy-control-parts.ts'
import type { EnforcementAction, PolicyMetrics } from '../policy/policy-metrics.ts'
import { type RequestData, requestData } from '../policy/request-data.ts'
import { refusal } from '../refusal.ts'
import { everyOperation } from '../webhook/mutating-webhooks.ts'

const name = 'ValidatingAdmissionPolicy'

/** Creates the ValidatingAdmissionPolicy plugin. Policies are compiled when they are first used. */
export function validatingAdmissionPolicy(parts: PolicyControlParts): Control {
  const policies = parts.validatingPolicies
  const isDisabled = !isAvailable({ gate: 'ValidatingAdmissionPolicy' }, parts.emulation)
  return {
    name,
    handles: { operations: everyOperation },
    asksOthers: true,
    isIdle: () => isDisabled || policies.isEmpty,
    validate: (request) => {
      const validate = (candidates: Candidates<ValidatingPolicy>) => {
        if (candidates.isEmpty || isExempt(request)) return
        return evaluatePolicies({ ...parts, metrics: parts.metrics.policies }, request, candidates)
      }
      const candidates = policies.candidates(request)
      return candidates instanceof Promise ? candidates.then(validate) : validate(candidates)
    },
  }
}

interface JudgingParts extends Pick<PolicyControlParts, 'lookup' | 'authorizer' | 'findParameterType'> {
  readonly metrics: PolicyMetrics
}

interface Reported extends Violation {
  readonly policy: string
  readonly binding: string
}

async function evaluatePolicies(
  parts: JudgingParts,
  request: AdmissionRequest,
  candidates: Candidates<ValidatingPolicy>,
): Promise<void> {
  const denied: Reported[] = []
  const notes = new AuditNotes(request)
  const timeSlice = new TimeSlice()
  const data = new Map<ObjectForm, RequestData>()
  const { metrics } = parts
  for (const invocation of await invocationsOf(parts, request, candidates)) {
    const rest = timeSlice.yieldIfDue()
    if (rest !== undefined) await rest
    const { policy, binding, form, parameters } = invocation
    const formData = data.get(form) ?? (await requestData(request, form, parts))
    data.set(form, formData)
    const { decisions, annotations, conditions } = await evaluatePolicy(policy, {
      data: formData,
      parameters,
      timeSlice,
      onEnd: policyExplainer(request, { control: name, step: 'validate', invocation }),
    })
    for (const [key, value] of annotations) notes.add(`${policy.name}/${key}`, value)
    for (const outcome of conditions)
      metrics.conditions(outcome, {
        name: policy.name,
        kind: 'policy',
        type: 'validating',
        operation: request.operation,
      })
    for (const decision of decisions) {
      const { violation } = decision
      const checked = { policy, binding, error: decision.error, ms: decision.ms }
      if (violation === undefined) {
        metrics.validated(checked, 'allow')
        continue
      }
      for (const action of actionsFor(decision, binding))
        metrics.validated(checked, action.toLowerCase() as EnforcementAction)
      denied.push(...report(request, notes, { invocation, violation, decision }))
    }
  }
  notes.write()
  if (denied.length > 0) throw denial(request, denied[0]!)
}

interface Found {
  readonly invocation: Invocation<ValidatingPolicy>
  readonly violation: Violation
  readonly decision: Decision
}

/**
 * Adds the warning and the audit annotation for a violation. Returns the violation if the binding denies the request.
 */
function report(request: AdmissionRequest, notes: AuditNotes, { invocation, violation, decision }: Found): Reported[] {
  const { policy, binding } = invocation
  const actions = actionsFor(decision, binding)
  const names = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`
  if (actions.includes('Warn')) request.warn(`Validation failed for ${names}: ${violation.message}`)
  if (actions.includes('Audit')) {
    notes.failures.push({
      message: violation.message,
      policy: policy.name,
      binding: binding.name,
      expressionIndex: decision.index,
      validationActions: [...actions],
    })
  }
  return actions.includes('Deny') ? [{ ...violation, policy: policy.name, binding: binding.name }] : []
}

/** Collects the audit annotations of one request. Several bindings may add different values for the same key. */
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
  // A deletecollection request names no object. Only the message names the object whose deletion was denied.
  const named = request.ofCollection ? { ...details, name: 'Unknown' } : details
  return new ApiError(codes[reason] ?? 422, reason, text, { ...named, causes: [{ message: why }] })
}

/** Selects the policies and bindings that apply to a request, together with their parameters. */
import type { Lookup } from '../../../api/model/lookup.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForm } from '../object-forms.ts'
import { matchedForm } from './matching.ts'
import { type FindParameterType, type Parameters, parametersOf } from './parameters.ts'
import type { Binding, Policy } from './policies.ts'

export interface Invocation<P extends Policy> {
  readonly policy: P
  readonly binding: Binding
  /** The object in the version that the policy's rules match. */
  readonly form: ObjectForm
  readonly parameters: Parameters
}

/** Dependencies for the lookup of parameter objects. */
export interface InvocationParts {
  readonly lookup: Lookup
  readonly findParameterType: FindParameterType
}

/** Returns the policies and bindings that apply to a request, in evaluation order. */
export async function invocationsOf<P extends Policy>(
  { lookup, findParameterType }: InvocationParts,
  request: AdmissionRequest,
  candidates: readonly P[],
): Promise<Invocation<P>[]> {
  const invocations: Invocation<P>[] = []
  const timeSlice = new TimeSlice()
  for (const policy of candidates) {
    await timeSlice.yieldIfDue()
    const form = await matchedForm(policy.matcher, request, lookup)
    if (form === undefined) continue
    for (const binding of policy.bindings) {
      await timeSlice.yieldIfDue()
      if ((await matchedForm(binding.matcher, request, lookup)) === undefined) continue
      const query = { kind: policy.spec.paramKind, ref: binding.spec.paramRef, request }
      const parameters = await parametersOf(query, lookup, findParameterType)
      invocations.push({ policy, binding, form, parameters })
    }
  }
  return invocations
}

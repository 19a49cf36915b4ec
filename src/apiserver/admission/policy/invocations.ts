/** Selects the policies and bindings that apply to a request, together with their parameters. */
import type { Lookup } from '../../../api/model/lookup.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { ObjectForm } from '../object-forms.ts'
import { namespaceLabels, objectLabels } from '../webhook/select-webhooks.ts'
import type { Candidates } from './candidates.ts'
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

/** Dependencies for finding the parameter objects of a binding. */
export interface InvocationParts {
  readonly lookup: Lookup
  readonly findParameterType: FindParameterType
}

/** Estimated cost of matching a policy and a binding, charged to the time slice. */
const unitsPerMatch = 2

/** Returns the policies and bindings that apply to a request, in evaluation order. */
export async function invocationsOf<P extends Policy>(
  { lookup, findParameterType }: InvocationParts,
  request: AdmissionRequest,
  candidates: Candidates<P>,
): Promise<Invocation<P>[]> {
  const invocations: Invocation<P>[] = []
  const timeSlice = new TimeSlice()
  const labels = {
    namespace: candidates.usesNamespace ? await namespaceLabels(request, lookup) : undefined,
    objects: candidates.usesObject ? objectLabels(request) : [],
  }
  for (const { policy, binding } of candidates.select(labels)) {
    if (timeSlice.charge(unitsPerMatch)) await timeSlice.yieldIfDue()
    const form = matchedForm(policy.matcher, request, labels)
    if (form === undefined || matchedForm(binding.matcher, request, labels) === undefined) continue
    const query = { kind: policy.settings.paramKind, ref: binding.paramRef, request }
    const found = parametersOf(query, lookup, findParameterType)
    const parameters = found instanceof Promise ? await found : found
    invocations.push({ policy, binding, form, parameters })
  }
  return invocations
}

/**
 * MutatingAdmissionPolicy: changes objects according to the stored policies whose rules and bindings match a request.
 * If a policy changes the object, the chain runs all plugins again. In the second round, only policies with
 * `reinvocationPolicy: IfNeeded` apply.
 */
import { isAvailable } from '../../../api/versions/availability.ts'
import type { Control } from '../admission.ts'
import type { Candidates } from '../policy/candidates.ts'
import { isExempt, type MutatingPolicy, mutatingFamily } from '../policy/families.ts'
import { mutateRequest } from '../policy/mutate-request.ts'
import { Policies } from '../policy/policies.ts'
import type { PolicyControlParts } from '../policy/policy-control-parts.ts'
import { Rounds } from '../reinvocation.ts'
import { everyOperation } from '../webhook/mutating-webhooks.ts'

/** Creates the MutatingAdmissionPolicy plugin. Policies are compiled on first use. */
export function mutatingAdmissionPolicy(parts: PolicyControlParts): Control {
  const policies = new Policies(mutatingFamily, parts)
  const allRounds = new WeakMap<WeakKey, Rounds<string>>()
  const isDisabled = !isAvailable({ gate: 'MutatingAdmissionPolicy' }, parts.emulation)
  return {
    name: 'MutatingAdmissionPolicy',
    handles: { operations: everyOperation },
    asksOthers: true,
    isIdle: () => isDisabled || policies.isEmpty,
    mutate: (request, memory) => {
      const mutate = (candidates: Candidates<MutatingPolicy>) => {
        if (candidates.isEmpty || request.object === undefined || isExempt(request)) return undefined
        const rounds = allRounds.get(memory) ?? new Rounds<string>()
        allRounds.set(memory, rounds)
        return mutateRequest({ ...parts, metrics: parts.metrics.policies }, { request, candidates, rounds })
      }
      const candidates = policies.candidates(request)
      return candidates instanceof Promise ? candidates.then(mutate) : mutate(candidates)
    },
  }
}

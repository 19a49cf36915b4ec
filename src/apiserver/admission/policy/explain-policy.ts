/**
 * Explains the evaluation of policies to clients that request an explanation. The explanation contains the expression
 * that determined the decision, and the values of the variables.
 */
import type { AdmissionRequest } from '../admission.ts'
import type { Look } from '../explanation.ts'
import type { Invocation } from './invocations.ts'
import type { EvaluationEnd } from './judge-request.ts'
import type { Policy } from './policies.ts'

interface Explained extends Pick<Look, 'control' | 'step'> {
  readonly invocation: Invocation<Policy>
}

/**
 * Returns the function that is called after each evaluation, or undefined if the client did not request an explanation.
 */
export function policyExplainer(
  { explanation }: AdmissionRequest,
  explained: Explained,
): ((end: EvaluationEnd) => void) | undefined {
  if (explanation === undefined) return undefined
  const { control, step, invocation } = explained
  const { policy, binding } = invocation
  let began = performance.now()
  return ({ said, expression, hasEffect, params, evaluation }) => {
    const ended = performance.now()
    const { namespace, name } = params?.metadata ?? {}
    explanation.looked({
      control,
      step,
      ms: ended - began,
      said,
      policy: {
        name: policy.name,
        binding: binding.name,
        ...(name === undefined ? {} : { params: namespace === undefined ? name : `${namespace}/${name}` }),
        ...(expression === undefined ? {} : { expression }),
        hasEffect,
        variables: evaluation.describeVariables(),
      },
    })
    began = ended
  }
}

/**
 * Adds validation of CEL expressions to the policy and webhook configuration kinds. New expressions must compile and
 * have the right type.
 */

import type { Compiling } from '../../../api/cel/policy-environment.ts'
import type { Compiled } from '../../../api/cel/program.ts'
import type { ReadPattern } from '../../../api/cel/regex.ts'
import type { MutatingAdmissionPolicySpec } from '../../../api/kinds/admissionregistration/mutating-admission-policy.ts'
import type { MatchCondition } from '../../../api/kinds/admissionregistration/types/policy-parts.ts'
import type { ValidatingAdmissionPolicySpec } from '../../../api/kinds/admissionregistration/validating-admission-policy.ts'
import { at, child, type FieldError, type FieldPath, invalid } from '../../../api/model/field-error.ts'
import { emulationOf } from '../../../api/schema/context.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { minorOf } from '../../../api/versions/emulated-version.ts'
import { compileMutatingPolicy } from './compiled-mutations.ts'
import { compileConditions, compilePolicy, type Expression } from './compiled-policy.ts'

/** Loads the regular expression engine. */
export type LoadPatterns = () => Promise<ReadPattern>

/** A compiled expression with the path of its field. */
interface PlacedExpression {
  readonly path: FieldPath
  readonly source: string
  readonly compiled: Compiled
}

type CompileAll = (object: never, compiling: Compiling) => Generator<void, PlacedExpression[]>

/** Functions that compile all expressions of an object, keyed by the plural name of the object's resource type. */
const compilers = new Map<string, CompileAll>([
  ['validatingadmissionpolicies', compileValidating],
  ['mutatingadmissionpolicies', compileMutating],
  ['validatingwebhookconfigurations', compileWebhooks],
  ['mutatingwebhookconfigurations', compileWebhooks],
])

/** Adds validation of CEL expressions to a kind. Returns a kind without expressions unchanged. */
export function withExpressionRules(kind: Kind, loadPatterns: LoadPatterns): Kind {
  const compileAll = kind.group === 'admissionregistration' ? compilers.get(kind.plural) : undefined
  if (compileAll === undefined) return kind
  const judge: NonNullable<Kind['rules']['judge']> = async (object, previous, context) => {
    if (context.subresource !== '') return []
    // New expressions may use only what the previous Kubernetes version supports, so that a downgrade remains possible.
    const version = minorOf(emulationOf(context).version) - 1
    const readPattern = await loadPatterns()
    const compile = (each: unknown) => context.timeSlice.run(compileAll(each as never, { readPattern, version }))
    const faulty = (await compile(object)).filter(isFaulty)
    if (faulty.length === 0) return []
    const previousSources = new Set(previous === undefined ? [] : (await compile(previous)).map(({ source }) => source))
    return faulty.filter(({ source }) => !previousSources.has(source)).map(faultOf)
  }
  return { ...kind, rules: { ...kind.rules, judge } }
}

/** Whether an expression does not compile. Empty expressions are reported elsewhere. */
function isFaulty({ source, compiled }: PlacedExpression): boolean {
  return compiled.outcome === 'invalid' && source.trim() !== ''
}

function faultOf({ path, source, compiled }: PlacedExpression): FieldError {
  return invalid(path, source, compiled.outcome === 'invalid' ? compiled.why : '')
}

function placed(expressions: readonly Expression[], list: FieldPath, name = 'expression'): PlacedExpression[] {
  return expressions.map(({ source, compiled }, i) => ({ path: child(at(list, i), name), source, compiled }))
}

function* compileValidating(
  { spec }: { spec?: ValidatingAdmissionPolicySpec },
  compiling: Compiling,
): Generator<void, PlacedExpression[]> {
  if (spec === undefined) return []
  const { conditions, variables, validations, annotations } = yield* compilePolicy(spec, compiling)
  return [
    ...placed(conditions, 'spec.matchConditions'),
    ...placed(variables, 'spec.variables'),
    ...validations.flatMap((validation, i) => {
      const path = at('spec.validations', i)
      const { messageExpression } = validation
      return [
        { path: child(path, 'expression'), source: validation.source, compiled: validation.compiled },
        ...(messageExpression === undefined ? [] : [{ ...messageExpression, path: child(path, 'messageExpression') }]),
      ]
    }),
    ...placed(annotations, 'spec.auditAnnotations', 'valueExpression'),
  ]
}

function* compileMutating(
  { spec }: { spec?: MutatingAdmissionPolicySpec },
  compiling: Compiling,
): Generator<void, PlacedExpression[]> {
  if (spec === undefined) return []
  const { conditions, variables, mutations } = yield* compileMutatingPolicy(spec, compiling)
  return [
    ...placed(conditions, 'spec.matchConditions'),
    ...placed(variables, 'spec.variables'),
    ...mutations.map(({ patchType, source, compiled }, i) => {
      const field = patchType === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration'
      return { path: child(at('spec.mutations', i), `${field}.expression`), source, compiled }
    }),
  ]
}

interface Configuration {
  webhooks?: { matchConditions?: readonly MatchCondition[] }[]
}

function* compileWebhooks({ webhooks = [] }: Configuration, compiling: Compiling): Generator<void, PlacedExpression[]> {
  const expressions: PlacedExpression[] = []
  for (const [i, { matchConditions }] of webhooks.entries()) {
    const conditions = yield* compileConditions(matchConditions, compiling, { params: false })
    expressions.push(...placed(conditions, child(at('webhooks', i), 'matchConditions')))
  }
  return expressions
}

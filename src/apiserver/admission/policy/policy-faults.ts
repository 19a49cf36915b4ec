/** Adds the check of CEL expressions to kinds with policies. New expressions must compile and have the right type. */
import type { Compiled } from '../../../api/cel/program.ts'
import type { ReadPattern } from '../../../api/cel/regex.ts'
import type { ValidatingAdmissionPolicySpec } from '../../../api/kinds/admissionregistration/validating-admission-policy.ts'
import { at, child, type FieldError, type FieldPath, invalid } from '../../../api/model/field-error.ts'
import { emulationOf } from '../../../api/schema/context.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { minorOf } from '../../../api/versions/emulated-version.ts'
import { type CompiledPolicy, compilePolicy, type Expression } from './compiled-policy.ts'

/** Loads the engine for regular expressions. */
export type LoadPatterns = () => Promise<ReadPattern>

/** Returns the kind of policies with the check of expressions. */
export function withExpressionRules(kind: Kind, loadPatterns: LoadPatterns): Kind {
  const judge: NonNullable<Kind['rules']['judge']> = async (object, previous, context) => {
    const { spec } = object as { spec?: ValidatingAdmissionPolicySpec }
    if (spec === undefined || context.subresource !== '') return []
    const old = previous as { spec?: ValidatingAdmissionPolicySpec } | undefined
    const known = expressionsOf(old?.spec)
    // Expressions may use the functions of the previous version, so that a downgrade is possible.
    const version = minorOf(emulationOf(context).version) - 1
    const readPattern = await loadPatterns()
    const compiled = await context.timeSlice.run(compilePolicy(spec, { readPattern, version }))
    return faultsOf(compiled)
      .filter(({ source }) => !known.has(source))
      .map(({ fault }) => fault)
  }
  return { ...kind, rules: { ...kind.rules, judge } }
}

function expressionsOf(spec: ValidatingAdmissionPolicySpec = {}): ReadonlySet<string> {
  const { validations = [], variables = [], matchConditions = [], auditAnnotations = [] } = spec
  return new Set([
    ...validations.flatMap(({ expression = '', messageExpression = '' }) => [expression, messageExpression]),
    ...[...variables, ...matchConditions].map(({ expression = '' }) => expression),
    ...auditAnnotations.map(({ valueExpression = '' }) => valueExpression),
  ])
}

interface ExpressionFault {
  readonly source: string
  readonly fault: FieldError
}

function faultsOf({ conditions, variables, validations, annotations }: CompiledPolicy): ExpressionFault[] {
  const inList = (expressions: readonly Expression[], list: string, name = 'expression') =>
    expressions.flatMap((expression, i) => faultOf(expression, child(at(child('spec', list), i), name)))
  return [
    ...inList(conditions, 'matchConditions'),
    ...inList(variables, 'variables'),
    ...validations.flatMap((validation, i) => {
      const path = at('spec.validations', i)
      const { messageExpression } = validation
      return [
        ...faultOf(validation, child(path, 'expression')),
        ...(messageExpression === undefined ? [] : faultOf(messageExpression, child(path, 'messageExpression'))),
      ]
    }),
    ...inList(annotations, 'auditAnnotations', 'valueExpression'),
  ]
}

/** An empty expression is reported by the kind. */
function faultOf({ source, compiled }: { source: string; compiled: Compiled }, path: FieldPath): ExpressionFault[] {
  if (compiled.outcome === 'program' || source.trim() === '') return []
  return [{ source, fault: invalid(path, source, compiled.why) }]
}

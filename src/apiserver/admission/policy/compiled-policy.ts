/**
 * A policy with its compiled expressions. An expression that does not compile, for example because it uses a function
 * of a later version, fails when it is evaluated.
 */
import type { Compiled } from '../../../api/cel/program.ts'
import type { CelType } from '../../../api/cel/types.ts'
import { types } from '../../../api/cel/types.ts'
import type { ValidatingAdmissionPolicySpec } from '../../../api/kinds/admissionregistration/validating-admission-policy.ts'
import { type Compiling, compileExpression, type ResultKind, variablesFor } from './environment.ts'

/** An expression and its program, or the reason why it has none. */
export interface Expression {
  readonly source: string
  readonly compiled: Compiled
  /** Names of the variables, in the order of the values to pass. */
  readonly names: readonly string[]
}

export interface NamedExpression extends Expression {
  readonly name: string
}

export interface CompiledValidation extends Expression {
  readonly message: string
  readonly messageExpression: Expression | undefined
  readonly reason: string
}

/** The compiled expressions of a policy. */
export interface CompiledPolicy {
  readonly conditions: readonly NamedExpression[]
  readonly variables: readonly NamedExpression[]
  readonly validations: readonly CompiledValidation[]
  readonly annotations: readonly NamedExpression[]
}

/** Compiles the expressions of a policy in steps. */
export function* compilePolicy(
  spec: ValidatingAdmissionPolicySpec,
  compiling: Compiling,
): Generator<void, CompiledPolicy> {
  const params = spec.paramKind !== undefined
  const known = new Map<string, CelType>()
  const compile = function* (source: string, result: ResultKind, authorizer = true): Generator<void, Expression> {
    const variables = variablesFor({ params, authorizer, variables: new Map(known) })
    const compiled = yield* compileExpression(source, variables, { ...compiling, result })
    return { source, compiled, names: [...variables.keys()] }
  }
  const conditions = yield* conditionsOf(spec, compiling)
  const variables: NamedExpression[] = []
  for (const { name = '', expression = '' } of spec.variables ?? []) {
    const made = yield* compile(expression, 'any')
    variables.push({ name, ...made })
    known.set(name, made.compiled.outcome === 'program' ? made.compiled.program.type : types.dyn)
  }
  const validations: CompiledValidation[] = []
  for (const { expression = '', message = '', messageExpression = '', reason = 'Invalid' } of spec.validations ?? []) {
    const made = yield* compile(expression, 'bool')
    // Messages must not ask the authorizer.
    const messageMade = messageExpression === '' ? undefined : yield* compile(messageExpression, 'string', false)
    validations.push({ ...made, message, messageExpression: messageMade, reason })
  }
  const annotations: NamedExpression[] = []
  for (const { key = '', valueExpression = '' } of spec.auditAnnotations ?? [])
    annotations.push({ name: key, ...(yield* compile(valueExpression, 'string or null')) })
  return { conditions, variables, validations, annotations }
}

/** The conditions of a policy can also use its parameters. */
function* conditionsOf(
  { matchConditions = [], paramKind }: ValidatingAdmissionPolicySpec,
  compiling: Compiling,
): Generator<void, NamedExpression[]> {
  const variables = variablesFor({ params: paramKind !== undefined, authorizer: true })
  const found: NamedExpression[] = []
  for (const { name = '', expression: source = '' } of matchConditions) {
    const compiled = yield* compileExpression(source, variables, { ...compiling, result: 'bool' })
    found.push({ name, source, compiled, names: [...variables.keys()] })
  }
  return found
}

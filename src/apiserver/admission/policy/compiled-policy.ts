/**
 * Compiles the expressions of a policy. An expression that does not compile, for example because it uses a function of
 * a later version, fails when it is evaluated.
 */
import type { FindStruct } from '../../../api/cel/checker.ts'
import {
  type Compiling,
  compileExpression,
  type ResultKind,
  type Uses,
  type VariableName,
  variablesFor,
} from '../../../api/cel/policy-environment.ts'
import type { Compiled } from '../../../api/cel/program.ts'
import type { CelType } from '../../../api/cel/types.ts'
import { types } from '../../../api/cel/types.ts'
import type { MatchResources } from '../../../api/kinds/admissionregistration/types/match-resources.ts'
import type { MatchCondition, ParamKind } from '../../../api/kinds/admissionregistration/types/policy-parts.ts'
import type { ValidatingAdmissionPolicySpec } from '../../../api/kinds/admissionregistration/validating-admission-policy.ts'

/** The fields that are needed to evaluate a policy, apart from its expressions. */
export interface PolicySettings {
  paramKind?: ParamKind | undefined
  failurePolicy?: string | undefined
  /** Undefined for validating policies. */
  reinvocationPolicy?: string | undefined
}

/** The part of the spec that validating and mutating policies have in common. */
export interface PolicySpec extends PolicySettings {
  matchConstraints?: MatchResources | undefined
  matchConditions?: readonly MatchCondition[] | undefined
  variables?: readonly { name?: string | undefined; expression?: string | undefined }[] | undefined
}

/** Returns the settings of a policy, without its expressions. */
export function settingsOf({ paramKind, failurePolicy, reinvocationPolicy }: PolicySpec): PolicySettings {
  return { paramKind, failurePolicy, reinvocationPolicy }
}

/** A CEL expression with its program, or the reason why the expression does not compile. */
export interface Expression {
  readonly source: string
  readonly compiled: Compiled
  /** The variables to pass to the program, in this order. Unused variables are undefined. */
  readonly inputs: readonly (VariableName | undefined)[]
}

export interface NamedExpression extends Expression {
  readonly name: string
}

export interface CompiledValidation extends Expression {
  readonly message: string
  readonly messageExpression: Expression | undefined
  readonly reason: string
}

/** Compiled expressions that both validating and mutating policies have. */
export interface CommonExpressions {
  readonly conditions: readonly NamedExpression[]
  readonly variables: readonly NamedExpression[]
}

/** The compiled expressions of a validating policy. */
export interface CompiledPolicy extends CommonExpressions {
  readonly validations: readonly CompiledValidation[]
  readonly annotations: readonly NamedExpression[]
}

/** Compiles the expressions of a validating policy. Yields to other tasks between expressions. */
export function* compilePolicy(
  spec: ValidatingAdmissionPolicySpec,
  compiling: Compiling,
): Generator<void, CompiledPolicy> {
  const conditions = yield* compileConditions(spec.matchConditions, compiling, { params: spec.paramKind !== undefined })
  const compiler = new PolicyCompiler(spec, compiling)
  const variables = yield* compiler.variables(spec.variables)
  const validations: CompiledValidation[] = []
  for (const { expression = '', message = '', messageExpression = '', reason = 'Invalid' } of spec.validations ?? []) {
    const made = yield* compiler.compile(expression, 'bool')
    // Message expressions must not query the authorizer, so compile them without it.
    const messageMade =
      messageExpression === '' ? undefined : yield* compiler.compile(messageExpression, 'string', { authorizer: false })
    validations.push({ ...made, message, messageExpression: messageMade, reason })
  }
  const annotations: NamedExpression[] = []
  for (const { key = '', valueExpression = '' } of spec.auditAnnotations ?? [])
    annotations.push({ name: key, ...(yield* compiler.compile(valueExpression, 'string or null')) })
  return { conditions, variables, validations, annotations }
}

/** Compiles the expressions of one policy. Each expression can use the variables declared before it. */
export class PolicyCompiler {
  readonly #params: boolean
  readonly #compiling: Compiling
  readonly #findStruct: FindStruct | undefined
  readonly #known = new Map<string, CelType>()

  constructor({ paramKind }: PolicySpec, compiling: Compiling, findStruct?: FindStruct) {
    this.#params = paramKind !== undefined
    this.#compiling = compiling
    this.#findStruct = findStruct
  }

  *variables(declared: PolicySpec['variables'] = []): Generator<void, NamedExpression[]> {
    const variables: NamedExpression[] = []
    for (const { name = '', expression = '' } of declared) {
      const made = yield* this.compile(expression, 'any')
      variables.push({ name, ...made })
      this.#known.set(name, made.compiled.outcome === 'program' ? made.compiled.program.type : types.dyn)
    }
    return variables
  }

  *compile(
    source: string,
    result: ResultKind,
    { authorizer }: Pick<Uses, 'authorizer'> = { authorizer: true },
  ): Generator<void, Expression> {
    const variables = variablesFor({ params: this.#params, authorizer, variables: new Map(this.#known) })
    const compileOptions = { ...this.#compiling, findStruct: this.#findStruct, result }
    const compiled = yield* compileExpression(source, variables, compileOptions)
    return expressionOf(source, compiled, variables.keys())
  }
}

/** Compiles match conditions. Conditions of policies can use parameters, whereas conditions of webhooks cannot. */
export function* compileConditions(
  conditions: readonly MatchCondition[] = [],
  compiling: Compiling,
  { params }: Pick<Uses, 'params'>,
): Generator<void, NamedExpression[]> {
  const variables = variablesFor({ params, authorizer: true })
  const made: NamedExpression[] = []
  for (const { name = '', expression: source = '' } of conditions) {
    const compiled = yield* compileExpression(source, variables, { ...compiling, result: 'bool' })
    made.push({ name, ...expressionOf(source, compiled, variables.keys()) })
  }
  return made
}

function expressionOf(source: string, compiled: Compiled, declared: Iterable<VariableName>): Expression {
  const used = compiled.outcome === 'program' ? compiled.program.used : new Set()
  return { source, compiled, inputs: [...declared].map((name) => (used.has(name) ? name : undefined)) }
}

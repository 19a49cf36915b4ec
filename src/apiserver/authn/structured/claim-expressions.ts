/** CEL expressions over the claims of a token, or over the mapped user. */
import { Budget, BudgetExceeded } from '../../../api/cel/budget.ts'
import type { DeclaredType } from '../../../api/cel/declared-type.ts'
import { dynamicType, fromJson } from '../../../api/cel/json-values.ts'
import { compileRule } from '../../../api/cel/program.ts'
import type { ReadPattern } from '../../../api/cel/regex.ts'
import { type CelType, listOf, mapOf, types } from '../../../api/cel/types.ts'
import { CelError, CelList, type Value } from '../../../api/cel/values.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import type { FieldPath } from '../../../api/model/field-error.ts'
import { ConfigurationFault } from '../../../api/schema/read-configuration.ts'
import { runToCompletion } from '../../../base/concurrency/time-slice.ts'
import { BadClaims } from '../openid-connect/claims.ts'

/** Maximum cost of one expression, as in Kubernetes. */
const maxCost = 1_000_000

const declare = (type: CelType, form: DeclaredType['form']): DeclaredType => ({
  type,
  form,
  maxElements: Number.POSITIVE_INFINITY,
  minBytes: 1,
})
const text = declare(types.string, 'string')
const texts: DeclaredType = { ...declare(listOf(types.string), 'list'), elem: text }
const extra: DeclaredType = { ...declare(mapOf(types.string, texts.type), 'map'), elem: texts }
const userFields = new Map([
  ['username', text],
  ['uid', text],
  ['groups', texts],
  ['extra', extra],
])

/** The CEL variables: `claims` of the token for mappings, and the resulting `user` for validation rules. */
const variables = {
  claims: { ...declare(mapOf(types.string, types.dyn), 'map'), elem: dynamicType },
  user: { ...declare({ kind: 'object', fields: userFields }, 'object'), fields: userFields },
}

export interface Compiling {
  readonly readPattern: ReadPattern
  /** Kubernetes minor version that determines which CEL functions are available. */
  readonly version: number
}

export interface ExpressionSource {
  readonly source: string
  /** Path of the expression in the configuration file, for errors. */
  readonly path: FieldPath
  readonly variable: keyof typeof variables
}

/** Evaluates an expression. Throws BadClaims for an evaluation error or a result of the wrong type. */
export type Expression<T> = (value: JsonObject) => T

/** Compiles a rule, which must return true or false. Throws ConfigurationFault. */
export function compileCondition(expression: ExpressionSource, compiling: Compiling): Expression<boolean> {
  const evaluate = compile(expression, ['bool'], compiling)
  return (value) => evaluate(value) === true
}

/** Compiles an expression that returns a string. Throws ConfigurationFault. */
export function compileText(expression: ExpressionSource, compiling: Compiling): Expression<string> {
  const evaluate = compile(expression, ['string', 'dyn'], compiling)
  return (value) => {
    const result = evaluate(value)
    if (typeof result === 'string') return result
    throw new BadClaims(`${expression.path} did not return text`)
  }
}

/** Compiles an expression that returns a string, a list of strings or null. Empty strings are dropped. */
export function compileTexts(expression: ExpressionSource, compiling: Compiling): Expression<string[]> {
  const evaluate = compile(expression, ['string', 'list', 'null_type', 'dyn'], compiling)
  return (value) => {
    const result = evaluate(value)
    if (result === null) return []
    const items = result instanceof CelList ? result.toArray() : [result]
    if (!items.every((item) => typeof item === 'string'))
      throw new BadClaims(`${expression.path} did not return text or a list of texts`)
    return items.filter((item) => item !== '')
  }
}

function compile(
  { source, path, variable }: ExpressionSource,
  results: readonly CelType['kind'][],
  { readPattern, version }: Compiling,
): Expression<Value> {
  const declared = variables[variable]
  const environment = { variables: new Map([[variable, declared]]), readPattern, version, result: 'any' } as const
  const compiled = runToCompletion(compileRule(source, environment))
  if (compiled.outcome === 'invalid') throw new ConfigurationFault(path, `${path}: ${compiled.why}`)
  const { program } = compiled
  if (!results.includes(program.type.kind))
    throw new ConfigurationFault(path, `${path}: must return ${results.join(' or ')}, not ${program.type.kind}`)
  return (value) => {
    try {
      return program.evaluate([fromJson(value, declared)], new Budget(maxCost))
    } catch (error) {
      if (!(error instanceof CelError || error instanceof BudgetExceeded)) throw error
      // The message omits the reason, which may quote secret claims.
      throw new BadClaims(`${path} failed`, { cause: error })
    }
  }
}

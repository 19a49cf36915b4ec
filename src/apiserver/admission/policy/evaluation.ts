/**
 * Evaluates the expressions of a policy for one request and one parameter object. If an expression queries the
 * authorizer, the query is answered asynchronously and the expression is evaluated again.
 */
import { Budget, BudgetExceeded } from '../../../api/cel/budget.ts'
import {
  AnswerPending,
  type AskAuthorizer,
  type AuthorizerAnswer,
  authorizerValue,
  type CheckedAttributes,
  resourceCheck,
} from '../../../api/cel/functions/authorization.ts'
import { dynamicValue, fromJson } from '../../../api/cel/json-values.ts'
import { declared } from '../../../api/cel/policy-environment.ts'
import { showValue } from '../../../api/cel/show-value.ts'
import { CelError, CelMap, type Value } from '../../../api/cel/values.ts'
import type { Json, JsonObject } from '../../../api/json/json.ts'
import type { User } from '../../../api/model/user.ts'
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { messageOf } from '../../../base/text/errors.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Authorizer, Question } from '../../authz/authorizer.ts'
import { parsedSelectors } from '../../authz/request-selectors.ts'
import type { Expression, NamedExpression } from './compiled-policy.ts'
import type { ErrorType } from './policy-metrics.ts'

/** Cost limits for one expression and for a whole policy, as in Kubernetes. */
const maxExpressionCost = 1_000_000
const maxPolicyCost = 10_000_000

/** Maximum number of variables in an explanation, and the maximum length of each value. */
const maxDescribed = 20
const maxDescription = 200

/** The data that expressions can read. */
export interface Evaluated {
  readonly object: Json
  readonly oldObject: Json
  readonly request: JsonObject
  readonly namespaceObject: Json
  readonly params: Json
  readonly ask: AskAuthorizer
  /** The resource of the request, for `authorizer.requestResource`. */
  readonly resource: Partial<CheckedAttributes>
}

/** The value of an expression, or the error of its evaluation. */
export type Outcome = { readonly value: Value } | { readonly error: string; readonly errorType: ErrorType }

/** Maximum number of authorizer queries by one expression. */
const maxQuestions = 20

interface EvaluationParts {
  readonly variables: readonly NamedExpression[]
  /** Yields to other tasks between two expressions, because each expression can take tens of milliseconds. */
  readonly timeSlice: TimeSlice
}

/** The evaluation of one policy for one request. */
export class Evaluation {
  readonly #timeSlice: TimeSlice
  readonly #values: ReadonlyMap<string, () => Value>
  #remaining = maxPolicyCost

  constructor(data: Evaluated, { variables, timeSlice }: EvaluationParts) {
    this.#timeSlice = timeSlice
    const lazy = new LazyVariables(variables, (expression, budget) => this.#run(expression, budget))
    const object = once(() => dynamicValue(data.object))
    const values: [string, () => Value][] = [
      ['object', object],
      ['oldObject', once(() => dynamicValue(data.oldObject))],
      ['request', once(() => fromJson(data.request, declared.request))],
      ['namespaceObject', once(() => fromJson(data.namespaceObject, declared.namespaceObject))],
      ['params', once(() => dynamicValue(data.params))],
      ['authorizer', once(() => authorizerValue(data.ask))],
      ['authorizer.requestResource', once(() => resourceCheck(data.ask, data.resource))],
      ['variables', () => lazy],
    ]
    this.#values = new Map(values)
    this.#lazy = lazy
  }

  readonly #lazy: LazyVariables

  /**
   * Describes the variables evaluated so far. Defines each variable as an own property, because users choose the names.
   */
  describeVariables(): { [name: string]: string } {
    return Object.fromEntries(this.#lazy.describe())
  }

  /** Evaluates an expression of the policy. */
  async evaluate(expression: Expression): Promise<Outcome> {
    if (this.#remaining <= 0) return { error: outOfBudget, errorType: 'out_of_budget' }
    for (let questions = 0; ; questions++) {
      await this.#timeSlice.yieldIfDue()
      const budget = new Budget(Math.min(maxExpressionCost, this.#remaining))
      try {
        this.#lazy.budget = budget
        const value = this.#run(expression, budget)
        this.#remaining -= budget.cost
        return { value }
      } catch (error) {
        if (!(error instanceof AnswerPending)) {
          this.#remaining -= budget.cost
          return failureOf(expression, error)
        }
        if (questions >= maxQuestions)
          return { error: 'too many questions to the authorizer', errorType: 'invalid_error' }
        await error.answer
      }
    }
  }

  #run({ compiled, names }: Expression, budget: Budget): Value {
    if (compiled.outcome === 'invalid') throw new CelError(compiled.why)
    const { used } = compiled.program
    const values = names.map((name) => (used.has(name) ? this.#values.get(name)!() : null))
    return compiled.program.evaluate(values, budget)
  }
}

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

function failureOf({ compiled }: Expression, error: unknown): Outcome {
  if (error instanceof BudgetExceeded) return { error: error.message, errorType: 'out_of_budget' }
  if (!(error instanceof CelError)) throw error
  return { error: error.message, errorType: compiled.outcome === 'invalid' ? 'compile_error' : 'invalid_error' }
}

/**
 * Values of the policy's variables. Each variable is evaluated when an expression first uses it, and its cost is
 * charged to that expression.
 */
class LazyVariables extends CelMap {
  budget = new Budget(0)
  readonly #expressions: ReadonlyMap<string, NamedExpression>
  readonly #run: (expression: Expression, budget: Budget) => Value
  readonly #known = new Map<string, Value | CelError>()

  constructor(variables: readonly NamedExpression[], run: (expression: Expression, budget: Budget) => Value) {
    super()
    this.#expressions = new Map(variables.map((variable) => [variable.name, variable]))
    this.#run = run
  }

  get size(): number {
    return this.#expressions.size
  }

  get(key: Value): Value | undefined {
    const expression = typeof key === 'string' ? this.#expressions.get(key) : undefined
    if (expression === undefined) return undefined
    const value = this.#known.get(expression.name) ?? this.#evaluate(expression)
    this.#known.set(expression.name, value)
    if (value instanceof CelError) throw value
    return value
  }

  keys(): readonly Value[] {
    return [...this.#expressions.keys()]
  }

  *describe(): Generator<[string, string]> {
    for (const [name, value] of [...this.#known].slice(0, maxDescribed))
      yield [
        name,
        value instanceof CelError
          ? `error: ${shorten(value.message, maxDescription)}`
          : showValue(value, maxDescription),
      ]
  }

  #evaluate(expression: NamedExpression): Value | CelError {
    try {
      return this.#run(expression, this.budget)
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      return new CelError(`composited variable "${expression.name}" fails to evaluate: ${error.message}`)
    }
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/**
 * Creates the function that expressions use to query the authorizer. The function caches the answers for the duration
 * of one request.
 */
export function askerFor(user: User, authorizer: Authorizer): AskAuthorizer {
  const answers = new Map<string, AuthorizerAnswer>()
  return (attributes) => {
    const key = JSON.stringify(attributes)
    const cachedAnswer = answers.get(key)
    if (cachedAnswer !== undefined) return cachedAnswer
    const keep = (answer: AuthorizerAnswer) => {
      answers.set(key, answer)
      return answer
    }
    try {
      const decided = authorizer(questionOf(user, attributes))
      if (!(decided instanceof Promise)) return keep(answerOf(decided))
      throw new AnswerPending(decided.then(answerOf, failedAnswer).then(keep))
    } catch (error) {
      if (error instanceof AnswerPending) throw error
      return keep(failedAnswer(error))
    }
  }
}

function answerOf({ verdict, reason }: { verdict: string; reason: () => string }): AuthorizerAnswer {
  return { isAllowed: verdict === 'allow', reason: reason() }
}

function failedAnswer(error: unknown): AuthorizerAnswer {
  return { isAllowed: false, reason: '', error: messageOf(error) }
}

function questionOf(user: User, { user: account, path, ...attributes }: CheckedAttributes): Question {
  const asking = account === undefined ? user : accountUser(account)
  if (path !== undefined) return { user: asking, attributes: { resource: false, verb: attributes.verb, path } }
  const { verb, group, resource: plural, subresource, namespace, name } = attributes
  const selectors = parsedSelectors(attributes)
  return {
    user: asking,
    attributes: { resource: true, verb, group, version: '*', plural, subresource, namespace, name, selectors },
  }
}

function accountUser({ namespace, serviceAccount }: { namespace: string; serviceAccount: string }): User {
  return {
    name: `system:serviceaccount:${namespace}:${serviceAccount}`,
    uid: '',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: new Map(),
  }
}

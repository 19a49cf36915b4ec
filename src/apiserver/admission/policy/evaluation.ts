/**
 * Evaluates the expressions of a policy for one request and one parameter object. If an expression queries the
 * authorizer, the query is answered asynchronously and the expression is evaluated again.
 */
import { Budget, BudgetExceeded } from '../../../api/cel/budget.ts'
import { AnswerPending } from '../../../api/cel/functions/authorization.ts'
import { dynamicValue } from '../../../api/cel/json-values.ts'
import type { VariableName } from '../../../api/cel/policy-environment.ts'
import { showValue } from '../../../api/cel/show-value.ts'
import { CelError, CelMap, type Value } from '../../../api/cel/values.ts'
import type { Json } from '../../../api/json/json.ts'
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Expression, NamedExpression } from './compiled-policy.ts'
import type { ErrorType } from './policy-metrics.ts'
import type { RequestData } from './request-data.ts'

/** Cost limits for one expression and for a whole policy, as in Kubernetes. */
const maxExpressionCost = 1_000_000
const maxPolicyCost = 10_000_000

/** Maximum number of variables in an explanation, and the maximum length of each value. */
const maxDescribed = 20
const maxDescription = 200

/** The result of evaluating an expression: its value or an error. */
export type Outcome = { readonly value: Value } | { readonly error: string; readonly errorType: ErrorType }

/** Maximum number of authorizer queries by one expression. */
const maxQuestions = 20

interface EvaluationParts {
  readonly variables: readonly NamedExpression[]
  readonly params: Json
  /** Lets other requests run between two expressions, because each expression can take tens of milliseconds. */
  readonly timeSlice: TimeSlice
}

/** The evaluation of one policy for one request. */
export class Evaluation {
  readonly #request: RequestData
  readonly #parts: EvaluationParts
  /** The policy's own variables. Created when an expression first uses any of them. */
  #variables: LazyVariables | undefined
  /** Remaining cost budget of the current expression. */
  #budget = new Budget(0)
  #remaining = maxPolicyCost

  constructor(request: RequestData, parts: EvaluationParts) {
    this.#request = request
    this.#parts = parts
  }

  /**
   * Returns the variables that have been evaluated so far, as text for an explanation. Users choose the names of
   * variables, so `__proto__` is possible.
   */
  describeVariables(): { [name: string]: string } {
    return Object.fromEntries(this.#variables?.describe() ?? [])
  }

  /** Evaluates an expression of the policy. Returns a promise only if the evaluation has to wait. */
  evaluate(expression: Expression, questions = 0): Outcome | Promise<Outcome> {
    if (this.#remaining <= 0) return { error: outOfBudget, errorType: 'out_of_budget' }
    const rest = this.#parts.timeSlice.yieldIfDue()
    if (rest !== undefined) return rest.then(() => this.evaluate(expression, questions))
    this.#budget = new Budget(Math.min(maxExpressionCost, this.#remaining))
    try {
      const value = this.#run(expression)
      this.#remaining -= this.#budget.cost
      return { value }
    } catch (error) {
      if (!(error instanceof AnswerPending)) {
        this.#remaining -= this.#budget.cost
        return failureOf(expression, error)
      }
      if (questions >= maxQuestions)
        return { error: 'too many questions to the authorizer', errorType: 'invalid_error' }
      return error.answer.then(() => this.evaluate(expression, questions + 1))
    }
  }

  #run({ compiled, inputs }: Expression): Value {
    if (compiled.outcome === 'invalid') throw new CelError(compiled.why)
    const values = inputs.map((name) => (name === undefined ? null : this.#valueOf(name)))
    return compiled.program.evaluate(values, this.#budget)
  }

  #valueOf(name: VariableName): Value {
    if (name === 'params') return dynamicValue(this.#parts.params)
    if (name !== 'variables') return this.#request[name]()
    this.#variables ??= new LazyVariables(this.#parts.variables, (expression) => this.#run(expression))
    return this.#variables
  }
}

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

function failureOf({ compiled }: Expression, error: unknown): Outcome {
  if (error instanceof BudgetExceeded) return { error: error.message, errorType: 'out_of_budget' }
  if (!(error instanceof CelError)) throw error
  return { error: error.message, errorType: compiled.outcome === 'invalid' ? 'compile_error' : 'invalid_error' }
}

/**
 * The policy's own variables as a CEL map. A variable is evaluated on first use, and its cost is charged to the
 * expression that uses it.
 */
class LazyVariables extends CelMap {
  readonly #expressions: ReadonlyMap<string, NamedExpression>
  readonly #run: (expression: Expression) => Value
  readonly #known = new Map<string, Value | CelError>()

  constructor(variables: readonly NamedExpression[], run: (expression: Expression) => Value) {
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
      return this.#run(expression)
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      return new CelError(`composited variable "${expression.name}" fails to evaluate: ${error.message}`)
    }
  }
}

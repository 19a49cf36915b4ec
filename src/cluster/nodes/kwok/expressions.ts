/**
 * Expressions in objects of KWOK's kinds. The language is CEL with the variables `pod`, `node` and `container`, and
 * with KWOK's functions (`expression-functions.ts`). The length of an expression and the cost of an evaluation are
 * limited.
 */
import { BudgetExceeded } from '../../../api/cel/budget.ts'
import { dynamicType } from '../../../api/cel/json-values.ts'
import type { Functions } from '../../../api/cel/overload.ts'
import { compileRule } from '../../../api/cel/program.ts'
import { CelError, type Value } from '../../../api/cel/values.ts'
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import { StageError } from '../stages/stage-error.ts'
import { EvaluationBudget, type Subject } from './expression-functions.ts'

/** The objects that an expression can refer to, and the time that `Now` returns. */
export interface ExpressionScope {
  readonly now: number
  readonly pod: Subject
  readonly node: Subject
  readonly container: Subject
}

/** Evaluates to a value and its cost. Throws StageError if the expression fails for these objects. */
export type Expression = (scope: ExpressionScope) => { readonly value: Value; readonly cost: number }

const maxLength = 4096
/**
 * Maximum cost of an evaluation. The limit is needed because a node with many containers evaluates many expressions at
 * once.
 */
export const maxExpressionCost = 2000

const variables = new Map([
  ['pod', dynamicType],
  ['node', dynamicType],
  ['container', dynamicType],
])

/** Compiles an expression. Throws StageError. */
export function* compileExpression(text: string, ownFunctions: Functions): Sliced<Expression> {
  if (text.length > maxLength) throw new StageError(`the expression is longer than ${maxLength} characters`)
  const compiled = yield* compileRule(text, {
    variables,
    ownFunctions,
    result: 'any',
    readPattern: () => ({ outcome: 'refused', why: 'regular expressions are not supported' }),
  })
  if (compiled.outcome === 'invalid') throw new StageError(compiled.why)
  const { program } = compiled
  return ({ pod, node, container, now }) => {
    const budget = new EvaluationBudget(maxExpressionCost, now)
    try {
      return { value: program.evaluate([pod, node, container], budget), cost: budget.cost }
    } catch (error) {
      if (error instanceof CelError || error instanceof BudgetExceeded)
        throw new StageError(`the expression failed: ${error.message}`, { cause: error })
      throw error
    }
  }
}

/** Amounts of resources in usage objects: constants, or expressions that return a quantity or a number. */
import { quantityOf } from '../../../api/cel/functions/quantities.ts'
import { Double, type Value } from '../../../api/cel/values.ts'
import type { Json, JsonObject } from '../../../api/json/json.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'
import { runToCompletion } from '../../../base/concurrency/time-slice.ts'
import { StageError } from '../stages/stage-error.ts'
import { containerSubject, objectSubject, usageFunctions } from './expression-functions.ts'
import { compileExpression } from './expressions.ts'

/** The objects and the time that an expression can refer to. */
export interface UsageScope {
  readonly pod: JsonObject
  readonly node: JsonObject
  readonly container: JsonObject
  readonly now: number
}

/** Returns an amount in cores or bytes. Throws StageError if the expression fails for these objects. */
export type UsageExpression = (scope: UsageScope) => number

/** Compiles an expression. Throws StageError. */
export function compileUsage(text: string): UsageExpression {
  const evaluate = runToCompletion(compileExpression(text, usageFunctions))
  return ({ pod, node, container, now }) => {
    const { value } = evaluate({
      now,
      pod: objectSubject(pod, now),
      node: objectSubject(node, now),
      container: containerSubject(container, now),
    })
    const amount = amountOf(value)
    if (amount === undefined || !(amount >= 0 && Number.isFinite(amount)))
      throw new StageError('the expression must return a quantity or a non-negative number')
    return amount
  }
}

function amountOf(value: Value): number | undefined {
  if (value instanceof Double) return value.value
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  const quantity = quantityOf(value)
  return quantity === undefined ? undefined : Number(quantity.nanos) / 1e9
}

/** Reads a constant amount, which is either a string with a quantity or a number. Throws StageError. */
export function constantUsage(value: Json): UsageExpression {
  const quantity = parseQuantity(typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '')
  if (quantity === undefined || quantity.nanos < 0n) throw new StageError('the value is not a non-negative quantity')
  const amount = Number(quantity.nanos) / 1e9
  return () => amount
}

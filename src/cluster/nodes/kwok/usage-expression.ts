/**
 * Expressions for resource usage: CEL with KWOK's functions. An expression returns a quantity or a number. The
 * variables are `pod`, `node` and `container`. Of KWOK's functions, `Quantity("1Mi")`, `Now()`, `Rand()`, and
 * `pod.SinceSecond()` and `node.SinceSecond()` are supported.
 */
import { Budget, BudgetExceeded } from '../../../api/cel/budget.ts'
import type { DeclaredType } from '../../../api/cel/declared-type.ts'
import { quantityOf } from '../../../api/cel/functions/quantities.ts'
import { SyntaxIssue } from '../../../api/cel/issues.ts'
import { dynamicType, dynamicValue } from '../../../api/cel/json-values.ts'
import { type Token, tokenize } from '../../../api/cel/lexer.ts'
import { compileRule } from '../../../api/cel/program.ts'
import { types } from '../../../api/cel/types.ts'
import { CelError, Double, Timestamp, type Value } from '../../../api/cel/values.ts'
import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'
import { runToCompletion } from '../../../base/concurrency/time-slice.ts'
import { StageError } from '../stages/stage-error.ts'

/** The objects and the time that an expression can refer to. */
export interface UsageScope {
  readonly pod: JsonObject
  readonly node: JsonObject
  readonly container: JsonObject
  readonly now: number
}

/** Returns an amount in cores or bytes. Throws StageError if the expression fails for these objects. */
export type UsageExpression = (scope: UsageScope) => number

const maxLength = 4096
/** Maximum cost of an evaluation. A node with many containers evaluates many expressions at the same time. */
const maxCost = 2000

const declared = (type: DeclaredType['type'], form: DeclaredType['form']): DeclaredType => ({
  type,
  form,
  maxElements: 0,
  minBytes: 1,
})

/** The variables, and their values in the same order. Names with `__` replace calls of KWOK's functions. */
const variables: ReadonlyMap<string, DeclaredType> = new Map([
  ['pod', dynamicType],
  ['node', dynamicType],
  ['container', dynamicType],
  ['__now', declared(types.timestamp, 'date-time')],
  ['__random', declared(types.double, 'number')],
  ['__podAge', declared(types.double, 'number')],
  ['__nodeAge', declared(types.double, 'number')],
])

function valuesOf({ pod, node, container, now }: UsageScope): Value[] {
  return [
    dynamicValue(withMaps(pod)),
    dynamicValue(withMaps(node)),
    dynamicValue(container),
    new Timestamp(BigInt(now) * 1_000_000n),
    new Double(Math.random()),
    new Double(ageOf(pod, now)),
    new Double(ageOf(node, now)),
  ]
}

/** Adds empty labels and annotations, so that expressions need not check whether they exist. */
function withMaps(object: JsonObject): JsonObject {
  const metadata = isObject(object.metadata) ? object.metadata : {}
  return { ...object, metadata: { labels: {}, annotations: {}, ...metadata } }
}

function ageOf({ metadata }: JsonObject, now: number): number {
  const created = isObject(metadata) ? Date.parse(String(metadata.creationTimestamp)) : Number.NaN
  return Number.isNaN(created) ? 0 : Math.max(0, now - created) / 1000
}

/** Compiles an expression. Throws StageError. */
export function compileUsage(text: string): UsageExpression {
  if (text.length > maxLength) throw new StageError(`the expression is longer than ${maxLength} characters`)
  const compiled = runToCompletion(
    compileRule(translated(text), {
      variables,
      result: 'any',
      readPattern: () => ({ outcome: 'refused', why: 'regular expressions are not supported' }),
    }),
  )
  if (compiled.outcome === 'invalid') throw new StageError(compiled.why)
  const { program } = compiled
  return (scope) => {
    const amount = amountOf(evaluated(() => program.evaluate(valuesOf(scope), new Budget(maxCost))))
    if (amount === undefined || !(amount >= 0 && Number.isFinite(amount)))
      throw new StageError('the expression returned neither a quantity nor a number that is zero or positive')
    return amount
  }
}

function evaluated(evaluate: () => Value): Value {
  try {
    return evaluate()
  } catch (error) {
    if (error instanceof CelError || error instanceof BudgetExceeded)
      throw new StageError(`the expression failed: ${error.message}`, { cause: error })
    throw error
  }
}

function amountOf(value: Value): number | undefined {
  if (value instanceof Double) return value.value
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  const quantity = quantityOf(value)
  return quantity === undefined ? undefined : Number(quantity.nanos) / 1e9
}

/** Token sequences that call KWOK's functions, and the CEL text that replaces each of them. */
const replacements: readonly (readonly [tokens: readonly string[], replacement: string])[] = [
  [['Quantity', '('], 'quantity('],
  [['Now', '(', ')'], '__now'],
  [['Rand', '(', ')'], '__random'],
  [['pod', '.', 'SinceSecond', '(', ')'], '__podAge'],
  [['node', '.', 'SinceSecond', '(', ')'], '__nodeAge'],
]

function translated(text: string): string {
  const tokens = tokensOf(text)
  let output = ''
  let end = 0
  for (let i = 0; i < tokens.length; i++) {
    const found = replacements.find(([words]) => startsWith(tokens, i, words))
    if (found === undefined) continue
    const [words, replacement] = found
    i += words.length - 1
    output += text.slice(end, tokens[i - words.length + 1]!.at) + replacement
    end = tokens[i]!.at + tokens[i]!.text.length
  }
  return output + text.slice(end)
}

function startsWith(tokens: readonly Token[], from: number, words: readonly string[]): boolean {
  return words.every((word, i) => {
    const token = tokens[from + i]
    return (token?.kind === 'identifier' || token?.kind === 'operator') && token.text === word
  })
}

function tokensOf(text: string): Token[] {
  try {
    return tokenize(text)
  } catch (error) {
    if (error instanceof SyntaxIssue) throw new StageError(error.issue.text, { cause: error })
    throw error
  }
}

/** Reads a constant amount, which is a quantity as a string or a number. Throws StageError. */
export function constantUsage(value: Json): UsageExpression {
  const quantity = parseQuantity(typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '')
  if (quantity === undefined || quantity.nanos < 0n) throw new StageError('the value is not a non-negative quantity')
  const amount = Number(quantity.nanos) / 1e9
  return () => amount
}

/** Lists of pairs on the command line: `cpu=1,memory=1Gi`. */

import { ApiError } from '../../../api/model/api-error.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'
import {
  LabelMatcher,
  parseLabelSelector,
  type Requirement,
  type SelectorObject,
} from '../../../api/selectors/label-selector.ts'
import { UsageError } from '../../../base/flags/flags.ts'

/** `form` is what one pair should look like, for the message. */
export function readPairs(text: string, flagName: string, form = 'KEY=VALUE'): { [key: string]: string } {
  const pairs = text.split(',').map((pair) => {
    const equals = pair.indexOf('=')
    if (equals <= 0) throw new UsageError(`${flagName}: ${JSON.stringify(pair)} is not ${form}`)
    return [pair.slice(0, equals), pair.slice(equals + 1)]
  })
  return Object.fromEntries(pairs)
}

/** Amounts of something; undefined where none are given: `cpu=200m,memory=512Mi`. Throws UsageError. */
export function readAmounts(text: string, flagName: string): { [what: string]: string } | undefined {
  if (text === '') return undefined
  const amounts = readPairs(text, flagName, 'WHAT=AMOUNT')
  for (const [what, amount] of Object.entries(amounts))
    if (parseQuantity(amount) === undefined)
      throw new UsageError(`${flagName}: ${JSON.stringify(amount)} is not an amount of ${what}, such as 200m or 512Mi`)
  return amounts
}

/** A variable of a container or a program: `NAME=VALUE`. */
export function readVariable(pair: string, flagName: string): { name: string; value: string } {
  const equals = pair.indexOf('=')
  if (equals <= 0) throw new UsageError(`${flagName}: ${JSON.stringify(pair)} is not NAME=VALUE`)
  return { name: pair.slice(0, equals), value: pair.slice(equals + 1) }
}

/** A selector as objects hold it, from its form in a query: `app=web,tier!=db,zone in (a,b)`. Throws UsageError. */
export function readSelector(text: string, flagName = '--selector'): SelectorObject {
  const requirements = parseSelector(text, flagName)
  const labels = requirements.filter(isLabel)
  const expressions = requirements.filter((one) => !isLabel(one)).map((one) => expressionOf(one, flagName))
  return {
    ...(labels.length > 0 && { matchLabels: Object.fromEntries(labels.map(({ key, values }) => [key, values[0]!])) }),
    ...(expressions.length > 0 && { matchExpressions: expressions }),
  }
}

function parseSelector(text: string, flagName: string): Requirement[] {
  try {
    return parseLabelSelector(text)
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(`${flagName}: ${error.message}`)
    throw error
  }
}

function isLabel(one: Requirement): one is Requirement & { op: 'in' } {
  return one.op === 'in' && one.values.length === 1
}

const operators = { in: 'In', notin: 'NotIn', exists: 'Exists', absent: 'DoesNotExist' } as const

function expressionOf(one: Requirement, flagName: string) {
  if (one.op === 'gt' || one.op === 'lt') throw new UsageError(`${flagName}: < and > are not for selectors of objects`)
  return { key: one.key, operator: operators[one.op], ...('values' in one && { values: one.values }) }
}

/** A selector that says only what `matchLabels` can say. */
export function readSelectorLabels(selector: string, flagName = '--selector'): { [key: string]: string } {
  const pairs = readPairs(selector, flagName)
  if (!new LabelMatcher(parseLabelSelector(selector)).matches(pairs))
    throw new UsageError(`${flagName}: only KEY=VALUE is taken: ${selector}`)
  return pairs
}

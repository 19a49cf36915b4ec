/** Parses lists of pairs on the command line, such as `cpu=1,memory=1Gi`. */

import { ApiError } from '../../../api/model/api-error.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'
import {
  LabelMatcher,
  parseLabelSelector,
  type Requirement,
  type SelectorObject,
} from '../../../api/selectors/label-selector.ts'
import { UsageError } from '../../../base/flags/flags.ts'

/** Parses a list of `KEY=VALUE` pairs. Throws a UsageError that shows `form` as the expected format. */
export function readPairs(text: string, flagName: string, form = 'KEY=VALUE'): { [key: string]: string } {
  const pairs = text.split(',').map((pair) => {
    const equals = pair.indexOf('=')
    if (equals <= 0) throw new UsageError(`${flagName}: ${JSON.stringify(pair)} must have the form ${form}`)
    return [pair.slice(0, equals), pair.slice(equals + 1)]
  })
  return Object.fromEntries(pairs)
}

/** Parses quantities such as `cpu=200m,memory=512Mi`. Returns undefined if the text is empty. Throws UsageError. */
export function readAmounts(text: string, flagName: string): { [what: string]: string } | undefined {
  if (text === '') return undefined
  const amounts = readPairs(text, flagName, 'WHAT=AMOUNT')
  for (const [what, amount] of Object.entries(amounts))
    if (parseQuantity(amount) === undefined)
      throw new UsageError(
        `${flagName}: ${JSON.stringify(amount)} is not a valid quantity for ${what}, such as 200m or 512Mi`,
      )
  return amounts
}

/** Parses an environment variable, `NAME=VALUE`. */
export function readVariable(pair: string, flagName: string): { name: string; value: string } {
  const equals = pair.indexOf('=')
  if (equals <= 0) throw new UsageError(`${flagName}: ${JSON.stringify(pair)} must have the form NAME=VALUE`)
  return { name: pair.slice(0, equals), value: pair.slice(equals + 1) }
}

/**
 * Converts a label selector such as `app=web,tier!=db,zone in (a,b)` to the format used in objects. Throws UsageError.
 */
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
  if (one.op === 'gt' || one.op === 'lt')
    throw new UsageError(`${flagName}: < and > are not supported in object selectors`)
  return { key: one.key, operator: operators[one.op], ...('values' in one && { values: one.values }) }
}

/** Parses a selector that `matchLabels` can express. */
export function readSelectorLabels(selector: string, flagName = '--selector'): { [key: string]: string } {
  const pairs = readPairs(selector, flagName)
  if (!new LabelMatcher(parseLabelSelector(selector)).matches(pairs))
    throw new UsageError(`${flagName}: only KEY=VALUE is supported: ${selector}`)
  return pairs
}

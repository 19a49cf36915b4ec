/**
 * What a JSONPath gives for a value: all places that it leads to, in the order of the document; keys of maps in the
 * order of their bytes. What is not there gives nothing, and is no mistake: objects differ in what they have. In a template
 * the place of a list that has fewer is one, as in kubectl: whoever asks for the first of none wants to know.
 */

import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { isObject, type Json, own } from '../json/json.ts'
import { sortedJson } from '../json/sorted-json.ts'
import type { Filter, Operand, Part, Step } from './parse.ts'

/** The text that a template makes of a value. */
export function fillTemplate(parts: readonly Part[], value: Json, how: FillOptions = { missingKeys: 'allow' }): string {
  return fill(parts, { here: value, top: value, ...how })
}

export interface FillOptions {
  /** Whether an expression that leads nowhere is an error. */
  readonly missingKeys: 'allow' | 'refuse'
}

/** All values that the expressions of a template lead to, in their order. */
export function templateValues(parts: readonly Part[], value: Json, how: FillOptions): Json[] {
  return valuesOf(parts, { here: value, top: value, ...how })
}

function valuesOf(parts: readonly Part[], scope: Filled): Json[] {
  return parts.flatMap((part) => {
    if ('text' in part) return part.text.trim() === '' ? [] : [part.text]
    if ('path' in part) return found(part.path, scope)
    return found(part.range, scope).flatMap((here) => valuesOf(part.body, { ...scope, here }))
  })
}

/** The values that a path leads to. */
export function valuesAt(path: readonly Step[], value: Json): Json[] {
  return follow(path, { here: value, top: value })
}

/** A value as it is printed: texts as they are, the rest as JSON. */
export function plainText(value: Json): string {
  if (typeof value === 'string') return value
  return sortedJson(value)
}

interface Scope {
  readonly here: Json
  readonly top: Json
}

interface Filled extends Scope, FillOptions {}

function fill(parts: readonly Part[], scope: Filled): string {
  return parts.map((part) => fillPart(part, scope)).join('')
}

function fillPart(part: Part, scope: Filled): string {
  if ('text' in part) return part.text
  if ('path' in part) return found(part.path, scope).map(plainText).join(' ')
  return found(part.range, scope)
    .map((here) => fill(part.body, { ...scope, here }))
    .join('')
}

function found(path: readonly Step[], scope: Filled): Json[] {
  const values = follow(path, scope, 'checked')
  if (values.length > 0 || scope.missingKeys === 'allow') return values
  const last = path.findLast((step) => 'field' in step)
  throw new UsageError(`${last === undefined ? 'what the path leads to' : last.field} is not found`)
}

/** Whether a place that a list does not have is a mistake. */
type Places = 'checked' | 'any'

function follow(path: readonly Step[], { here, top }: Scope, places: Places = 'any'): Json[] {
  let values = [here]
  for (const step of path) values = values.flatMap((value) => take(step, { here: value, top }, places))
  return values
}

function take(step: Step, { here: value, top }: Scope, places: Places): Json[] {
  if ('field' in step) return memberOf(value, step.field)
  if ('all' in step) return childrenOf(value)
  if ('top' in step) return [top]
  if ('descend' in step) return descendants(value)
  if ('slice' in step) {
    if (!Array.isArray(value)) return []
    if (places === 'checked') checkPlace(value.length, step.slice)
    return sliceOf(value, step.slice)
  }
  if ('any' in step) return step.any.flatMap((path) => follow(path, { here: value, top }, places))
  return childrenOf(value).filter((here) => holds(step.filter, { here, top }))
}

function memberOf(value: Json, field: string): Json[] {
  const member = isObject(value) ? own(value, field) : undefined
  return member === undefined ? [] : [member]
}

function childrenOf(value: Json): Json[] {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return []
  return Object.keys(value)
    .sort(compareUtf8)
    .map((key) => own(value, key)!)
}

function descendants(value: Json): Json[] {
  return [value, ...childrenOf(value).flatMap(descendants)]
}

/** Throws UsageError for a slice that begins or ends where the list has nothing. */
function checkPlace(length: number, { from = 0, to = length }: { from?: number; to?: number }): void {
  const [first, end] = [from < 0 ? from + length : from, to < 0 ? to + length : to]
  if (first === end) return
  const outside = first < 0 || first >= length ? first : end < 0 || end > length ? end - 1 : undefined
  if (outside !== undefined) throw new UsageError(`array index out of bounds: index ${outside}, length ${length}`)
}

function sliceOf(list: readonly Json[], { from = 0, to, by }: { from?: number; to?: number; by: number }): Json[] {
  const part = list.slice(from, to)
  return by > 1 ? part.filter((_, i) => i % by === 0) : part
}

function holds({ left, operator, right }: Filter, scope: Scope): boolean {
  const lefts = operandValues(left, scope)
  if (operator === 'exists') return lefts.length > 0
  const [a, b] = [lefts[0], operandValues(right, scope)[0]]
  if (a === undefined || b === undefined) return false
  if (operator === '==') return plainText(a) === plainText(b)
  if (operator === '!=') return plainText(a) !== plainText(b)
  const [x, y] = typeof a === 'string' || typeof b === 'string' ? [plainText(a), plainText(b)] : [Number(a), Number(b)]
  if (operator === '<') return x < y
  if (operator === '>') return x > y
  return operator === '<=' ? x <= y : x >= y
}

function operandValues(operand: Operand, scope: Scope): Json[] {
  return 'value' in operand ? [operand.value] : follow(operand.path, scope)
}

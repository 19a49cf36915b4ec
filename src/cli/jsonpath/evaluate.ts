/**
 * What a JSONPath gives for a value: all places that it leads to, in the order of the document; keys of maps in the
 * order of their bytes. What is not there gives nothing, and is no mistake: objects differ in what they have.
 */
import { compareUtf8 } from '../../base/utf8-order.ts'
import { isObject, type Json, own } from '../../model/json.ts'
import { sortedJson } from '../sorted-json.ts'
import type { Filter, Operand, Part, Step } from './parse.ts'

/** The text that a template makes of a value. */
export function fillTemplate(parts: readonly Part[], value: Json): string {
  return fill(parts, { here: value, top: value })
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

function fill(parts: readonly Part[], scope: Scope): string {
  return parts.map((part) => fillPart(part, scope)).join('')
}

function fillPart(part: Part, scope: Scope): string {
  if ('text' in part) return part.text
  if ('path' in part) return follow(part.path, scope).map(plainText).join(' ')
  return follow(part.range, scope)
    .map((here) => fill(part.body, { ...scope, here }))
    .join('')
}

function follow(path: readonly Step[], { here, top }: Scope): Json[] {
  let values = [here]
  for (const step of path) values = values.flatMap((value) => take(step, value, top))
  return values
}

function take(step: Step, value: Json, top: Json): Json[] {
  if ('field' in step) return memberOf(value, step.field)
  if ('all' in step) return childrenOf(value)
  if ('top' in step) return [top]
  if ('descend' in step) return descendants(value)
  if ('slice' in step) return Array.isArray(value) ? sliceOf(value, step.slice) : []
  if ('any' in step) return step.any.flatMap((path) => follow(path, { here: value, top }))
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

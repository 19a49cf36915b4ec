/**
 * Validates custom objects with the CEL rules of their schema. Each rule has a cost budget, and so does each object.
 * The server handles other requests between two rules, and aborts rules that run too long. A rule that uses `oldSelf`
 * runs only if there is a previous value.
 */

import { Budget, BudgetExceeded } from '../../../api/cel/budget.ts'
import { fromJson, identityOf } from '../../../api/cel/json-values.ts'
import { loadPatternEngine } from '../../../api/cel/pattern-engine.ts'
import type { Program } from '../../../api/cel/program.ts'
import { CelError, none, Optional, type Value } from '../../../api/cel/values.ts'
import { parseOwnJson } from '../../../api/codec/json.ts'
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldFault,
  type FieldPath,
  forbidden,
  invalid,
  maxFaults,
  required,
} from '../../../api/model/field-error.ts'
import { asJson } from '../../../api/model/object.ts'
import { Changes } from '../../../api/schema/changes.ts'
import { emulationOf } from '../../../api/schema/context.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { type EmulatedVersion, isAtLeast } from '../../../api/versions/emulated-version.ts'
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { nowhere } from '../objects/value-rules.ts'
import type { Rule } from './rule-form.ts'
import { type CompiledRule, type RuleNode, readRules } from './rule-tree.ts'

/** Cost limits per rule and per object, as in Kubernetes. */
const maxRuleCost = 2_000_000
const maxObjectCost = 20_000_000

/** The part of validation that can take a long time. This part runs after all other rules. */
export type Judge = NonNullable<Kind['rules']['judge']>

/**
 * Returns a function that validates objects with the CEL rules in a schema, which is given as text. Returns undefined
 * if the schema has no rules. Rules are compiled on first use, because most servers write objects of only a few kinds.
 */
export function ruleJudge(text: Buffer, prefix: string): Judge | undefined {
  if (!text.includes(`"${prefix}validations"`)) return undefined
  const compile = async (timeSlice: TimeSlice, emulation: Emulation) => {
    const reader = { prefix, emulation, readPattern: await loadPatternEngine() }
    return await timeSlice.run(readRules(parseOwnJson(text) as JsonObject, reader, ''))
  }
  let compiled: ReturnType<typeof compile> | undefined
  return async (object, previous, context) => {
    const { timeSlice, faults, warn } = context
    const { gates, version } = emulationOf(context)
    if (!gates.has('CustomResourceValidationExpressions')) return []
    compiled ??= compile(timeSlice, { gates, version })
    const root = await compiled
    // The schema has no rules after all. For example, the keyword may occur only in a description.
    if (root === undefined) return []
    const isPrecise = isAtLeast(version, '1.25')
    if (faults.some(({ fault }) => !isPrecise || preventsRules(fault, version)))
      return isPrecise ? [invalid(nowhere, null, notEvaluated)] : []
    const isForgiving = gates.has('CRDValidationRatcheting')
    const validating = { version, ...(isForgiving && previous !== undefined && { forgive: warn }) }
    const judged = { value: asJson(object), previous: previous && asJson(previous), path: '' }
    return await timeSlice.run(validationFaults(root, judged, validating))
  }
}

/**
 * Errors after which CEL rules are not evaluated, because the rules could not handle the object. Wrong enum values are
 * treated separately.
 */
const preventing: ReadonlySet<FieldFault> = new Set([
  ...(['FieldValueRequired', 'FieldValueTooLong', 'FieldValueTooMany'] as const),
  ...(['FieldValueTypeInvalid', 'FieldValueForbidden'] as const),
])

/** Whether an error prevents rules from being evaluated on an object. */
function preventsRules(fault: FieldFault, version: EmulatedVersion): boolean {
  return preventing.has(fault) || (fault === 'FieldValueNotSupported' && isAtLeast(version, '1.30'))
}

const notEvaluated =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

interface Validating {
  /** The emulated version, which determines how errors are reported. */
  readonly version: EmulatedVersion
  /**
   * Called for violations in unchanged values, which an update tolerates (ratcheting). If undefined, they are errors.
   */
  readonly forgive?: (text: string) => void
}

/** Validates an object with the CEL rules of its schema, one rule per step. */
export function* validationFaults(root: RuleNode, judged: ValueAtPath, validating: Validating): SlicedErrors {
  const changes = validating.forgive && new Changes()
  const judging: Judging = { ...validating, faults: [], remainingCost: maxObjectCost, changes }
  yield* judge(root, judging, judged)
  return judging.faults
}

type SlicedErrors = Generator<void, FieldError[]>

interface Judging extends Validating {
  readonly faults: FieldError[]
  readonly changes: Changes | undefined
  /** The remaining cost budget of the object. Validation stops when the budget is negative. */
  remainingCost: number
}

interface ValueAtPath {
  readonly value: Json
  /** The value before the update. Undefined for a create, or if it cannot be matched with the new value. */
  readonly previous: Json | undefined
  readonly path: FieldPath
}

function isOver({ faults, remainingCost }: Judging): boolean {
  return remainingCost < 0 || faults.length >= maxFaults
}

function* judge(node: RuleNode, judging: Judging, judged: ValueAtPath): Generator<void, void> {
  const { value, previous, path } = judged
  if (value === null || isOver(judging)) return
  if (node.rules.length > 0) yield* judgeRules(node, judging, judged)
  if (Array.isArray(value) && node.items !== undefined) {
    const before = previousItems(node, previous)
    for (const [i, item] of value.entries())
      yield* judge(node.items, judging, { value: item, previous: before?.(item), path: at(path, i) })
  }
  if (!isObject(value)) return
  const before = node.type === 'object' && isObject(previous) ? previous : {}
  for (const [name, member] of node.members) {
    const memberValue = own(value, name)
    if (memberValue !== undefined)
      yield* judge(member, judging, { value: memberValue, previous: own(before, name), path: child(path, name) })
  }
  if (node.values === undefined) return
  for (const [key, item] of Object.entries(value))
    yield* judge(node.values, judging, { value: item!, previous: own(before, key), path: at(path, key) })
}

/**
 * Returns a function that finds the old value of a list element by its keys. Returns undefined if the list has no keys.
 */
function previousItems({ correlation, keys }: RuleNode, previous: Json | undefined) {
  if (correlation !== 'keyed items' || !Array.isArray(previous)) return undefined
  const previousItems = new Map(previous.map((item) => [identityOf(item, keys), item]))
  return (item: Json) => previousItems.get(identityOf(item, keys))
}

function* judgeRules(node: RuleNode, judging: Judging, judged: ValueAtPath): Generator<void, void> {
  const { value, previous, path } = judged
  const place = path === '' ? nowhere : path
  const shown = showValue(node.type, value, judging)
  const report = (text: string) => judging.faults.push(invalidValue(place, shown, text))
  const isForgiven = judging.changes?.isSame(value, previous) === true
  let base = path
  const isNew = previous === undefined || previous === null
  const self = lazily(() => fromJson(value, node.declared!))
  const old = lazily(() => fromJson(previous ?? null, node.declared!))
  const plain = lazily(() => [self(), old()])
  const optional = lazily(() => [self(), isNew ? none : new Optional(old())])
  for (const rule of node.rules) {
    yield
    const { compiled } = rule
    if (compiled.outcome === 'invalid') {
      report(`rule compile error: ${compiled.why}`)
      continue
    }
    const { program } = compiled
    if (program.used.has('oldSelf') && isNew && !rule.optionalOldSelf) continue
    const values = rule.optionalOldSelf ? optional : plain
    if (judging.remainingCost <= 0) {
      report(outOfBudget)
      judging.remainingCost = -1
      return
    }
    const outcome = runRule(program, rule, { values, judging })
    if (outcome === 'broken') {
      const where = rule.steps.reduce((above, { name, isKey }) => (isKey ? at(above, name) : child(above, name)), base)
      // Reproduces the behavior of Kubernetes 1.28, which appends the path to that of the previous error.
      if (!isAtLeast(judging.version, '1.29')) base = where
      const fault = errorOf(rule, where === '' ? nowhere : where, { values, judging, shown })
      // Ratcheting does not apply to transition rules, so they always prevent the write.
      if (isForgiven && !isTransition(rule, program)) judging.forgive?.(`${fault.path}: ${fault.text}`)
      else judging.faults.push(fault)
    } else if (outcome !== undefined) report(outcome)
    if (isOver(judging)) return
  }
}

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'

interface Running {
  readonly values: () => readonly Value[]
  readonly judging: Judging
}

/** Whether the rule compares the new value with the old value (`oldSelf`). */
function isTransition(rule: Rule, { used }: Program): boolean {
  return used.has('oldSelf') && !rule.optionalOldSelf
}

/**
 * Returns the invalid value as errors show it: its type or, since Kubernetes 1.35, the value itself if it is a scalar.
 */
function showValue(type: string, value: Json, { version }: Validating): Json | undefined {
  if (!isAtLeast(version, '1.35')) return type
  return typeof value === 'object' ? undefined : value
}

function invalidValue(path: FieldPath, shown: Json | undefined, text: string): FieldError {
  if (shown !== undefined) return invalid(path, shown, text)
  return { fault: 'FieldValueInvalid', path, text: `Invalid value: ${text}` }
}

/** Returns the error for a value that violates a rule, with the rule's message and reason. */
function errorOf(
  rule: CompiledRule,
  where: FieldPath,
  running: Running & { readonly shown: Json | undefined },
): FieldError {
  const text = messageOf(rule, running)
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(where, text)
    case 'FieldValueRequired':
      return required(where, text)
    case 'FieldValueDuplicate':
      return duplicate(where, running.shown)
    default:
      return invalidValue(where, running.shown, text)
  }
}

const maxMessage = 5 * 1024

/**
 * Evaluates the message expression of a rule. If the evaluation fails, returns the rule's message or, if there is none,
 * the rule itself.
 */
function messageOf(rule: CompiledRule, { values, judging }: Running): string {
  const { messageProgram } = rule
  if (messageProgram?.outcome !== 'program') return failure(rule)
  const budget = new Budget(maxRuleCost)
  try {
    const text = messageProgram.program.evaluate(values(), budget)
    judging.remainingCost = Math.max(judging.remainingCost - budget.cost, 0)
    const isUsable = typeof text === 'string' && text.trim() !== '' && text.length <= maxMessage && !text.includes('\n')
    return isUsable ? text.trim() : failure(rule)
  } catch (error) {
    if (error instanceof BudgetExceeded || error instanceof CelError) return failure(rule)
    throw error
  }
}

/**
 * Evaluates a rule. Returns `broken` if the value violates the rule, an error text if the rule cannot be evaluated, and
 * undefined otherwise.
 */
function runRule(program: Program, rule: Rule, { values, judging }: Running): string | undefined {
  const budget = new Budget(maxRuleCost)
  try {
    const holds = program.run(values(), budget)
    return spend(judging, budget) ?? (holds ? undefined : 'broken')
  } catch (error) {
    if (error instanceof BudgetExceeded) {
      judging.remainingCost = -1
      return `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${nameOf(rule)}`
    }
    if (!(error instanceof CelError)) throw error
    return spend(judging, budget) ?? faultOf(error, rule)
  }
}

function spend(judging: Judging, { cost }: Budget): string | undefined {
  judging.remainingCost = cost > judging.remainingCost ? -1 : judging.remainingCost - cost
  return judging.remainingCost < 0 ? outOfBudget : undefined
}

function faultOf({ message }: CelError, rule: Rule): string {
  if (!message.startsWith('no such overload')) return `${message} evaluating rule: ${nameOf(rule)}`
  const why = 'call arguments did not match a supported operator, function or macro signature'
  return `'${message}': ${why} for rule: ${nameOf(rule)}`
}

function failure(rule: Rule): string {
  return rule.message === '' ? `failed rule: ${nameOf(rule)}` : nameOf(rule)
}

/** Returns the rule's message, or the rule's expression if there is no message. */
function nameOf({ rule, message }: Rule): string {
  return (message === '' ? rule : message).trim()
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

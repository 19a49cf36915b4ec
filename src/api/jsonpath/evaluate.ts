/**
 * Evaluates a JSONPath. Each visited value counts against a budget, because paths such as `..*..*..*` visit far more
 * values than an object contains.
 *
 * Columns and templates differ in how they handle a step that does not match: such a step either selects nothing or is
 * an error.
 */
import { isObject, type Json, own } from '../json/json.ts'
import type { Filter, Operand, Operator, Slice, Step, ValueStep } from './path.ts'

/** The evaluation rules that differ between columns and templates. */
export interface Rules {
  /** Returns the members or elements of a value, or an empty list for a scalar. */
  readonly children: (value: Json) => readonly Json[]
  /** Returns the elements or members that a filter tests. */
  readonly candidates: (value: Json) => readonly Json[]
  readonly slice: (value: Json, slice: Slice) => readonly Json[]
  readonly compare: (operator: Operator, a: Json, b: Json) => boolean
  /** Rules for paths within filters. Defaults to the rules for paths outside filters. */
  readonly inFilter?: Rules
}

/** The root value (`$`), the rules, and the remaining budget for an evaluation. */
export interface Search {
  readonly top: Json
  readonly rules: Rules
  readonly budget: VisitBudget
}

/** Limits how many values an evaluation visits. */
export class VisitBudget {
  #remainingVisits: number
  readonly #onExceeded: () => Error

  constructor(maxVisits: number, onExceeded: () => Error) {
    this.#remainingVisits = maxVisits
    this.#onExceeded = onExceeded
  }

  charge(): void {
    if (this.#remainingVisits-- <= 0) throw this.#onExceeded()
  }
}

/**
 * Returns all selected values in document order. The path is evaluated step by step. Throws an error if a step fails.
 */
export function allValues(path: readonly Step[], value: Json, search: Search): Json[] {
  let values = [value]
  for (const step of path) {
    const below: Json[] = []
    const walk: Walk = { step, search, emit: (found) => below.push(found) < 0 }
    for (const each of values) follow(walk, each)
    values = below
  }
  return values
}

/**
 * Returns the first selected value, or undefined if the path selects nothing. The search is depth-first and ends at the
 * first selected value.
 */
export function firstValue(path: readonly Step[], value: Json, search: Search): Json | undefined {
  let first: Json | undefined
  const keep = (found: Json) => {
    search.budget.charge()
    first = found
    return true
  }
  const walk = path.reduceRight<Emit>((emit, step) => {
    const next: Walk = { step, search, emit }
    return (each) => follow(next, each)
  }, keep)
  walk(value)
  return first
}

/** Receives each selected value. Returns true to end the search. */
type Emit = (value: Json) => boolean

/** A step to evaluate, and the function that receives the values it selects. */
interface Walk<S extends Step = Step> {
  readonly step: S
  readonly search: Search
  readonly emit: Emit
}

/** Visits the values that a step selects. Returns true to end the search. */
function follow({ step, search, emit }: Walk, value: Json): boolean {
  search.budget.charge()
  if ('descend' in step) return descend({ step, search, emit }, value)
  if ('filter' in step) return select({ step, search, emit }, value)
  const below = 'any' in step ? step.any.flatMap((each) => take(each, value, search)) : take(step, value, search)
  for (const each of below) if (emit(each)) return true
  return false
}

/** Visits a value and all values below it. Returns true to end the search. */
function descend(walk: Walk, value: Json): boolean {
  const { search, emit } = walk
  search.budget.charge()
  if (emit(value)) return true
  for (const child of search.rules.children(value)) if (descend(walk, child)) return true
  return false
}

function select({ step, search, emit }: Walk<{ readonly filter: Filter }>, value: Json): boolean {
  for (const candidate of search.rules.candidates(value)) {
    search.budget.charge()
    if (holds(step.filter, candidate, search) && emit(candidate)) return true
  }
  return false
}

function take(step: ValueStep, value: Json, { top, rules }: Search): readonly Json[] {
  if ('field' in step) return memberOf(value, step.field)
  if ('all' in step) return rules.children(value)
  return 'top' in step ? [top] : rules.slice(value, step.slice)
}

function memberOf(value: Json, field: string): readonly Json[] {
  const member = isObject(value) ? own(value, field) : undefined
  return member === undefined ? [] : [member]
}

function holds({ left: remainingVisits, comparison }: Filter, value: Json, search: Search): boolean {
  const a = operandValue(remainingVisits, value, search)
  if (comparison === undefined) return a !== undefined
  const b = operandValue(comparison.right, value, search)
  return a !== undefined && b !== undefined && search.rules.compare(comparison.operator, a, b)
}

function operandValue(operand: Operand, value: Json, search: Search): Json | undefined {
  if ('value' in operand) return operand.value
  if (operand.path.length === 0) return value
  const { inFilter } = search.rules
  return firstValue(operand.path, value, inFilter === undefined ? search : { ...search, rules: inFilter })
}

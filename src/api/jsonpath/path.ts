/**
 * The steps of a JSONPath. Each step leads from a value to values below that value. `parse-path.ts` creates the steps,
 * and `evaluate.ts` evaluates them.
 */

export type Step = ValueStep | { readonly any: readonly ValueStep[] } | { readonly filter: Filter } | DescendStep

/** The step `..`, which selects a value and all values below it. */
type DescendStep = { readonly descend: true }

/** A step to a member, all children, elements of a list, or the root. */
export type ValueStep =
  | { readonly field: string }
  | { readonly all: true }
  | { readonly slice: Slice }
  /** The step `$`, which selects the root value. */
  | { readonly top: true }

/** Selects one element of a list, or a range of elements. A negative index counts from the end. */
export type Slice = { readonly index: number } | SliceRange

export interface SliceRange {
  readonly from?: number
  readonly to?: number
  readonly by: number
}

export const operators = ['==', '!=', '<=', '>=', '<', '>'] as const
export type Operator = (typeof operators)[number]

/** A filter. Without an operator, the filter matches if its left side exists. */
export interface Filter {
  readonly left: Operand
  readonly comparison?: { readonly operator: Operator; readonly right: Operand }
}

export type Operand = { readonly path: readonly Step[] } | { readonly value: string | number | boolean }

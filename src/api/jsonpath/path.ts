/**
 * A JSONPath as steps that lead from a value to values below it. `parse-path.ts` creates them, and `evaluate.ts`
 * evaluates them.
 */

export type Step = ValueStep | { readonly any: readonly ValueStep[] } | { readonly filter: Filter } | DescendStep

/** Selects the value itself and all values below it: `..`. */
type DescendStep = { readonly descend: true }

/** A step that selects direct children, or the root. */
export type ValueStep =
  | { readonly field: string }
  | { readonly all: true }
  | { readonly slice: Slice }
  /** Continues at the root value: `$`. */
  | { readonly top: true }

/** Selects one element of a list, counted from the end if the index is negative, or a range of elements. */
export type Slice = { readonly index: number } | SliceRange

export interface SliceRange {
  readonly from?: number
  readonly to?: number
  readonly by: number
}

export const operators = ['==', '!=', '<=', '>=', '<', '>'] as const
export type Operator = (typeof operators)[number]

/** A filter. Without an operator, it matches if the left side exists. */
export interface Filter {
  readonly left: Operand
  readonly comparison?: { readonly operator: Operator; readonly right: Operand }
}

export type Operand = { readonly path: readonly Step[] } | { readonly value: string | number | boolean }

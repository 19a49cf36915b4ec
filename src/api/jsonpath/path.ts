/** A JSONPath as steps from a value to values below it. `parse-path.ts` makes them, `evaluate.ts` follows them. */

export type Step = ValueStep | { readonly any: readonly ValueStep[] } | { readonly filter: Filter } | DescendStep

/** The value itself and everything below it: `..`. */
type DescendStep = { readonly descend: true }

/** A step that leads to values directly below, or to the top. */
export type ValueStep =
  | { readonly field: string }
  | { readonly all: true }
  | { readonly slice: Slice }
  /** From the top again: `$`. */
  | { readonly top: true }

/** One element of a list, from the end if it is negative; or a range of elements. */
export type Slice = { readonly index: number } | SliceRange

export interface SliceRange {
  readonly from?: number
  readonly to?: number
  readonly by: number
}

export const operators = ['==', '!=', '<=', '>=', '<', '>'] as const
export type Operator = (typeof operators)[number]

/** Without an operator it holds where the left side exists. */
export interface Filter {
  readonly left: Operand
  readonly comparison?: { readonly operator: Operator; readonly right: Operand }
}

export type Operand = { readonly path: readonly Step[] } | { readonly value: string | number | boolean }

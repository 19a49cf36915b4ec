/** Arithmetic with sizes and costs for cost estimates. An unknown size is represented as infinity. */

export interface Size {
  readonly min: number
  readonly max: number
}

export const unknownSize: Size = { min: 0, max: Number.POSITIVE_INFINITY }

export function fixedSize(size: number): Size {
  return { min: size, max: size }
}

export function addSizes(a: Size, b: Size): Size {
  return { min: a.min + b.min, max: a.max + b.max }
}

export function unionOf(a: Size, b: Size): Size {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}

/** Multiplies two numbers. Zero times infinity is zero. */
export function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b
}

/** Cost of reading one character, in cost units. */
const perCharacter = 0.1
/** Cost of matching one character against one character of a pattern, in cost units. */
const perPatternCharacter = 0.25

/** Returns the cost of traversing a value of the given size, rounded up. */
export function traversal(size: number, factor = perCharacter): number {
  return Math.ceil(times(size, factor))
}

/** Cost of creating a list, excluding the cost of its elements. */
export const listCallCost = 11

/** The cost factors for comparing all element pairs of two lists, by element type. */
export const comparisonFactors = { text: 2.1, other: 2 }

/** Estimates the cost of sorting a list. The size of the result is the number of comparisons, as in cel-go. */
export function sortEstimate(
  { min, max }: Size,
  elements: keyof typeof comparisonFactors,
): { readonly cost: number; readonly size: Size } {
  const size = { min: min * min, max: times(max, max) }
  return { cost: traversal(size.max, comparisonFactors[elements]) + listCallCost, size }
}

/** Returns the cost of matching a string against a pattern, given the lengths of both. */
export function matchCost(text: number, pattern: number): number {
  return times(Math.ceil((text + 1) * perCharacter), Math.ceil(pattern * perPatternCharacter))
}

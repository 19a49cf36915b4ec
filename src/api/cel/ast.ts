/**
 * The syntax tree of an expression. The checker adds the type of each node, and the candidate functions of each call.
 * Macros are separate nodes that are not expanded. The code that walks the tree knows their meaning.
 */
import type { Overload } from './overload.ts'
import type { CelType } from './types.ts'
import type { Value } from './values.ts'

interface Common {
  /** Offset in the expression's text, for messages. */
  readonly at: number
  /** Set by the checker. */
  type?: CelType
}

export interface Literal extends Common {
  readonly kind: 'literal'
  readonly value: Value
}

export interface Identifier extends Common {
  readonly kind: 'identifier'
  readonly name: string
}

export interface Select extends Common {
  readonly kind: 'select'
  readonly operand: Node
  readonly field: string
  /** Whether this is `has()`, which tests whether the field is present. */
  readonly isTest: boolean
}

export interface Call extends Common {
  readonly kind: 'call'
  readonly name: string
  readonly target: Node | undefined
  readonly args: readonly Node[]
  /** Set by the checker. */
  overloads?: readonly Overload[]
}

export interface ListLiteral extends Common {
  readonly kind: 'list'
  readonly elements: readonly Node[]
  /** Indexes of elements that are added only if they have a value: `[?x]`. */
  readonly optionals?: ReadonlySet<number>
}

export interface MapLiteral extends Common {
  readonly kind: 'map'
  readonly entries: readonly (readonly [Node, Node])[]
  /** Indexes of entries that are added only if they have a value: `{?k: v}`. */
  readonly optionals?: ReadonlySet<number>
}

export interface StructField {
  /** Offset of the colon in the expression's text, for messages. */
  readonly at: number
  readonly name: string
  readonly value: Node
  /** Whether the field is set only if the value is present: `{?a: x}`. */
  readonly isOptional: boolean
}

/** An object of a named type: `Object.spec{replicas: 3}`. */
export interface StructLiteral extends Common {
  readonly kind: 'struct'
  readonly name: string
  readonly fields: readonly StructField[]
}

export const foldNames = [
  ...(['all', 'exists', 'exists_one', 'map', 'filter', 'optMap', 'optFlatMap'] as const),
  ...(['existsOne', 'transformList', 'transformMap', 'transformMapEntry', 'sortBy'] as const),
] as const
export type FoldName = (typeof foldNames)[number]

/**
 * A macro that iterates over a list or over the keys of a map. `optMap` and `optFlatMap` iterate over the value of an
 * optional, if it has a value.
 */
export interface Fold extends Common {
  readonly kind: 'fold'
  readonly macro: FoldName
  readonly range: Node
  readonly variable: string
  /** The second variable, for the element or value. If it is set, `variable` is the index or key. */
  readonly second?: string | undefined
  /** The condition on each element. Macros that transform elements may have no condition. */
  readonly predicate: Node | undefined
  /** The expression that computes the result for each element. */
  readonly transform: Node | undefined
}

export type Node = Literal | Identifier | Select | Call | ListLiteral | MapLiteral | StructLiteral | Fold

/** Returns the arguments of a call, preceded by its target. */
export function operands({ target, args }: Call): readonly Node[] {
  return target === undefined ? args : [target, ...args]
}

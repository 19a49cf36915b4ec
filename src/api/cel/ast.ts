/**
 * The syntax tree of a CEL expression. The checker adds the type of each node and the candidate overloads of each call.
 * Macros are separate nodes and are not expanded, so code that traverses the tree must handle them.
 */
import type { Overload } from './overload.ts'
import type { CelType } from './types.ts'
import type { Value } from './values.ts'

interface Common {
  /** Offset of the node in the expression, for error messages. */
  readonly at: number
  /** CEL type of the node. Set by the checker. */
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
  /** Whether the node is a `has()` test, which checks that the field is present. */
  readonly isTest: boolean
}

export interface Call extends Common {
  readonly kind: 'call'
  readonly name: string
  readonly target: Node | undefined
  readonly args: readonly Node[]
  /** The overloads that may apply to the call. Set by the checker. */
  overloads?: readonly Overload[]
}

export interface ListLiteral extends Common {
  readonly kind: 'list'
  readonly elements: readonly Node[]
  /** Indexes of optional elements, written as `[?x]`. The value of `x` is added to the list only if `x` has a value. */
  readonly optionals?: ReadonlySet<number>
}

export interface MapLiteral extends Common {
  readonly kind: 'map'
  readonly entries: readonly (readonly [Node, Node])[]
  /** Indexes of optional entries, written as `{?k: v}`. The entry is added to the map only if `v` has a value. */
  readonly optionals?: ReadonlySet<number>
}

export interface StructField {
  /** Offset of the colon between key and value in the expression, for error messages. */
  readonly at: number
  readonly name: string
  readonly value: Node
  /**
   * Whether the field is optional, written as `{?a: x}`. An optional field is set only if the expression has a value.
   */
  readonly isOptional: boolean
}

/** An expression that creates an object of a named type, such as `Object.spec{replicas: 3}`. */
export interface StructLiteral extends Common {
  readonly kind: 'struct'
  readonly name: string
  readonly fields: readonly StructField[]
}

export const foldNames = [
  ...(['all', 'exists', 'exists_one', 'map', 'filter', 'optMap', 'optFlatMap'] as const),
  ...(['existsOne', 'transformList', 'transformMap', 'transformMapEntry', 'sortBy', 'bind'] as const),
] as const
export type FoldName = (typeof foldNames)[number]

/**
 * A macro that iterates over a list or over the keys of a map. `optMap` and `optFlatMap` iterate over the value of an
 * optional, if the optional has a value. `cel.bind` declares one variable for the value of `range`.
 */
export interface Fold extends Common {
  readonly kind: 'fold'
  readonly macro: FoldName
  readonly range: Node
  readonly variable: string
  /**
   * The second loop variable, which is set to the element or value. The first variable is then set to the index or key.
   */
  readonly second?: string | undefined
  /** The condition on each element. Undefined if the macro has no condition. */
  readonly predicate: Node | undefined
  /** The expression that computes the result for each element. Undefined if the macro has none. */
  readonly transform: Node | undefined
}

export type Node = Literal | Identifier | Select | Call | ListLiteral | MapLiteral | StructLiteral | Fold

/** Returns the arguments of a call, preceded by its target. */
export function operands({ target, args }: Call): readonly Node[] {
  return target === undefined ? args : [target, ...args]
}

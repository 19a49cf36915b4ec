/**
 * The syntax tree of an expression. The checker adds the type of each node, and the candidate functions of each call.
 * Macros are separate nodes that are not expanded; the code that walks the tree knows their meaning.
 */
import type { Overload } from './overload.ts'
import type { CelType } from './types.ts'
import type { Value } from './values.ts'

interface Common {
  /** Offset in the text, for messages. */
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
}

export interface MapLiteral extends Common {
  readonly kind: 'map'
  readonly entries: readonly (readonly [Node, Node])[]
}

export const foldNames = ['all', 'exists', 'exists_one', 'map', 'filter'] as const
export type FoldName = (typeof foldNames)[number]

/** A macro that iterates over a list or over the keys of a map. */
export interface Fold extends Common {
  readonly kind: 'fold'
  readonly macro: FoldName
  readonly range: Node
  readonly variable: string
  /** The condition on each element. Only `map` may have none. */
  readonly predicate: Node | undefined
  /** The result of `map` for each element. */
  readonly transform: Node | undefined
}

export type Node = Literal | Identifier | Select | Call | ListLiteral | MapLiteral | Fold

/** Returns the arguments of a call, preceded by its target. */
export function operands({ target, args }: Call): readonly Node[] {
  return target === undefined ? args : [target, ...args]
}

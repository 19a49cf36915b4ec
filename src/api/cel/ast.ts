/**
 * An expression as the parser reads it. The checker adds the type of each node, and to each call the functions that it
 * may mean. Macros are nodes of their own: what they expand to in the language's text is known to those who walk them.
 */
import type { Overload } from './overload.ts'
import type { CelType } from './types.ts'
import type { Value } from './values.ts'

interface Common {
  /** Where messages point at: an offset in the text. */
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
  /** Of `has()`: whether the field is there, and not what it is. */
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

/** A macro that goes through a list, or through the keys of a map. */
export interface Fold extends Common {
  readonly kind: 'fold'
  readonly macro: FoldName
  readonly range: Node
  readonly variable: string
  /** What is asked of each element; only `map` may have none. */
  readonly predicate: Node | undefined
  /** What `map` makes of each element. */
  readonly transform: Node | undefined
}

export type Node = Literal | Identifier | Select | Call | ListLiteral | MapLiteral | Fold

/** The arguments of a call with its target before them, as functions take them. */
export function operands({ target, args }: Call): readonly Node[] {
  return target === undefined ? args : [target, ...args]
}

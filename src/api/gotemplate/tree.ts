/** The syntax tree of a Go template, created by `parse.ts` and executed by `execute.ts`. */

/** An operand in a template. `at` is its offset. */
export type Operand =
  | { readonly kind: 'dot'; readonly at: number }
  | { readonly kind: 'nil'; readonly at: number }
  | { readonly kind: 'literal'; readonly value: string | boolean | number | bigint; readonly at: number }
  | { readonly kind: 'variable'; readonly name: string; readonly at: number }
  | { readonly kind: 'function'; readonly name: string; readonly at: number }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline; readonly at: number }
  /**
   * Fields of an operand, such as `.a.b`. Without an explicit operand, the fields belong to the dot, which is the
   * current value.
   */
  | { readonly kind: 'fields'; readonly of: Operand; readonly names: readonly string[]; readonly at: number }

/** A function call, or a single operand without arguments. */
export type Command = readonly [first: Operand, ...args: Operand[]]

/** A sequence of commands. Each command receives the result of the preceding command as its last argument. */
export interface Pipeline {
  /** The variables that receive the result: `$x :=`, `$x =`, or `$i, $x :=` in a range. */
  readonly variables: readonly string[]
  /** Whether the pipeline declares its variables. If false, it assigns values to existing variables. */
  readonly declares: boolean
  readonly commands: readonly Command[]
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipeline: Pipeline }
  | Branch
  | { readonly kind: 'template'; readonly name: string; readonly pipeline: Pipeline | undefined; readonly at: number }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' }

export interface Branch {
  readonly kind: 'if' | 'with' | 'range'
  readonly pipeline: Pipeline
  readonly body: readonly Node[]
  readonly otherwise: readonly Node[]
  readonly at: number
}

/** A parsed template, including the templates that it defines by name. */
export interface Template {
  readonly text: string
  readonly nodes: readonly Node[]
  readonly defined: ReadonlyMap<string, readonly Node[]>
}

/**
 * The short-circuiting functions, which stop at the first argument that determines the result. Every template can call
 * them.
 */
export const lazyFunctions: ReadonlySet<string> = new Set(['and', 'or'])

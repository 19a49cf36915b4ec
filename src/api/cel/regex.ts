/** Regular expressions in rules. The caller provides the engine, which must match in linear time. */

/** A compiled regular expression that matches in time linear in the length of the input. */
export interface Pattern {
  /** Maximum number of matching steps per character of the input. */
  readonly size: number
  readonly test: (text: string) => boolean
  /** Returns the first match, or undefined if there is no match. */
  readonly find: (text: string) => string | undefined
  /** Returns at most the first `limit` matches, in order. */
  readonly findAll: (text: string, limit: number) => string[]
}

/** Compiles a regular expression, or returns the reason why the expression is rejected. */
export type ReadPattern = (
  text: string,
) => { readonly outcome: 'pattern'; readonly pattern: Pattern } | { readonly outcome: 'refused'; readonly why: string }

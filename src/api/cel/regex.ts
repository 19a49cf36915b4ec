/** Regular expressions for rules. The caller provides the engine, which must match in linear time. */

/** A compiled regular expression that runs in linear time. */
export interface Pattern {
  /** Upper bound on the number of steps per character of the text. */
  readonly size: number
  readonly test: (text: string) => boolean
  /** Returns the first match. Undefined if there is none. */
  readonly find: (text: string) => string | undefined
  /** Returns at most this many matches, in order. */
  readonly findAll: (text: string, limit: number) => string[]
}

/** Compiles a regular expression, or returns the reason why it is rejected. */
export type ReadPattern = (
  text: string,
) => { readonly outcome: 'pattern'; readonly pattern: Pattern } | { readonly outcome: 'refused'; readonly why: string }

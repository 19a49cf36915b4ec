/** Regular expressions as rules need them. The engine is handed in: it must match in time linear in the text. */

/** A compiled regular expression that runs in linear time. */
export interface Pattern {
  /** A match takes at most so many steps for each character of a text. */
  readonly size: number
  readonly test: (text: string) => boolean
  /** The first match; undefined where there is none. */
  readonly find: (text: string) => string | undefined
  /** At most so many matches, in turn. */
  readonly findAll: (text: string, limit: number) => string[]
}

/** Compiles a regular expression, or says why not. */
export type ReadPattern = (
  text: string,
) => { readonly outcome: 'pattern'; readonly pattern: Pattern } | { readonly outcome: 'refused'; readonly why: string }

/** What the bundle was made from: the commit, and whether files had been changed since. */

/** Set by scripts/bundle.mjs; not there where the sources themselves run. */
declare const __commit: string

const made = typeof __commit === 'string' ? __commit : ''
const mark = '-dirty'

/** The commit, and the state of its files. */
export const builtFrom = {
  /** Empty where it is not known: made outside of a repository, or not made at all. */
  commit: made.replace(mark, ''),
  treeState: made.endsWith(mark) ? 'dirty' : 'clean',
}

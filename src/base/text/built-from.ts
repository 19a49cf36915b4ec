/** The commit that the bundle was built from, and whether the working tree was dirty. */

/** Set by scripts/bundle.mjs. Undefined if the sources run directly. */
declare const __commit: string

const made = typeof __commit === 'string' ? __commit : ''
const mark = '-dirty'

/** The commit and the state of the working tree. */
export const builtFrom = {
  /** Empty if unknown: built outside of a repository, or not bundled. */
  commit: made.replace(mark, ''),
  treeState: made.endsWith(mark) ? 'dirty' : 'clean',
}

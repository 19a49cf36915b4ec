/** The commit that the bundle was built from, and whether the working tree was dirty. */

/** Set by scripts/bundle.mjs. Undefined if the sources run directly. */
declare const __commit: string

const bundledCommit = typeof __commit === 'string' ? __commit : ''
const dirtySuffix = '-dirty'

/** The commit and the state of the working tree. */
export const buildInfo = {
  /** Empty if unknown, because the program was built outside a repository or is not bundled. */
  commit: bundledCommit.replace(dirtySuffix, ''),
  treeState: bundledCommit.endsWith(dirtySuffix) ? 'dirty' : 'clean',
}

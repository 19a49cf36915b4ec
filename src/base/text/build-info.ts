/** The commit from which the bundle was built, and whether the working tree was dirty. */

/** The commit, which scripts/bundle.mjs sets. Undefined if the sources run directly. */
declare const __commit: string

const bundledCommit = typeof __commit === 'string' ? __commit : ''
const dirtySuffix = '-dirty'

/** The commit and the state of the working tree. */
export const buildInfo = {
  /** The commit. Empty if it is unknown, because the program was built outside of a repository or is not bundled. */
  commit: bundledCommit.replace(dirtySuffix, ''),
  treeState: bundledCommit.endsWith(dirtySuffix) ? 'dirty' : 'clean',
}

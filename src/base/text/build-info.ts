/** The commit from which the bundle was built, and whether the working tree had uncommitted changes. */

/** The commit, inserted by scripts/bundle.mjs. Undefined if the program runs directly from its sources. */
declare const __commit: string

const bundledCommit = typeof __commit === 'string' ? __commit : ''
const dirtySuffix = '-dirty'

/** Describes the commit from which the program was built. */
export const buildInfo = {
  /** Commit of the build, or '' if unknown. */
  commit: bundledCommit.replace(dirtySuffix, ''),
  treeState: bundledCommit.endsWith(dirtySuffix) ? 'dirty' : 'clean',
}

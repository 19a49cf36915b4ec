/** The commit that the bundle was built from, and whether its working tree had uncommitted changes. */

/** The commit, which scripts/bundle.mjs inserts. Undefined if the program runs directly from its sources. */
declare const __commit: string

const bundledCommit = typeof __commit === 'string' ? __commit : ''
const dirtySuffix = '-dirty'

/** Describes the commit that the program was built from. */
export const buildInfo = {
  /** Commit of the build, or '' if unknown. */
  commit: bundledCommit.replace(dirtySuffix, ''),
  treeState: bundledCommit.endsWith(dirtySuffix) ? 'dirty' : 'clean',
}

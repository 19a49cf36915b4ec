/** Detects revisions in an object's history that changed only its status. */

interface HistoryRevision {
  readonly deleted?: boolean | undefined
  readonly created?: boolean | undefined
  readonly changes?: readonly { readonly steps?: readonly { readonly member?: string | undefined }[] }[] | undefined
}

/**
 * Whether a revision changed nothing but the status. Control loops write many such revisions, so views of the history
 * hide them.
 */
export function isStatusChange({ deleted, created, changes = [] }: HistoryRevision): boolean {
  if (deleted || created || changes.length === 0) return false
  return changes.every(({ steps: [first] = [] }) => first?.member === 'status')
}

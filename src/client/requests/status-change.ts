/** Detects revisions in an object's history that changed only its status. */

interface HistoryRevision {
  readonly deleted?: boolean | undefined
  readonly created?: boolean | undefined
  readonly changes?: readonly { readonly steps?: readonly { readonly member?: string | undefined }[] }[] | undefined
}

/** Whether a revision changed only the status. Views hide such revisions, because control loops write many of them. */
export function isStatusChange({ deleted, created, changes = [] }: HistoryRevision): boolean {
  if (deleted || created || changes.length === 0) return false
  return changes.every(({ steps: [first] = [] }) => first?.member === 'status')
}

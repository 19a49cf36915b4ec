/**
 * Reads a store at one revision in pages, for backups, checks and migrations. Concurrent writes do not affect the
 * snapshot. A read fails if it takes longer than the store's history window.
 */
import { type Entry, type Revision, RevisionGone, type Store } from '../../storage/store/store.ts'
import { BackupError } from './backup-error.ts'

/** The state of a store at one revision. */
export interface Snapshot {
  readonly revision: Revision
  pages(): AsyncGenerator<readonly Entry[]>
}

const pageEntries = 500

/** Returns a snapshot of the current state. */
export async function snapshotOf(store: Store): Promise<Snapshot> {
  const first = await store.list({ prefix: '', limit: pageEntries, count: false })
  return { revision: first.revision, pages: () => pagesOf(store, first) }
}

async function* pagesOf(store: Store, first: Awaited<ReturnType<Store['list']>>): AsyncGenerator<readonly Entry[]> {
  const { revision } = first
  let page = first
  for (;;) {
    const last = page.entries.at(-1)
    if (page.entries.length > 0) yield page.entries
    if (page.remaining === 0 || last === undefined) return
    const range = { prefix: '', after: last.key, limit: pageEntries, revision, count: false }
    page = await store.list(range).catch((error: unknown) => {
      throw error instanceof RevisionGone ? tooSlow(revision) : error
    })
  }
}

function tooSlow(revision: Revision): BackupError {
  return new BackupError(
    `revision ${revision} expired before the backup was complete: read the backup faster, or raise --history-duration`,
  )
}

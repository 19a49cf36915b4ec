/**
 * A store at one revision, page by page: what a backup, a check and a migration read. It is exact however much is written
 * meanwhile, for as long as the store keeps the revision: a reader that takes longer than history is kept fails.
 */
import { type Entry, type Revision, RevisionGone, type Store } from '../../storage/store/store.ts'
import { BackupError } from './backup-error.ts'

/** The exact state of a store. */
export interface Snapshot {
  readonly revision: Revision
  pages(): AsyncGenerator<readonly Entry[]>
}

const pageEntries = 500

/** Of what the store holds now. */
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
    `the state at revision ${revision} was forgotten before all of it was read: read it faster, or raise --history-duration`,
  )
}

/**
 * Loads pages of entries into a new store and reports progress. Resumes an interrupted load of the same source.
 */

import type { Entry, Revision } from '../../storage/store/store.ts'
import type { LoadedEntry, StoreLoader } from '../../storage/store/store-load.ts'

/** Progress of a long operation, such as a load. */
export interface Progress {
  readonly entries: number
  readonly bytes: number
}

export interface LoadOptions {
  /** Returns the lifetime in seconds of the entry with this key. Undefined if it never expires. */
  readonly lifetimeOf: (key: string) => number | undefined
  /** Handles an entry that does not belong in the main store. Returns whether the entry was handled. */
  readonly keepsElsewhere?: (entry: Entry) => Promise<boolean>
  readonly onProgress: (progress: Progress) => void
}

/**
 * Loads all entries. Throws an error if the source fails. The caller finalizes the store when everything else is
 * complete.
 */
export async function loadPages(
  loading: StoreLoader,
  pages: AsyncIterable<readonly Entry[]>,
  { lifetimeOf, keepsElsewhere = async () => false, onProgress }: LoadOptions,
): Promise<Progress> {
  const progress = { entries: 0, bytes: 0 }
  for await (const page of pages) {
    const newEntries: LoadedEntry[] = []
    for (const entry of page) {
      progress.bytes += entry.value.length
      if (await keepsElsewhere(entry)) continue
      if (++progress.entries > loading.done) newEntries.push({ ...entry, lifetimeSeconds: lifetimeOf(entry.key) })
    }
    if (newEntries.length > 0) await loading.write(newEntries)
    onProgress(progress)
  }
  return progress
}

/** Number of revisions to skip: `least`, plus `perSecond` for each second since the state was read. */
const margin = { least: 1_000_000_000, perSecond: 100_000 }

/**
 * Returns a revision that the source store cannot have reached since its state was read. All revisions that clients
 * have received are therefore lower, and the server reports them as expired. `since` is the time of the read in
 * milliseconds. If the clock has been set back since then, the elapsed time counts as zero.
 */
export function revisionAbove(revision: Revision, since: number, now: number): Revision {
  const seconds = Math.max(0, Math.ceil((now - since) / 1000))
  return revision + margin.least + margin.perSecond * seconds
}

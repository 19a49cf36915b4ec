/**
 * Puts pages of entries into a store that is being loaded, from where an interrupted load of the same has ended, and
 * reports progress on the way.
 */
import type { LoadedEntry, Loading } from '../../storage/store/loading.ts'
import type { Entry, Revision } from '../../storage/store/store.ts'

/** How far long work has come. */
export interface Progress {
  readonly entries: number
  readonly bytes: number
}

export interface LoadOptions {
  /** How long an entry is to be kept; undefined: for ever. */
  readonly lifetimeOf: (key: string) => number | undefined
  /** Entries that are kept elsewhere than in the store. */
  readonly keepsElsewhere?: (entry: Entry) => Promise<boolean>
  readonly onProgress: (progress: Progress) => void
}

/** Every entry of the pages, unless the source throws. The store is finished by the caller, once all else is done. */
export async function loadPages(
  loading: Loading,
  pages: AsyncIterable<readonly Entry[]>,
  { lifetimeOf, keepsElsewhere = async () => false, onProgress }: LoadOptions,
): Promise<Progress> {
  const progress = { entries: 0, bytes: 0 }
  for await (const page of pages) {
    const wanted: LoadedEntry[] = []
    for (const entry of page) {
      progress.bytes += entry.value.length
      if (await keepsElsewhere(entry)) continue
      if (++progress.entries > loading.done) wanted.push({ ...entry, lifetimeSeconds: lifetimeOf(entry.key) })
    }
    if (wanted.length > 0) await loading.write(wanted)
    onProgress(progress)
  }
  return progress
}

/** How many revisions are left out for those that were handed out after the backup was made, at least and per second. */
const margin = { least: 1_000_000_000, perSecond: 100_000 }

/**
 * A revision that no store can have reached since a state of it was read: whatever clients know is below, and is gone.
 * `since`: when the state was read, in milliseconds; a clock that was set back counts as no time.
 */
export function revisionAbove(revision: Revision, since: number, now: number): Revision {
  const seconds = Math.max(0, Math.ceil((now - since) / 1000))
  return revision + margin.least + margin.perSecond * seconds
}

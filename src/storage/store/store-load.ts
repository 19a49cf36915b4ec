/**
 * Fills an empty store from a backup or another store. Until `finish` has resolved, the store is marked as unfinished
 * and cannot be opened for normal use. A load with the same `id` as an interrupted load resumes where that load
 * stopped. Otherwise, the load starts over.
 */
import type { Entry, Revision } from './store.ts'

/** The description of the data to load. */
export interface Load {
  /** Identifies the source and its state. Two loads with the same `id` have the same entries in the same order. */
  readonly id: string
  /** A revision below all revisions that the store assigns after the load. */
  readonly above: Revision
}

/** An entry to load. The embedded store keeps the revision of the entry. etcd assigns its own revision. */
export interface LoadedEntry extends Entry {
  readonly lifetimeSeconds?: number | undefined
}

/** A load that is in progress. */
export interface StoreLoader {
  /** Number of entries that an interrupted load with the same `id` has already written. */
  readonly done: number
  /**
   * Writes entries in order. Resolves when they are durable. If the call fails, some leading entries may have been
   * written.
   */
  write(entries: readonly LoadedEntry[]): Promise<void>
  /** Makes the store usable and returns its revision. */
  finish(): Promise<Revision>
  /** Releases the store, even if the load is not finished. */
  close(): Promise<void>
}

/** The progress recorded in the marker of an unfinished store. */
export interface LoadProgress {
  readonly id: string
  readonly done: number
}

/**
 * Parses the marker of an unfinished store. Returns undefined if the marker is damaged. In that case, the load starts
 * over.
 */
export function readProgress(text: string): LoadProgress | undefined {
  try {
    const { id, done } = JSON.parse(text) as Partial<LoadProgress>
    return typeof id === 'string' && Number.isSafeInteger(done) ? { id, done: done! } : undefined
  } catch {
    return undefined
  }
}

/** Encodes the marker of an unfinished store. */
export function writeProgress({ id, done }: LoadProgress): Buffer {
  return Buffer.from(JSON.stringify({ id, done }))
}

/** Error message for opening an unfinished store. */
export const unfinishedText =
  'a restore or migration into it was interrupted: run the same command again to finish it, or delete the data that it wrote'

/**
 * Filling an empty store from somewhere else: a backup, or another store. Nothing is half there: until `finish` has
 * resolved the store is marked as unfinished, and whoever opens it is told so. A load that was interrupted is taken up
 * where it ended if it is the same one (`id`), and begun anew otherwise.
 */
import type { Entry, Revision } from './store.ts'

/** What is loaded. */
export interface Load {
  /** Names the source and its state: equal for the same entries in the same order. */
  readonly id: string
  /** Every revision that the store hands out from now on is above this one. */
  readonly above: Revision
}

/** An entry to load. The embedded store keeps its revision; etcd counts for itself. */
export interface LoadedEntry extends Entry {
  readonly lifetimeSeconds?: number | undefined
}

/** A load under way. */
export interface Loading {
  /** How many entries are there already, from an interrupted load of the same `id`. */
  readonly done: number
  /** Adds entries in their order; resolves when they are durable. Where it fails, the first of them may be there. */
  write(entries: readonly LoadedEntry[]): Promise<void>
  /** Makes the store one like any other. Returns the revision that it is at. */
  finish(): Promise<Revision>
  /** Releases the store, finished or not. */
  close(): Promise<void>
}

/** What the mark of an unfinished store holds. */
export interface LoadProgress {
  readonly id: string
  readonly done: number
}

/** Undefined where it is damaged: then the load begins anew. */
export function readProgress(text: string): LoadProgress | undefined {
  try {
    const { id, done } = JSON.parse(text) as Partial<LoadProgress>
    return typeof id === 'string' && Number.isSafeInteger(done) ? { id, done: done! } : undefined
  } catch {
    return undefined
  }
}

/** The mark of an unfinished store. */
export function writeProgress({ id, done }: LoadProgress): Buffer {
  return Buffer.from(JSON.stringify({ id, done }))
}

/** What whoever opens an unfinished store is told. */
export const unfinishedText =
  'a restore or migration into it was interrupted: run the same command again to finish it, or remove what it wrote'

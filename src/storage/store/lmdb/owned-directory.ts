/**
 * Ownership of a data directory: its lock, the thread that opens its file, and the periodic work of the owner, which is
 * compaction and expiry. Used by a single store (`store.ts`) and by the hub for the stores of several threads
 * (`hub.ts`).
 */
import { type Clock, systemClock } from '../../../base/time/clock.ts'
import type { Retention, StoreError } from '../store.ts'
import { Connection, type Listeners } from './connection.ts'
import { assertDataFileNotLost, checkDirectory, makeDirectory } from './directory.ts'
import { lockDirectory } from './directory-lock.ts'
import type { HistoryWindow } from './history-window.ts'
import type { BackgroundCheckOptions, OpenReply } from './messages.ts'

/** `every` runs a function periodically until stopped, without keeping the process alive. */
export interface StoreClock extends Clock {
  every(milliseconds: number, run: () => void): () => void
}

export interface OwnedDirectoryOptions {
  readonly directory: string
  /** Checks the pages of a large data file while it is in use. By default all pages are checked before. */
  readonly backgroundCheck?: BackgroundCheckOptions | undefined
  /** Minimum age of changes before they are compacted. Defaults to five minutes. */
  readonly historyMs?: number
  /** How much of the journal to keep. Absent means no journal. */
  readonly retention?: Retention | undefined
  readonly clock?: StoreClock
  /** Called when compaction or expiry fails; both are retried. Defaults to a process warning. */
  readonly onUpkeepError?: (error: Error) => void
  /** Called with problems that need attention while the store keeps working, such as a full disk. */
  readonly onWarning?: (message: string) => void
  /**
   * Called once when nothing can be written any more: the disk rejected a write or a sync, or the thread has ended.
   * Reads may still work. Only reopening the store, after a check of the disk, shows the stored data.
   */
  readonly onFailed?: (error: StoreError) => void
}

export interface OwnedDirectory {
  readonly connection: Connection
  readonly state: OpenReply
  /** Releases the lock on the directory. */
  readonly release: () => void
}

export async function openOwnedDirectory(
  { directory, onWarning, backgroundCheck }: OwnedDirectoryOptions,
  listeners: Listeners,
): Promise<OwnedDirectory> {
  await makeDirectory(directory)
  const release = await lockDirectory(directory)
  try {
    await assertDataFileNotLost(directory)
    const warning = await checkDirectory(directory)
    if (warning !== undefined) onWarning?.(warning)
    return { ...(await Connection.open({ directory, backgroundCheck }, listeners)), release }
  } catch (error) {
    release()
    throw error
  }
}

const defaultHistoryMs = 5 * 60 * 1000
/** The actual retention exceeds `historyMs` by up to this fraction. */
const marksPerHistory = 20

/** Compacts old changes periodically. Returns a function that stops it. */
export function keepHistory(
  history: HistoryWindow,
  clock: StoreClock,
  { historyMs = defaultHistoryMs }: OwnedDirectoryOptions,
): () => void {
  const keep = () => history.keep(historyMs)
  keep()
  return clock.every(Math.max(10, historyMs / marksPerHistory), keep)
}

/** The system clock. */
export const storeClock: StoreClock = {
  ...systemClock,
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds)
    timer.unref()
    return () => clearInterval(timer)
  },
}

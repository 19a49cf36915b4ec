/**
 * A data directory with the resources of its owner: its lock, the thread that opens its file, and periodic compaction
 * and expiry. A directory belongs to a single store (`store.ts`) or to the hub that serves the stores of several
 * threads (`hub.ts`).
 */
import { type Clock, systemClock } from '../../../base/time/clock.ts'
import type { Retention, StoreError } from '../store.ts'
import { Connection, type Listeners } from './connection.ts'
import { assertDataFileNotLost, checkDirectory, makeDirectory } from './directory.ts'
import { lockDirectory } from './directory-lock.ts'
import type { HistoryWindow } from './history-window.ts'
import type { BackgroundCheckOptions, OpenReply } from './messages.ts'

/**
 * A clock that can also run a function periodically. `every` returns a function that stops the calls. The clock does
 * not keep the process alive.
 */
export interface StoreClock extends Clock {
  every(milliseconds: number, run: () => void): () => void
}

export interface OwnedDirectoryOptions {
  readonly directory: string
  /**
   * Settings for checking the pages of a large data file while the file is in use. By default, all pages are checked
   * before the file is opened.
   */
  readonly backgroundCheck?: BackgroundCheckOptions | undefined
  /** Minimum age of changes before they are compacted. Defaults to five minutes. */
  readonly historyMs?: number
  /** Retention limits of the journal. If undefined, the store has no journal. */
  readonly retention?: Retention | undefined
  readonly clock?: StoreClock
  /** Called when compaction or expiry fails. Both are retried. By default, the error becomes a process warning. */
  readonly onUpkeepError?: (error: Error) => void
  /** Called for problems that need attention but do not stop the store, such as a full disk. */
  readonly onWarning?: (message: string) => void
  /**
   * Called once, when the store can no longer write because the disk rejected a write or a sync, or because the thread
   * has ended. Reads may still work. To determine what has been stored, the operator must check the disk and reopen the
   * store.
   */
  readonly onFailed?: (error: StoreError) => void
}

export interface OwnedDirectory {
  readonly connection: Connection
  readonly state: OpenReply
  /** Releases the lock on the data directory. */
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
/**
 * Number of time records per retention period. Changes may be retained for longer than `historyMs`, by up to one
 * interval between these records.
 */
const marksPerHistory = 20

/** Compacts old changes periodically. Returns a function that stops the compaction. */
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

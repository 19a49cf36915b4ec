/**
 * A data directory with its owner's resources: its lock, the thread that opens its file, and periodic compaction and
 * expiry. Used by a single store (`store.ts`) and by the hub for the stores of several threads (`hub.ts`).
 */
import { type Clock, systemClock } from '../../../base/time/clock.ts'
import type { Retention, StoreError } from '../store.ts'
import { Connection, type Listeners } from './connection.ts'
import { assertDataFileNotLost, checkDirectory, makeDirectory } from './directory.ts'
import { lockDirectory } from './directory-lock.ts'
import type { HistoryWindow } from './history-window.ts'
import type { BackgroundCheckOptions, OpenReply } from './messages.ts'

/**
 * A clock that can also run a function periodically. `every` returns a function that stops it. It does not keep the
 * process alive.
 */
export interface StoreClock extends Clock {
  every(milliseconds: number, run: () => void): () => void
}

export interface OwnedDirectoryOptions {
  readonly directory: string
  /**
   * When to check the pages of a large data file while it is in use. By default all pages are checked before the file
   * is opened.
   */
  readonly backgroundCheck?: BackgroundCheckOptions | undefined
  /** Minimum age of changes before they are compacted. Defaults to five minutes. */
  readonly historyMs?: number
  /** How much of the journal to keep. If omitted, the store has no journal. */
  readonly retention?: Retention | undefined
  readonly clock?: StoreClock
  /** Called when compaction or expiry fails. Both are retried. By default, the error becomes a process warning. */
  readonly onUpkeepError?: (error: Error) => void
  /** Called with problems that need attention while the store keeps working, such as a full disk. */
  readonly onWarning?: (message: string) => void
  /**
   * Called once when the store cannot write any more, because the disk rejected a write or a sync, or because the
   * thread has ended. Reads may still work. To find out what is stored, check the disk and reopen the store.
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
/**
 * Number of time marks per retention time. Changes are kept for longer than `historyMs` by up to this fraction of it.
 */
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

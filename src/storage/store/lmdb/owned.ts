/**
 * What owning a data directory takes: its claim, the thread that opens its file, and the work that only its owner does,
 * by the clock: forgetting history and deleting what is due. Beside one store (`store.ts`), or for those of several
 * threads (`hub.ts`).
 */
import { type Clock, systemClock } from '../../../base/time/clock.ts'
import type { Retention, StoreError } from '../store.ts'
import { claimDirectory } from './claim.ts'
import { Connection, type Listeners } from './connection.ts'
import { assertDataFileNotLost, checkDirectory, makeDirectory } from './directory.ts'
import type { History } from './history.ts'
import type { OpenReply } from './messages.ts'

/** `every` runs a function again and again, without keeping the process alive, until stopped. */
export interface StoreClock extends Clock {
  every(milliseconds: number, run: () => void): () => void
}

export interface OwnedOptions {
  readonly directory: string
  /** How long history is kept at least; five minutes if absent. */
  readonly historyMs?: number
  /** How long the journal is kept; there is none if absent. */
  readonly retention?: Retention | undefined
  readonly clock?: StoreClock
  /** Called when compaction or expiry fails; they are tried again. A warning of the process if absent. */
  readonly onUpkeepError?: (error: Error) => void
  /** Called with what its owner should take care of while the store works on: a disk that is full. */
  readonly onWarning?: (message: string) => void
  /**
   * Called once when nothing can be written any more: the disk refused a write or a sync, or the thread is gone. Reads
   * may go on. Only opening it again, after a look at the disk, shows what is there.
   */
  readonly onFailed?: (error: StoreError) => void
}

export interface Owned {
  readonly connection: Connection
  readonly state: OpenReply
  /** Ends the claim on the directory. */
  readonly release: () => void
}

export async function openOwned({ directory, onWarning }: OwnedOptions, listeners: Listeners): Promise<Owned> {
  await makeDirectory(directory)
  const release = await claimDirectory(directory)
  try {
    await assertDataFileNotLost(directory)
    const warning = await checkDirectory(directory)
    if (warning !== undefined) onWarning?.(warning)
    return { ...(await Connection.open(directory, listeners)), release }
  } catch (error) {
    release()
    throw error
  }
}

const defaultHistoryMs = 5 * 60 * 1000
/** History is kept for up to one part in this many longer than asked. */
const marksPerHistory = 20

/** Forgets what is too old from now on. Returns what ends that. */
export function keepHistory(
  history: History,
  clock: StoreClock,
  { historyMs = defaultHistoryMs }: OwnedOptions,
): () => void {
  const keep = () => history.keep(historyMs)
  keep()
  return clock.every(Math.max(10, historyMs / marksPerHistory), keep)
}

/** The clock of the machine. */
export const storeClock: StoreClock = {
  ...systemClock,
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds)
    timer.unref()
    return () => clearInterval(timer)
  },
}

/**
 * Renews the certificates of a running server before they expire. A periodic check renews the certificates that are
 * due. It installs every certificate that differs from the one in use, even if another process renewed it in the same
 * directory. If a check fails, `onError` receives the error, the current certificates remain in use, and the next check
 * tries again.
 */
import type { CertifiedKey } from './authority.ts'

/** A certificate to renew, and how to read and install it. */
export interface Renewed {
  /** The certificate and key that are installed now. */
  readonly current: CertifiedKey
  /** Returns the current certificate and key, renewed if due. */
  readonly read: () => Promise<CertifiedKey>
  /**
   * Installs a new pair. If the function throws an error, it is called again with the same pair at the next interval.
   */
  readonly use: (pair: CertifiedKey) => void | Promise<void>
}

export interface RenewalOptions {
  readonly pairs: readonly Renewed[]
  /** Called with the error of a failed check. Must not throw an error. */
  readonly onError: (error: unknown) => void
  /** Aborting this signal stops the renewal. */
  readonly signal: AbortSignal
  readonly everyMilliseconds?: number
  readonly schedule?: Schedule
}

/** A timer function: runs a callback after a delay, and returns a function that cancels it. */
export type Schedule = (run: () => Promise<void>, milliseconds: number) => () => void

type Look = () => Promise<void>

const hour = 60 * 60 * 1000

/**
 * Renews the certificates of a running server until the signal aborts. Returns a function that waits for a running
 * check. After the signal has aborted and the wait has ended, no more files are read or written.
 */
export function renewWhenDue(options: RenewalOptions): () => Promise<void> {
  const { pairs, signal, onError } = options
  const { everyMilliseconds = hour, schedule = scheduleUnreferenced } = options
  let looking = Promise.resolve()
  if (signal.aborted) return () => looking
  const looks = pairs.map(lookAt)
  let cancel = schedule(turn, everyMilliseconds)
  signal.addEventListener('abort', () => cancel(), { once: true })
  return () => looking

  function turn(): Promise<void> {
    looking = look()
    return looking
  }

  async function look(): Promise<void> {
    for (const lookAtPair of looks) if (!signal.aborted) await lookAtPair().catch(onError)
    if (!signal.aborted) cancel = schedule(turn, everyMilliseconds)
  }
}

function lookAt({ current, read, use }: Renewed): Look {
  let used = current
  return async () => {
    const currentPair = await read()
    if (currentPair.certificate === used.certificate && currentPair.key === used.key) return
    await use(currentPair)
    used = currentPair
  }
}

// Like `setTimeout`, but the timer does not keep the process alive.
function scheduleUnreferenced(run: () => Promise<void>, milliseconds: number): () => void {
  const timer = setTimeout(run, milliseconds).unref()
  return () => clearTimeout(timer)
}

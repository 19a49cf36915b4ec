/**
 * Keeps the certificates of a running server fresh: looks at them from time to time, lets the authority remake what is
 * due, and hands over what differs from what is in use, also when another process on the same directory made it. A
 * failed look goes to `onError` and is repeated at the next turn; what is in use stays in use.
 */
import type { CertifiedKey } from './authority.ts'

/** A pair that is to stay fresh. */
export interface Renewed {
  /** What is in use now. */
  readonly current: CertifiedKey
  /** Returns the pair as it should be, remade where it is due. */
  readonly read: () => Promise<CertifiedKey>
  /** Takes a new pair into use. Where it throws, the same pair is offered again at the next turn. */
  readonly use: (pair: CertifiedKey) => void | Promise<void>
}

export interface RenewalOptions {
  readonly pairs: readonly Renewed[]
  /** Must not throw. */
  readonly onError: (error: unknown) => void
  /** Ends the renewal. */
  readonly signal: AbortSignal
  readonly everyMilliseconds?: number
  readonly schedule?: Schedule
}

/** Runs something once, later, and returns how to call it off. */
export type Schedule = (run: () => Promise<void>, milliseconds: number) => () => void

type Look = () => Promise<void>

const hour = 60 * 60 * 1000

/**
 * Renews the certificates of a running server until the signal aborts. Gives what waits for a look that is under way: when
 * the signal has aborted, nothing is read or written after that.
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
    const found = await read()
    if (found.certificate === used.certificate && found.key === used.key) return
    await use(found)
    used = found
  }
}

// A timer that does not keep the process alive.
function scheduleUnreferenced(run: () => Promise<void>, milliseconds: number): () => void {
  const timer = setTimeout(run, milliseconds).unref()
  return () => clearTimeout(timer)
}

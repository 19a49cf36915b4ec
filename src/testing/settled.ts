/**
 * Waits until a server is idle, that is, until no data has been written for a while. The wait measures time and also
 * counts turns of the event loop, because time may pass without progress on a busy machine.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Store } from '../storage/store/store.ts'

const quietTurns = 50
const quietMs = 20
/** Timeout in milliseconds, in case a server is written to constantly. */
const maxMs = 10_000

/** Resolves when no data has been written for a while. Throws an error after ten seconds. */
export async function settled(store: Store): Promise<void> {
  const end = performance.now() + maxMs
  let before = await store.revision()
  while (performance.now() < end) {
    await delay(quietMs)
    for (let turn = 0; turn < quietTurns; turn++) await nextTurn()
    const now = await store.revision()
    if (now === before) return
    before = now
  }
  throw new Error(`the server did not settle within ${maxMs} ms: something keeps writing to it`)
}

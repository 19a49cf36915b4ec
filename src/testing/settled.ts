/**
 * Waits until a server is idle, which means that no data has been written for a while. The wait counts turns of the
 * event loop as well as time, because on a busy machine time passes without progress.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Store } from '../storage/store/store.ts'

const quietTurns = 50
const quietMs = 20
/** Timeout in milliseconds, for a server with constant writes. */
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

/** Polling for conditions without events. Fails after a timeout. */
import { setTimeout as pause } from 'node:timers/promises'

/** The pauses grow with the time waited, because polling costs more than a small delay. */
const pauseMs = { first: 20, most: 100, part: 5 }

/** Polls until the result matches and returns it. Fails with the last result after a timeout. */
export async function until<T>(
  ask: () => Promise<T>,
  predicate: (told: T) => boolean,
  patienceMs = 30_000,
): Promise<T> {
  const begun = performance.now()
  for (;;) {
    const told = await ask()
    if (predicate(told)) return told
    const waitedMs = performance.now() - begun
    if (waitedMs > patienceMs)
      throw new Error(`still ${String(JSON.stringify(told)).slice(0, 500)} after ${patienceMs} ms`)
    await pause(Math.min(Math.max(waitedMs / pauseMs.part, pauseMs.first), pauseMs.most))
  }
}

/** Polls until the condition is true. */
export async function untilTrue(holds: () => Promise<boolean>, patienceMs = 60_000): Promise<void> {
  await until(holds, (held) => held, patienceMs)
}

/** Polls in each turn of this process's event loop, for conditions that need turns but no time. */
export async function soon(holds: () => boolean, patienceMs = 20_000): Promise<void> {
  const end = performance.now() + patienceMs
  while (!holds()) {
    if (performance.now() > end) throw new Error(`it did not come to be within ${patienceMs} ms: ${holds}`)
    await new Promise(setImmediate)
  }
}

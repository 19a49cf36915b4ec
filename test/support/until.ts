/** Waiting for what no event tells: it is asked for again and again, and fails when it does not come about in time. */
import { setTimeout as pause } from 'node:timers/promises'

/** What has taken a while may take longer: to ask costs more than to learn of it a little later. */
const pauseMs = { first: 20, most: 100, part: 5 }

/** Asks until the answer is as wanted, and returns it; or fails with the last one after a while. */
export async function until<T>(ask: () => Promise<T>, wanted: (told: T) => boolean, patienceMs = 30_000): Promise<T> {
  const begun = performance.now()
  for (;;) {
    const told = await ask()
    if (wanted(told)) return told
    const waitedMs = performance.now() - begun
    if (waitedMs > patienceMs)
      throw new Error(`still ${String(JSON.stringify(told)).slice(0, 500)} after ${patienceMs} ms`)
    await pause(Math.min(Math.max(waitedMs / pauseMs.part, pauseMs.first), pauseMs.most))
  }
}

/** Asks until it holds. */
export async function untilTrue(holds: () => Promise<boolean>, patienceMs = 60_000): Promise<void> {
  await until(holds, (held) => held, patienceMs)
}

/** For what takes turns of this process's own event loop and no time: asks in each of them until it holds. */
export async function soon(holds: () => boolean, patienceMs = 20_000): Promise<void> {
  const end = performance.now() + patienceMs
  while (!holds()) {
    if (performance.now() > end) throw new Error(`it did not come to be within ${patienceMs} ms: ${holds}`)
    await new Promise(setImmediate)
  }
}

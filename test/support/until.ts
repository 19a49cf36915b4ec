/** Polls for conditions that no event reports. Fails after a timeout. */
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Pauses between polls in milliseconds. They grow with the waiting time, because polling costs more than a short delay
 * does.
 */
const pauseMs = { first: 20, most: 100, part: 5 }

/** Default timeout in milliseconds. A test that waits for a program may need this long on a busy machine. */
const patienceMs = 60_000

/** Polls until the result matches, and returns the result. Fails with the last result after a timeout. */
export async function until<T>(
  ask: () => Promise<T>,
  predicate: (result: T) => boolean,
  timeoutMs = patienceMs,
): Promise<T> {
  const begun = performance.now()
  for (;;) {
    const result = await ask()
    if (predicate(result)) return result
    const waitedMs = performance.now() - begun
    if (waitedMs > timeoutMs)
      throw new Error(`still ${String(JSON.stringify(result)).slice(0, 500)} after ${timeoutMs} ms`)
    await pause(Math.min(Math.max(waitedMs / pauseMs.part, pauseMs.first), pauseMs.most))
  }
}

/** Polls until the condition is true. */
export async function untilTrue(holds: () => Promise<boolean>, timeoutMs = patienceMs): Promise<void> {
  await until(holds, (held) => held, timeoutMs)
}

/** Number of turns of the event loop in which `soon` polls before it starts to pause between polls. */
const eagerTurns = 200
/** The timer of Node.js, even in tests that replace the global one. */
const { setTimeout: startTimer } = globalThis

/**
 * Polls in each turn of this process's event loop, for conditions that depend on turns rather than on time. After many
 * turns, the condition probably depends on another process or on time. The function then pauses between polls, so that
 * the other process can use the core.
 */
export async function soon(holds: () => boolean, timeoutMs = patienceMs): Promise<void> {
  const end = performance.now() + timeoutMs
  for (let turn = 0; !holds(); turn++) {
    if (performance.now() > end) throw new Error(`it did not come to be within ${timeoutMs} ms: ${holds}`)
    await new Promise((resolve) => (turn < eagerTurns ? setImmediate(resolve) : startTimer(resolve, 1)))
  }
}

/**
 * For how long something holds the event loop of this process at a stretch, counted in processor time of its thread:
 * other programs, however many, do not count.
 */
import { setImmediate } from 'node:timers/promises'

/** Runs something; gives what it gives, and the most milliseconds of work between two turns of the loop. */
export async function longestStretch<T>(run: () => Promise<T>): Promise<{ result: T; stretch: number }> {
  let running = true
  let stretch = 0
  const watching = (async () => {
    for (let before = worked(); running; ) {
      await setImmediate()
      const now = worked()
      stretch = Math.max(stretch, now - before)
      before = now
    }
  })()
  try {
    const result = await run()
    // The work that came last is counted when the loop has turned once more.
    await setImmediate()
    return { result, stretch }
  } finally {
    running = false
    await watching
  }
}

function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

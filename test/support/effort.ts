/**
 * Measures cost in CPU time, which excludes other programs. However, if the machine is suspended for a moment, that
 * time counts as CPU time, and garbage collection happens at random moments. A measurement above the limit is therefore
 * repeated a few times, and fails only if all measurements are above the limit.
 */
import assert from 'node:assert/strict'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'

const tries = 6
/**
 * Pause after the first attempt in milliseconds. The pause doubles after each attempt, because a disturbance may last
 * for a while.
 */
const restMs = 1000

/**
 * Repeats a measurement until a result is below the limit, and returns that result. Fails if no result is below the
 * limit.
 */
export async function assertBelow(
  bound: number,
  unit: string,
  measure: () => number | Promise<number>,
): Promise<number> {
  const stretches: number[] = []
  for (;;) {
    const value = await measure()
    if (value < bound) return value
    stretches.push(Math.round(value))
    assert.ok(stretches.length < tries, `${stretches.join(', ')} ${unit}, never below ${bound}`)
    await pause(restMs * 2 ** (stretches.length - 1))
  }
}

/** Fails if the work repeatedly costs more than this many milliseconds. */
export async function assertCheap(maxMs: number, work: () => unknown): Promise<void> {
  await assertBelow(maxMs, 'ms of processor time', () => cpuMs(work))
}

/** Fails if the work repeatedly blocks the event loop for longer than the limit. Returns the result of the work. */
export async function assertBrief<T>(maxMs: number, run: () => Promise<T>): Promise<{ result: T; stretch: number }> {
  let result: T
  const stretch = await assertBelow(maxMs, 'ms at a stretch', async () => {
    const measured = await measureLongestStretch(run)
    result = measured.result
    return measured.stretch
  })
  return { result: result!, stretch }
}

export function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Returns the result of the work and the longest CPU time between two turns of the event loop. */
async function measureLongestStretch<T>(run: () => Promise<T>): Promise<{ result: T; stretch: number }> {
  let running = true
  let stretch = 0
  const watching = (async () => {
    for (let before = threadCpuMs(); running; ) {
      await setImmediate()
      const now = threadCpuMs()
      stretch = Math.max(stretch, now - before)
      before = now
    }
  })()
  try {
    const result = await run()
    // Wait for one more iteration of the event loop, so that the measurement includes the last piece of work.
    await setImmediate()
    return { result, stretch }
  } finally {
    running = false
    await watching
  }
}

/** Returns the CPU time of this thread in milliseconds. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

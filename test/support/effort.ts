/**
 * What something costs, in processor time: other programs of this machine do not count. A machine that was itself taken
 * away for a moment counts that as work of whoever ran, and rubbish is collected at whose turn it happens to be. So what
 * is over its bound is measured anew, a few times: only what is over it each time is too dear.
 */
import assert from 'node:assert/strict'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'

const tries = 6
/** After the first try, and twice as long after each other one: what disturbed one may disturb the next. */
const restMs = 1000

/** Measures until the outcome is below the bound, and fails if it never is. Gives the last one. */
export async function assertBelow(
  bound: number,
  unit: string,
  measure: () => number | Promise<number>,
): Promise<number> {
  const found: number[] = []
  for (;;) {
    const value = await measure()
    if (value < bound) return value
    found.push(Math.round(value))
    assert.ok(found.length < tries, `${found.join(', ')} ${unit}, never below ${bound}`)
    await pause(restMs * 2 ** (found.length - 1))
  }
}

/** Fails if it costs more milliseconds than these each time. */
export async function assertCheap(mostMs: number, work: () => unknown): Promise<void> {
  await assertBelow(mostMs, 'ms of processor time', () => cpuMs(work))
}

/** Fails if it holds the event loop of this process at a stretch for longer than this each time; gives its outcome. */
export async function assertBrief<T>(mostMs: number, run: () => Promise<T>): Promise<{ result: T; stretch: number }> {
  let result: T
  const stretch = await assertBelow(mostMs, 'ms at a stretch', async () => {
    const measured = await longestStretch(run)
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

/** Runs something; gives what it gives, and the most milliseconds of work between two turns of the loop. */
async function longestStretch<T>(run: () => Promise<T>): Promise<{ result: T; stretch: number }> {
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

/** Of this thread alone. */
function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

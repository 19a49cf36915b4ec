/** Tests long tasks that run in time slices: turns of the event loop stay short, and all tasks make progress. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginStart, roomInTurn, TimeSlice } from '../../src/base/concurrency/time-slice.ts'
import { assertBrief } from '../support/effort.ts'

function* work(ms: number): Generator<void, number> {
  let steps = 0
  for (let done = 0; done < ms; steps++) {
    const began = performance.now()
    while (performance.now() - began < 0.1);
    done += 0.1
    yield
  }
  return steps
}

test('many long tasks block the event loop for no longer than one long task', async () => {
  const pieces = () => Array.from({ length: 40 }, () => new TimeSlice().run(work(20)))
  const { result } = await assertBrief(25, () => Promise.all(pieces()))
  assert.ok(result.every((steps) => steps >= 200))
})

test('concurrent long tasks all make progress', async () => {
  const ended: string[] = []
  const long = new TimeSlice().run(work(200)).then(() => ended.push('long'))
  const short = new TimeSlice().run(work(20)).then(() => ended.push('short'))
  await Promise.all([long, short])
  assert.deepEqual(ended, ['short', 'long'])
})

test('a short task does not yield', () => {
  const timeSlice = new TimeSlice()
  assert.equal(timeSlice.yieldIfDue(), undefined)
  assert.equal(timeSlice.charge(1_000_000), false)
})

test('a loop of small steps yields when its accumulated time reaches the limit', async () => {
  const { result: rests } = await assertBrief(25, async () => {
    const timeSlice = new TimeSlice()
    let count = 0
    for (let done = 0; done < 2000; done++) {
      const began = performance.now()
      while (performance.now() - began < 0.1);
      if (!timeSlice.charge(100)) continue
      const rest = timeSlice.yieldIfDue()
      if (rest !== undefined) count++
      await rest
    }
    return count
  })
  assert.ok(rests >= 10, `${rests} rests in 200 ms of work`)
})

function spin(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('many short consecutive tasks share the time budget of an event-loop turn', async () => {
  const piece = async (left: number): Promise<void> => {
    await roomInTurn()
    spin(0.2)
    if (left > 1) await piece(left - 1)
  }
  await assertBrief(25, () => Promise.all(Array.from({ length: 40 }, () => piece(20))))
})

test('suspended tasks resume in order even if other work uses the whole budget of every turn', async () => {
  let isBusy = true
  const holdTurn = () => {
    const timeSlice = new TimeSlice()
    spin(0.5)
    assert.equal(timeSlice.yieldIfDue(), undefined, 'this is the first work of the turn')
    spin(3)
    if (isBusy) setImmediate(holdTurn)
  }
  setImmediate(holdTurn)
  await new Promise(setImmediate)
  const ended: number[] = []
  const piece = async (i: number) => {
    await roomInTurn()
    ended.push(i)
  }
  const long = new TimeSlice().run(work(5))
  await Promise.all([long, ...Array.from({ length: 5 }, (_, i) => piece(i))])
  isBusy = false
  assert.deepEqual(ended, [0, 1, 2, 3, 4])
})

test('a suspended short task resumes before tasks that have already run for a long time', async () => {
  let pieces = 0
  const long = Array.from({ length: 20 }, async () => {
    const timeSlice = new TimeSlice()
    spin(5)
    for (let i = 0; i < 5; i++) {
      useUpTurn()
      await timeSlice.yieldIfDue()
      pieces++
    }
  })
  const timeSlice = new TimeSlice()
  for (let rests = 0; rests < 3; rests++) {
    useUpTurn()
    timeSlice.begin()
    spin(0.3)
    const rest = timeSlice.yieldIfDue()
    assert.notEqual(rest, undefined)
    await rest
  }
  const meanwhile = pieces
  await Promise.all(long)
  assert.ok(meanwhile <= 10, `a short task waited for ${meanwhile} pieces of long tasks`)
})

/** Uses up the time budget of this turn of the event loop. */
function useUpTurn(): void {
  const timeSlice = new TimeSlice()
  spin(0.3)
  timeSlice.charge(1_000_000)
  spin(2)
}

test('tasks yield less often while a server starts, and yield as usual after the last server has started', async () => {
  const attempt = async (): Promise<boolean> => {
    await new Promise(setImmediate)
    const began = performance.now()
    useUpTurn()
    const timeSlice = new TimeSlice()
    spin(2)
    const starts = [beginStart(), beginStart()]
    starts.pop()![Symbol.dispose]()
    const restsMeanwhile = timeSlice.yieldIfDue() !== undefined
    const took = performance.now() - began
    starts.pop()![Symbol.dispose]()
    // The result is meaningless if the machine was so busy that the measured code took longer than one turn.
    if (took > 20) return false
    assert.equal(restsMeanwhile, false)
    spin(1)
    assert.notEqual(timeSlice.yieldIfDue(), undefined)
    return true
  }
  for (let left = 50; !(await attempt()); left--) assert.ok(left > 0, 'the machine is too busy')
})

/** Tests the clock of test servers: it runs, can be advanced, and fires each due timer once and in order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repeat } from '../../src/base/time/clock.ts'
import { TestClock } from '../../src/testing/test-clock.ts'

test('the test clock starts at the given time, runs and can be advanced', () => {
  const clock = new TestClock('2030-01-01T00:00:00Z')
  const start = Date.parse('2030-01-01T00:00:00Z')
  assert.ok(clock.now() >= start && clock.now() < start + 60_000)
  const before = clock.monotonic()
  clock.advance('1h30m')
  assert.ok(clock.now() >= start + 5_400_000)
  assert.ok(clock.monotonic() >= before + 5_400_000)
})

test('timers that are due fire once and in order, and other timers wait', () => {
  const clock = new TestClock()
  const called: string[] = []
  clock.after(3_000, () => called.push('later'))
  clock.after(1_000, () => called.push('sooner'))
  clock.after(3_600_000, () => called.push('not yet'))
  const cancel = clock.after(2_000, () => called.push('cancelled'))
  cancel()
  clock.advance(10_000)
  assert.deepEqual(called, ['sooner', 'later'])
  clock.advance(3_600_000)
  assert.deepEqual(called, ['sooner', 'later', 'not yet'])
})

test('a timer callback may cancel the next timer and start another one', () => {
  const clock = new TestClock()
  const called: string[] = []
  const end = repeat(clock, 1_000, () => called.push('tick'))
  clock.advance(60_000)
  assert.deepEqual(called, ['tick'], 'a jump over sixty is one')
  clock.after(1, () => cancel())
  const cancel = clock.after(2, () => called.push('cancelled'))
  end()
  clock.advance(60_000)
  assert.deepEqual(called, ['tick'])
})

test('timers of the test clock fire as real time passes', async () => {
  const clock = new TestClock()
  clock.advance(1000)
  const alive = setTimeout(() => {}, 60_000)
  await new Promise<void>((resolve) => clock.after(5, resolve))
  clearTimeout(alive)
})

test('invalid times and durations are rejected', () => {
  assert.throws(() => new TestClock('tomorrow'), /"tomorrow" is not a time/)
  for (const by of [-1, Number.NaN, 'soon'])
    assert.throws(() => new TestClock().advance(by), /is not a duration: use milliseconds, or text such as 90s/)
})

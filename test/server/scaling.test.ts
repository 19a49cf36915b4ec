/**
 * Tests the decisions of `--workers=auto`: when workers are added or retired, and when clients are moved between
 * workers.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Scaling, type ScalingAction } from '../../src/server/workers/scaling.ts'

const thresholds = { maxWorkers: 3, busyTicks: 3, restTicks: 4, moveTicks: 2 }

/** Returns the action taken after each tick for the given loads. */
function actions(scaling: Scaling, ticks: readonly (readonly number[])[]): (ScalingAction | undefined)[] {
  return ticks.map((loads) => scaling.decide(loads))
}

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value)
}

test('a worker is added after the configured number of consecutive busy intervals', () => {
  const scaling = new Scaling(thresholds)
  const ticks = [[0.9], [0.9], [0.5], [0.9], [0.9], [0.9]]
  assert.deepEqual(actions(scaling, ticks), [...times(5, undefined), { type: 'add' }])
  // Counting of busy ticks starts over after a worker has been added.
  assert.deepEqual(actions(scaling, times(3, [0.9, 0.9])), [...times(2, undefined), { type: 'add' }])
})

test('no worker is added if the maximum is reached or if only one of several workers is busy', () => {
  const scaling = new Scaling({ ...thresholds, moveTicks: 100 })
  assert.deepEqual(actions(scaling, times(10, [0.9, 0.9, 0.9])), times(10, undefined))
  assert.deepEqual(actions(scaling, times(10, [1, 0.1])), times(10, undefined))
})

test('a worker is retired only after the other workers have had enough spare capacity for long enough', () => {
  const scaling = new Scaling(thresholds)
  assert.deepEqual(actions(scaling, times(10, [0.2, 0.2])), times(10, undefined))
  const ticks = [...times(3, [0.1, 0.1]), [0.5, 0.1], ...times(4, [0.1, 0.1])]
  assert.deepEqual(actions(scaling, ticks), [...times(7, undefined), { type: 'retire' }])
  assert.deepEqual(actions(scaling, times(10, [0])), times(10, undefined))
})

test('a busy worker hands over the share of its clients by which its load exceeds the average', () => {
  const scaling = new Scaling(thresholds)
  const move = { type: 'move', from: 1, chance: 0.5 }
  assert.deepEqual(actions(scaling, times(2, [0.1, 0.9, 0.35])), [undefined, move])
})

test('the interval between moves of clients grows as long as the moves do not reduce the load', () => {
  const scaling = new Scaling(thresholds)
  const ticks = (count: number) =>
    actions(scaling, times(count, [1, 0])).filter((action) => action !== undefined).length
  assert.deepEqual([ticks(2), ticks(3), ticks(1), ticks(7), ticks(1)], [1, 0, 1, 0, 1])
  assert.equal(scaling.decide([0.5, 0.5]), undefined)
  assert.equal(ticks(2), 1)
})

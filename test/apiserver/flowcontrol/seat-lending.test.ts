/** Tests seat lending between priority levels: the demand of a level, and the distribution of the seats. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeatDemand } from '../../../src/apiserver/flowcontrol/seat-demand.ts'
import { distributeSeats, seatBounds } from '../../../src/apiserver/flowcontrol/seat-lending.ts'
import { SeatPool } from '../../../src/apiserver/flowcontrol/seat-pool.ts'
import { TickBudget } from '../../../src/apiserver/flowcontrol/tick-budget.ts'
import { serve } from '../../support/in-process.ts'

const allSeats = 100
const halves = { lendablePercent: 50, borrowingLimitPercent: undefined }

interface LevelRow {
  readonly nominal: number
  readonly high: number
  readonly lendablePercent?: number
  readonly borrowingLimitPercent?: number | undefined
  readonly isExempt?: boolean
}

const idle = { nominal: 50, high: 0 }
const busy = { nominal: 50, high: 200 }

const rows: readonly (readonly [string, readonly LevelRow[], readonly number[]])[] = [
  ['a busy level borrows what an idle one lends', [busy, idle], [75, 25]],
  ['two busy levels keep their nominal seats', [busy, busy], [50, 50]],
  ['a level lends nothing at 0 percent', [busy, { ...idle, lendablePercent: 0 }], [50, 50]],
  ['a level lends everything at 100 percent', [busy, { ...idle, lendablePercent: 100 }], [100, 0]],
  ['a level borrows up to its limit', [{ ...busy, borrowingLimitPercent: 20 }, idle], [60, 40]],
  ['a level without permission to borrow keeps its seats', [{ ...busy, borrowingLimitPercent: 0 }, idle], [50, 50]],
  ['a level gets back what it needs at once', [busy, { ...idle, high: 40 }], [60, 40]],
  [
    'an exempt level gets more than its nominal seats',
    [
      { ...busy, high: 30 },
      { ...busy, high: 60, isExempt: true },
    ],
    [33, 67],
  ],
]
for (const [name, levels, expected] of rows)
  test(name, () => {
    const { seats } = distributeSeats(
      allSeats,
      levels.map(({ nominal, high, isExempt = false, ...lending }) => ({
        bounds: seatBounds(nominal, { ...halves, ...lending }, allSeats),
        demand: { high, average: high, deviation: 0, smoothed: high },
        isExempt,
      })),
    )
    assert.deepEqual(seats, expected)
  })

test('the demand of a priority level is weighted by time, and the smoothed demand falls slowly', () => {
  let now = 0
  const demand = new SeatDemand({ now: () => now, monotonic: () => now })
  demand.add(10)
  now += 5000
  demand.add(-10)
  now += 5000
  assert.deepEqual(demand.endPeriod(), { high: 10, average: 5, deviation: 5, smoothed: 10 })
  now += 10_000
  const { high, average, smoothed } = demand.endPeriod()
  assert.deepEqual([high, average], [0, 0])
  assert.ok(smoothed > 9.7 && smoothed < 9.8, String(smoothed))
})

test('the demand of a pool counts running and waiting requests', () => {
  const demand = new SeatDemand({ now: () => 0, monotonic: () => 0 })
  const queuing = { queues: 1, handSize: 1, queueLengthLimit: 10 }
  const pool = new SeatPool({ seats: 1, queuing }, new TickBudget(), demand)
  assert.ok(pool.take({ seats: 1, work: 1 }))
  const queue = pool.queueFor(1n)
  assert.ok(typeof queue === 'object')
  let begun = false
  const waiter = { seats: 2, work: 1, queue, begin: () => (begun = true) }
  pool.join(waiter)
  assert.deepEqual([demand.seats, begun], [3, false])
  pool.release(1)
  assert.deepEqual([demand.seats, begun], [2, true])
  pool.release(2, queue)
  assert.equal(demand.seats, 0)
})

test('a priority level that has lent all its seats still runs one request at a time', () => {
  const pool = new SeatPool({ seats: 0, queuing: undefined }, new TickBudget())
  assert.equal(pool.maxRequestSeats, 1)
  assert.ok(pool.take({ seats: 1, work: 1 }))
  assert.ok(!pool.take({ seats: 1, work: 1 }))
})

test('since Kubernetes 1.26, metrics show the seat limits of the priority levels', async (t) => {
  const [newer, older] = await Promise.all(
    ['1.34', '1.25'].map(async (version) => {
      const server = await serve(t, ['--profile=kubernetes', `--emulated-version=${version}`])
      return (await server.client().get('/metrics')).text
    }),
  )
  const seats = (bound: string) =>
    Number(
      new RegExp(`^apiserver_flowcontrol_${bound}_seats\\{priority_level="workload-low"\\} (\\d+)$`, 'm').exec(
        newer!,
      )?.[1],
    )
  // The pool has 600 seats and 245 shares. The level has 100 of the shares and lends up to 90% of its seats.
  assert.deepEqual(['nominal_limit', 'lower_limit', 'upper_limit', 'current_limit'].map(seats), [245, 24, 845, 245])
  assert.doesNotMatch(older!, /apiserver_flowcontrol_nominal_limit_seats\{/)
})

/** Tests the seat pool without a server: immediate assignment, waiting, order and rejection. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FairQueue, SeatPool, type Waiter } from '../../../src/apiserver/flowcontrol/seat-pool.ts'
import { dealHand, hashFlow } from '../../../src/apiserver/flowcontrol/shuffle-shard.ts'
import { TickBudget } from '../../../src/apiserver/flowcontrol/tick-budget.ts'

const queuing = { queues: 64, handSize: 1, queueLengthLimit: 1000 }

/** Returns a request without work, so that any number of requests can start in a single tick. */
const seats = (count: number) => ({ seats: count, work: 0 })

/** Simulates the requests of several flows. Each request runs for its own duration. */
class World {
  readonly pool: SeatPool
  /** The flow of each request that has started after waiting, in the order in which the requests started. */
  readonly begun: string[] = []
  readonly #running: { flow: string; seats: number; queue: FairQueue; ms: number }[] = []

  constructor(seats: number, over: Partial<typeof queuing> = {}) {
    this.pool = new SeatPool({ seats, queuing: { ...queuing, ...over } }, new TickBudget())
  }

  /** Joins a queue. Returns the rejection or the request. */
  wait(flow: string, { seats = 1, ms = 10, work = 0 } = {}): Waiter | string {
    const queue = this.pool.queueFor(BigInt(`0x${Buffer.from(flow).toString('hex')}`))
    if (typeof queue === 'string') return queue
    const begin = () => {
      this.begun.push(flow)
      this.#running.push({ flow, seats, queue, ms })
    }
    const waiter = { seats, work, queue, begin }
    this.pool.join(waiter)
    return waiter
  }

  /** Ends the request that has run longest. */
  endOne(): void {
    const { seats, queue, ms } = this.#running.shift()!
    this.pool.release(seats, queue, ms)
  }

  count(flow: string): number {
    return this.begun.filter((each) => each === flow).length
  }
}

test('free seats are assigned immediately, but requests that are already waiting come first', () => {
  const world = new World(3)
  assert.deepEqual(
    [world.pool.take(seats(2)), world.pool.take(seats(2)), world.pool.take(seats(1))],
    [true, false, true],
  )
  world.wait('a', { seats: 2 })
  world.pool.release(1)
  assert.deepEqual([world.begun, world.pool.take(seats(1))], [[], false])
  world.pool.release(2)
  assert.deepEqual([world.begun, world.pool.inUse, world.pool.take(seats(1))], [['a'], 2, true])
})

test('a request that needs more seats than exist gets all of them', () => {
  const { pool } = new World(2)
  assert.equal(pool.take(seats(10)), true)
  assert.equal(pool.take(seats(1)), false)
  pool.release(10)
  assert.equal(pool.inUse, 0)
})

test('a flow with many requests does not reduce the share of other flows', () => {
  const world = new World(4)
  for (let i = 0; i < 4; i++) world.pool.take(seats(1))
  for (let i = 0; i < 500; i++) world.wait('flood')
  for (let i = 0; i < 50; i++) world.wait('quiet')
  for (let i = 0; i < 4; i++) world.pool.release(1)
  for (let i = 0; i < 96; i++) world.endOne()
  assert.equal(world.begun.length, 100)
  assert.ok(Math.abs(world.count('quiet') - 50) <= 4, `${world.count('quiet')} of 100 were of the quiet flow`)
})

test('a flow with long requests executes fewer requests, because shares are measured in time', () => {
  const world = new World(1)
  world.pool.take(seats(1))
  for (let i = 0; i < 300; i++) {
    world.wait('long', { ms: 90 })
    world.wait('short', { ms: 10 })
  }
  world.pool.release(1)
  for (let i = 0; i < 99; i++) world.endOne()
  assert.ok(Math.abs(world.count('long') - 10) <= 2, `${world.count('long')} of 100 were long`)
})

test('an idle flow does not accumulate credit for later requests', () => {
  const world = new World(1)
  world.pool.take(seats(1))
  for (let i = 0; i < 100; i++) world.wait('busy')
  world.pool.release(1)
  for (let i = 0; i < 50; i++) world.endOne()
  for (let i = 0; i < 50; i++) world.wait('late')
  const before = world.begun.length
  for (let i = 0; i < 20; i++) world.endOne()
  const share = world.begun.slice(before).filter((flow) => flow === 'late').length
  assert.ok(Math.abs(share - 10) <= 1, `${share} of 20`)
})

test('a flow control queue is bounded, and a priority level without queues rejects excess requests immediately', () => {
  const world = new World(1, { queueLengthLimit: 2 })
  world.pool.take(seats(1))
  assert.deepEqual(
    [1, 2, 3].map(() => typeof world.wait('a') === 'string'),
    [false, false, true],
  )
  assert.equal(world.wait('a'), 'queue-full')
  const strict = new SeatPool({ seats: 1, queuing: undefined }, new TickBudget())
  assert.deepEqual(
    [strict.take(seats(1)), strict.take(seats(1)), strict.queueFor(1n)],
    [true, false, 'concurrency-limit'],
  )
})

test('a request that leaves the flow control queue makes room for later requests', () => {
  const world = new World(2)
  world.pool.take(seats(1))
  const wide = world.wait('wide', { seats: 2 }) as Waiter
  world.wait('wide')
  assert.deepEqual(world.begun, [])
  assert.deepEqual([world.pool.leave(wide), world.pool.leave(wide)], [true, false])
  assert.deepEqual([world.begun, world.pool.waiting], [['wide'], 0])
})

test('waiting requests get additional seats immediately', () => {
  const world = new World(1)
  world.pool.take(seats(1))
  for (let i = 0; i < 5; i++) world.wait('a')
  world.pool.configure({ seats: 4, queuing })
  assert.deepEqual([world.begun.length, world.pool.inUse], [3, 4])
})

test('shuffle sharding assigns queues evenly and without duplicates', () => {
  const used = new Array<number>(16).fill(0)
  for (let i = 0; i < 2000; i++) {
    const hand = dealHand(hashFlow('schema', `user-${i}`), 16, 4)
    assert.deepEqual([hand.length, new Set(hand).size, hand.every((card) => card >= 0 && card < 16)], [4, 4, true])
    for (const card of hand) used[card]!++
  }
  assert.ok(Math.min(...used) > 400 && Math.max(...used) < 600, used.join(' '))
  assert.deepEqual(dealHand(hashFlow('a', 'b'), 3, 8).toSorted(), [0, 1, 2])
})

/** The work budget of one event-loop tick, measured in reads of a single object. */
const workPerTurn = 32

test('each event-loop tick starts only a limited amount of work, and the next tick continues in fair order', async () => {
  const world = new World(1000)
  const one = { seats: 1, work: 1 }
  for (let i = 0; i < workPerTurn; i++) assert.equal(world.pool.take(one), true)
  assert.equal(world.pool.take(one), false)
  for (let i = 0; i < 101; i++) world.wait('noisy', { work: 1 })
  assert.deepEqual(world.begun, ['noisy'], 'the first has its queue to itself')
  for (const round of [1, 2, 3]) {
    await nextTurn()
    assert.equal(world.begun.length, 1 + round * workPerTurn)
  }
  await nextTurn()
  assert.equal(world.begun.length, 101)
})

test('the first request of a quiet user does not wait for a noisy user, and their later requests alternate', async () => {
  const world = new World(1000)
  while (world.pool.take({ seats: 1, work: 1 }));
  for (let i = 0; i < 100; i++) world.wait('noisy', { work: 1 })
  await nextTurn()
  const before = world.begun.length
  for (let i = 0; i < 3; i++) world.wait('quiet', { work: 1 })
  assert.deepEqual(world.begun.slice(before), ['quiet'])
  await nextTurn()
  assert.deepEqual(world.count('quiet'), 3)
  assert.equal(world.begun.length, before + 1 + workPerTurn)
})

test('priority levels take turns, and a request that exceeds the budget of an event-loop tick still starts', async () => {
  const turns = new TickBudget()
  const begun: string[] = []
  const pools = ['a', 'b'].map((name) => ({ name, pool: new SeatPool({ seats: 1000, queuing }, turns) }))
  assert.equal(pools[0]!.pool.take({ seats: 1, work: 1000 }), true)
  for (const { name, pool } of pools)
    for (let i = 0; i < 51; i++) {
      const queue = pool.queueFor(1n) as FairQueue
      pool.join({ seats: 1, work: 1, queue, begin: () => begun.push(name) })
    }
  assert.deepEqual(begun, ['a', 'b'])
  await nextTurn()
  const counts = ['a', 'b'].map((name) => begun.filter((each) => each === name).length)
  assert.deepEqual(counts, [1 + workPerTurn / 2, 1 + workPerTurn / 2])
})

test('requests that only wait for the next event-loop tick do not count toward the queue limits', () => {
  const world = new World(200, { queueLengthLimit: 10 })
  const one = { seats: 1, work: 1 }
  while (world.pool.take(one));
  const outcomes = Array.from({ length: 200 }, () => typeof world.wait('a', { work: 1 }))
  assert.equal(outcomes.filter((each) => each === 'object').length, 200 - workPerTurn + 10)
  assert.equal(outcomes.at(-1), 'string')
  const strict = new SeatPool({ seats: 100, queuing: undefined }, new TickBudget())
  for (let i = 0; i < 100; i++) assert.equal(strict.take(one), true)
  assert.equal(strict.take(one), false)
})

/** Resolves after the work of the next event-loop tick has started. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

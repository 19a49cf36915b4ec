/** The seats of a level without a server: what is taken at once, who waits, who is next, who is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FairQueue, SeatPool, type Waiter } from '../../src/flowcontrol/seat-pool.ts'
import { dealHand, hashFlow } from '../../src/flowcontrol/shuffle-shard.ts'

const queuing = { queues: 64, handSize: 1, queueLengthLimit: 1000 }

/** Requests of flows, carried out one after the other: each takes as long as it says. */
class World {
  readonly pool: SeatPool
  /** The flows whose requests have begun to be carried out after a wait, in that order. */
  readonly begun: string[] = []
  readonly #running: { flow: string; seats: number; queue: FairQueue; ms: number }[] = []

  constructor(seats: number, over: Partial<typeof queuing> = {}) {
    this.pool = new SeatPool({ seats, queuing: { ...queuing, ...over } })
  }

  /** Joins a queue; returns the refusal, or the request. */
  wait(flow: string, { seats = 1, ms = 10 } = {}): Waiter | string {
    const queue = this.pool.queueFor(BigInt(`0x${Buffer.from(flow).toString('hex')}`))
    if (typeof queue === 'string') return queue
    const begin = () => {
      this.begun.push(flow)
      this.#running.push({ flow, seats, queue, ms })
    }
    const waiter = { seats, queue, begin }
    this.pool.join(waiter)
    return waiter
  }

  /** Ends the request that has been carried out for longest. */
  endOne(): void {
    const { seats, queue, ms } = this.#running.shift()!
    this.pool.release(seats, queue, ms)
  }

  count(flow: string): number {
    return this.begun.filter((each) => each === flow).length
  }
}

test('free seats are taken at once, and not past those who wait', () => {
  const world = new World(3)
  assert.deepEqual([world.pool.take(2), world.pool.take(2), world.pool.take(1)], [true, false, true])
  world.wait('a', { seats: 2 })
  world.pool.release(1)
  assert.deepEqual([world.begun, world.pool.take(1)], [[], false])
  world.pool.release(2)
  assert.deepEqual([world.begun, world.pool.inUse, world.pool.take(1)], [['a'], 2, true])
})

test('a request that needs more seats than there are has them all', () => {
  const { pool } = new World(2)
  assert.equal(pool.take(10), true)
  assert.equal(pool.take(1), false)
  pool.release(10)
  assert.equal(pool.inUse, 0)
})

test('a flow that floods leaves another its share', () => {
  const world = new World(4)
  for (let i = 0; i < 4; i++) world.pool.take(1)
  for (let i = 0; i < 500; i++) world.wait('flood')
  for (let i = 0; i < 50; i++) world.wait('quiet')
  for (let i = 0; i < 4; i++) world.pool.release(1)
  for (let i = 0; i < 96; i++) world.endOne()
  assert.equal(world.begun.length, 100)
  assert.ok(Math.abs(world.count('quiet') - 50) <= 4, `${world.count('quiet')} of 100 were of the quiet flow`)
})

test('a flow of long requests gets fewer of them: shares are of time, not of requests', () => {
  const world = new World(1)
  world.pool.take(1)
  for (let i = 0; i < 300; i++) {
    world.wait('long', { ms: 90 })
    world.wait('short', { ms: 10 })
  }
  world.pool.release(1)
  for (let i = 0; i < 99; i++) world.endOne()
  assert.ok(Math.abs(world.count('long') - 10) <= 2, `${world.count('long')} of 100 were long`)
})

test('nobody saves up turns while away', () => {
  const world = new World(1)
  world.pool.take(1)
  for (let i = 0; i < 100; i++) world.wait('busy')
  world.pool.release(1)
  for (let i = 0; i < 50; i++) world.endOne()
  for (let i = 0; i < 50; i++) world.wait('late')
  const before = world.begun.length
  for (let i = 0; i < 20; i++) world.endOne()
  const share = world.begun.slice(before).filter((flow) => flow === 'late').length
  assert.ok(Math.abs(share - 10) <= 1, `${share} of 20`)
})

test('a queue is bounded, and a level without queues refuses at once', () => {
  const world = new World(1, { queueLengthLimit: 2 })
  world.pool.take(1)
  assert.deepEqual(
    [1, 2, 3].map(() => typeof world.wait('a') === 'string'),
    [false, false, true],
  )
  assert.equal(world.wait('a'), 'queue-full')
  const strict = new SeatPool({ seats: 1, queuing: undefined })
  assert.deepEqual([strict.take(1), strict.take(1), strict.queueFor(1n)], [true, false, 'concurrency-limit'])
})

test('one that leaves makes room for those behind it', () => {
  const world = new World(2)
  world.pool.take(1)
  const wide = world.wait('wide', { seats: 2 }) as Waiter
  world.wait('wide')
  assert.deepEqual(world.begun, [])
  assert.deepEqual([world.pool.leave(wide), world.pool.leave(wide)], [true, false])
  assert.deepEqual([world.begun, world.pool.waiting], [['wide'], 0])
})

test('more seats are given out at once', () => {
  const world = new World(1)
  world.pool.take(1)
  for (let i = 0; i < 5; i++) world.wait('a')
  world.pool.configure({ seats: 4, queuing })
  assert.deepEqual([world.begun.length, world.pool.inUse], [3, 4])
})

test('hands are drawn fairly, without a card twice', () => {
  const used = new Array<number>(16).fill(0)
  for (let i = 0; i < 2000; i++) {
    const hand = dealHand(hashFlow('schema', `user-${i}`), 16, 4)
    assert.deepEqual([hand.length, new Set(hand).size, hand.every((card) => card >= 0 && card < 16)], [4, 4, true])
    for (const card of hand) used[card]!++
  }
  assert.ok(Math.min(...used) > 400 && Math.max(...used) < 600, used.join(' '))
  assert.deepEqual(dealHand(hashFlow('a', 'b'), 3, 8).toSorted(), [0, 1, 2])
})

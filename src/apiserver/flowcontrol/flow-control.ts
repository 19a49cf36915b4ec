/**
 * Priority and fairness: which requests are carried out now, which wait, and which are refused. A request belongs to the
 * first FlowSchema that is for it, and needs seats of that schema's priority level. Free seats are taken at once and
 * without a promise; a request for which there are none waits in a queue of its flow for a quarter of the time that a
 * request has, then it is refused with 429.
 *
 * What a request that waits takes of memory is its headers alone: its body is not read before it has its seats.
 */

import { type ApiError, tooManyRequests } from '../../api/model/api-error.ts'
import type { User } from '../../api/model/user.ts'
import type { Distribution } from '../../base/telemetry/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { FlowConfiguration, Schema } from './configuration.ts'
import { type FlowAttributes, namespaceOf } from './matching.ts'
import type { Demand, FairQueue, Refusal, SeatPool, Waiter } from './seat-pool.ts'
import { hashFlow } from './shuffle-shard.ts'

/** The seats that a request has, until it gives them back. */
export interface Occupancy {
  /** Gives the seats back; to be called once or more. */
  release(): void
}

/** A request that needs seats. */
export interface Entering {
  readonly user: User
  readonly attributes: FlowAttributes
  readonly demand: Demand
  readonly client: Client
}

interface Client {
  /** Whether nobody waits for the answer any more. */
  readonly gone: boolean
}

/** How often those who wait are looked after: whether their time is over, or their client is gone. */
const lookMs = 100

/**
 * How long a refusal is held back where there are no seats at all, at least and at most: a client that asks again at once,
 * whatever `Retry-After` says, would else keep the server busy with refusals. Each is held back for another time, so that they
 * do not come back together. Of more than so many the others are told at once.
 */
const refusalMs = { least: 150, most: 350 }
const maxHeldBack = 2000

/** Lets requests in, level by level. */
export class FlowControl {
  readonly #configuration: FlowConfiguration
  readonly #clock: Clock
  readonly #maxWaitMs: number
  /** Those who wait, in the order in which they came. */
  readonly #pending = new Set<Pending>()
  #looking: NodeJS.Timeout | undefined
  #heldBack = 0

  constructor(configuration: FlowConfiguration, clock: Clock, maxWaitMs: number) {
    this.#configuration = configuration
    this.#clock = clock
    this.#maxWaitMs = maxWaitMs
  }

  /** The schema that a request belongs to. */
  classify(user: User, attributes: FlowAttributes): Schema {
    return this.#configuration.classifier.find(user, attributes)
  }

  /** Takes the seats: at once, or when it is the request's turn. Throws 429 where it cannot have them. */
  enter(schema: Schema, entering: Entering): Occupancy | Promise<Occupancy> {
    const { pool, series } = schema
    if (pool === undefined) return new Seated(schema, { seats: 0, clock: this.#clock })
    const { work } = entering.demand
    const seats = Math.min(entering.demand.seats, pool.seats)
    const demand = seats === entering.demand.seats ? entering.demand : { seats, work }
    if (!pool.take(demand)) return this.#wait(schema, pool, { ...entering, demand })
    series.waits.executed.observe(0)
    return new Seated(schema, { seats, clock: this.#clock })
  }

  #wait(schema: Schema, pool: SeatPool, entering: Entering): Promise<Occupancy> {
    const queue = pool.queueFor(hashFlow(schema.name, distinguish(schema, entering)))
    if (typeof queue === 'string') return this.#refuse(schema, queue)
    const pending = new Pending(schema, { pool, queue, entering, clock: this.#clock, all: this.#pending })
    pool.join(pending)
    this.#looking ??= setInterval(() => this.#look(), Math.min(lookMs, this.#maxWaitMs / 4)).unref()
    return pending.occupancy
  }

  async #refuse(schema: Schema, reason: Refusal): Promise<never> {
    schema.series.refused(reason).value++
    if (this.#heldBack < maxHeldBack) {
      this.#heldBack++
      const { least, most } = refusalMs
      await new Promise((resolve) => setTimeout(resolve, least + Math.random() * (most - least)))
      this.#heldBack--
    }
    throw refusal(schema, reason)
  }

  #look(): void {
    const came = this.#clock.monotonic() - this.#maxWaitMs
    for (const pending of this.#pending) pending.leaveIfOver(came)
    if (this.#pending.size > 0) return
    clearInterval(this.#looking)
    this.#looking = undefined
  }
}

/** The part of a flow's name that tells the flows of a schema apart. */
function distinguish({ distinguisher }: Schema, { user, attributes }: Entering): string {
  if (distinguisher === undefined) return ''
  if (distinguisher === 'ByUser') return user.name
  return attributes.resource ? namespaceOf(attributes) : ''
}

function refusal({ series }: Schema, reason: Refusal): ApiError {
  const [level] = series.values
  const why = {
    'concurrency-limit': 'has no free seat',
    'queue-full': 'has no free seat, and the queue is full',
    'time-out': 'had no free seat for as long as a request may wait',
    cancelled: 'had no free seat before the client left',
  }
  return tooManyRequests(`too many requests: the priority level ${level} ${why[reason]}; try again`)
}

/** A request that is carried out. */
class Seated implements Occupancy {
  readonly #schema: Schema
  readonly #seats: number
  readonly #clock: Clock
  readonly #began: number
  readonly #queue: FairQueue | undefined
  #isOver = false

  constructor(schema: Schema, { seats, clock, queue }: { seats: number; clock: Clock; queue?: FairQueue }) {
    this.#schema = schema
    this.#seats = seats
    this.#clock = clock
    this.#queue = queue
    this.#began = clock.monotonic()
    const { series } = schema
    series.dispatched.value++
    series.executing++
    series.seats += seats
  }

  release(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { series, pool } = this.#schema
    const ranMs = this.#clock.monotonic() - this.#began
    series.executing--
    series.seats -= this.#seats
    series.executions.observe(ranMs / 1000)
    pool?.release(this.#seats, this.#queue, ranMs)
  }
}

interface PendingParts {
  readonly pool: SeatPool
  readonly queue: FairQueue
  readonly entering: Entering
  readonly clock: Clock
  readonly all: Set<Pending>
}

/**
 * A request that waits: until its turn comes, its time is over, or its client is gone. Many a one waits for the next turn of
 * the event loop alone, so it has no timer and no signal of its own.
 */
class Pending implements Waiter {
  readonly seats: number
  readonly work: number
  readonly queue: FairQueue
  readonly occupancy: Promise<Occupancy>
  readonly #schema: Schema
  readonly #pool: SeatPool
  readonly #clock: Clock
  readonly #client: Client
  readonly #all: Set<Pending>
  readonly #began: number
  #resolve!: (occupancy: Occupancy) => void
  #reject!: (error: ApiError) => void

  /** To be put into its queue next. */
  constructor(schema: Schema, { pool, queue, entering, clock, all }: PendingParts) {
    this.seats = entering.demand.seats
    this.work = entering.demand.work
    this.queue = queue
    this.#schema = schema
    this.#pool = pool
    this.#clock = clock
    this.#client = entering.client
    this.#all = all
    this.#began = clock.monotonic()
    this.occupancy = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    schema.series.queueLengths.observe(queue.waiters.size + 1)
    schema.series.waiting++
    all.add(this)
  }

  begin(): void {
    const { executed } = this.#schema.series.waits
    this.#settle(executed)
    this.#resolve(new Seated(this.#schema, { seats: this.seats, clock: this.#clock, queue: this.queue }))
  }

  /** `came`: the time of those that have come too long ago. */
  leaveIfOver(came: number): void {
    if (this.#client.gone) this.#leave('cancelled')
    else if (this.#began <= came) this.#leave('time-out')
  }

  #leave(reason: Refusal): void {
    if (!this.#pool.leave(this)) return
    const { series } = this.#schema
    series.refused(reason).value++
    this.#settle(series.waits.refused)
    this.#reject(refusal(this.#schema, reason))
  }

  #settle(waits: Distribution): void {
    this.#schema.series.waiting--
    this.#all.delete(this)
    waits.observe((this.#clock.monotonic() - this.#began) / 1000)
  }
}

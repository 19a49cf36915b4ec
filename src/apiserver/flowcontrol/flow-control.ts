/**
 * API priority and fairness: decides which requests run immediately, which wait and which are rejected. A request
 * belongs to the first matching FlowSchema and needs seats of that schema's priority level. If seats are free, the
 * request gets them synchronously. Otherwise, the request waits in a queue of its flow. After a quarter of the request
 * timeout, it is rejected with 429.
 *
 * Only the headers of a waiting request are in memory. The body is read only after the request has obtained its seats.
 */

import { type ApiError, tooManyRequests } from '../../api/model/api-error.ts'
import type { User } from '../../api/model/user.ts'
import type { Distribution } from '../../base/telemetry/metrics.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { FlowConfiguration, Schema } from './configuration.ts'
import { type FlowAttributes, namespaceOf } from './flow-schema-rules.ts'
import type { Demand, FairQueue, Refusal, SeatPool, Waiter } from './seat-pool.ts'
import { hashFlow } from './shuffle-shard.ts'

/** The seats that a running request holds. */
export interface Occupancy {
  /** Releases the seats. Later calls have no effect. */
  release(): void
}

/** A request as it arrives at flow control. */
export interface Entering {
  readonly user: User
  readonly attributes: FlowAttributes
  readonly demand: Demand
  readonly client: Client
}

interface Client {
  /** Whether the client has disconnected, so that the request need not wait any longer. */
  readonly disconnected: boolean
}

/** Interval in milliseconds at which the server checks waiting requests for timeouts and disconnected clients. */
const lookMs = 100

/**
 * Bounds of the delay before a rejection is sent while no seats are free. Without the delay, clients that ignore
 * `Retry-After` and retry immediately would keep the server busy with rejections. The delay is random so that clients
 * do not retry together. At most `maxHeldBack` rejections are delayed at a time. Any additional rejections are sent
 * immediately.
 */
const refusalMs = { least: 150, most: 350 }
const maxHeldBack = 2000

/** Admits requests by priority level. */
export class FlowControl {
  readonly #configuration: FlowConfiguration
  readonly #clock: Clock
  readonly #maxWaitMs: number
  /** Requests that wait for seats, in the order in which they arrived. */
  readonly #pending = new Set<Pending>()
  #looking: NodeJS.Timeout | undefined
  #heldBack = 0

  constructor(configuration: FlowConfiguration, clock: Clock, maxWaitMs: number) {
    this.#configuration = configuration
    this.#clock = clock
    this.#maxWaitMs = maxWaitMs
  }

  /** Finds the FlowSchema of a request. */
  classify(user: User, attributes: FlowAttributes): Schema {
    return this.#configuration.classifier.find(user, attributes)
  }

  /** Obtains seats, immediately or after waiting in a queue. Throws 429 if the request is rejected. */
  enter(schema: Schema, entering: Entering): Occupancy | Promise<Occupancy> {
    const { pool, series } = schema
    this.#configuration.adjustSeats()
    if (pool === undefined) {
      const seats = schema.exemptDemand === undefined ? 0 : entering.demand.seats
      return new Seated(schema, { seats, clock: this.#clock })
    }
    const seats = Math.min(entering.demand.seats, pool.maxRequestSeats)
    const demand = seats === entering.demand.seats ? entering.demand : { ...entering.demand, seats }
    if (!pool.take(demand)) return this.#wait(schema, pool, { ...entering, demand })
    series.waits.executed.observe(0)
    return new Seated(schema, { ...demand, clock: this.#clock })
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
    this.#configuration.adjustSeats()
    if (this.#pending.size > 0) return
    clearInterval(this.#looking)
    this.#looking = undefined
  }
}

/**
 * Returns the flow of a request: its user, its namespace, or '' if the FlowSchema has a single flow. Flows share seats
 * fairly.
 */
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
    'time-out': 'had no free seat within the maximum queue time',
    cancelled: 'had no free seat before the client disconnected',
  }
  return tooManyRequests(`too many requests: the priority level ${level} ${why[reason]}; try again`)
}

interface SeatedParts extends Omit<Demand, 'work'> {
  readonly clock: Clock
  readonly queue?: FairQueue
}

/** A running request. Returns its seats when it ends. */
class Seated implements Occupancy {
  readonly #schema: Schema
  readonly #seats: number
  readonly #clock: Clock
  readonly #began: number
  readonly #queue: FairQueue | undefined
  readonly #extraMs: number
  #isOver = false

  constructor(schema: Schema, { seats, extraMs = 0, clock, queue }: SeatedParts) {
    this.#schema = schema
    this.#seats = seats
    this.#clock = clock
    this.#queue = queue
    this.#extraMs = extraMs
    this.#began = clock.monotonic()
    const { series } = schema
    series.dispatched.value++
    series.executing++
    series.seats += seats
    schema.exemptDemand?.add(seats)
  }

  release(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { series } = this.#schema
    const ranMs = this.#clock.monotonic() - this.#began
    series.executing--
    series.executions.observe(ranMs / 1000)
    if (this.#extraMs === 0) this.#free(ranMs)
    else setTimeout(() => this.#free(ranMs + this.#extraMs), this.#extraMs).unref()
  }

  #free(ranMs: number): void {
    const { series, pool, exemptDemand } = this.#schema
    exemptDemand?.add(-this.#seats)
    series.seats -= this.#seats
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
 * A waiting request. The request leaves the queue when it gets seats, when it times out, or when its client
 * disconnects. Because most requests wait only until the next event-loop tick, all requests share one timer and have no
 * abort signals.
 */
class Pending implements Waiter {
  readonly seats: number
  readonly work: number
  readonly extraMs: number
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

  /** Creates a waiting request. The caller must then add the request to its queue. */
  constructor(schema: Schema, { pool, queue, entering, clock, all }: PendingParts) {
    this.seats = entering.demand.seats
    this.work = entering.demand.work
    this.extraMs = entering.demand.extraMs ?? 0
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
    const { seats, extraMs, queue } = this
    this.#settle(this.#schema.series.waits.executed)
    this.#resolve(new Seated(this.#schema, { seats, extraMs, clock: this.#clock, queue }))
  }

  /** Stops waiting if the client has disconnected, or if the request arrived at time `came` or earlier. */
  leaveIfOver(came: number): void {
    if (this.#client.disconnected) this.#leave('cancelled')
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

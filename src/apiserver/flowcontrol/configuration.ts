/**
 * The stored FlowSchemas and PriorityLevelConfigurations, prepared for classification: FlowSchemas in order of
 * precedence, each with its priority level, and priority levels with their shares of the server's seats. Changes apply
 * to new requests. Active requests keep their priority level. The mandatory objects apply even if they are missing from
 * the store.
 */

import type { Json } from '../../api/json/json.ts'
import type { FlowSchema } from '../../api/kinds/flowcontrol/flow-schema.ts'
import { flowSchema as flowSchemas } from '../../api/kinds/flowcontrol/flow-schema.ts'
import type { PriorityLevelConfiguration } from '../../api/kinds/flowcontrol/priority-level-configuration.ts'
import { priorityLevelConfiguration as priorityLevelConfigurations } from '../../api/kinds/flowcontrol/priority-level-configuration.ts'
import { mandatoryFlowSchemas, mandatoryLevels } from '../../api/kinds/flowcontrol/types/mandatory.ts'
import type { Lookup, StoredType } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { type EmulatedVersion, isAtLeast } from '../../api/versions/emulated-version.ts'
import type { Clock } from '../../base/time/clock.ts'
import { Classifier } from './classifier.ts'
import type { FlowMetrics, FlowSeries } from './flow-metrics.ts'
import { type CompiledRules, compileRules } from './flow-schema-rules.ts'
import { SeatDemand } from './seat-demand.ts'
import { distributeSeats, type Lending, lendingPeriodMs, type SeatBounds, seatBounds } from './seat-lending.ts'
import { type PoolLimits, SeatPool } from './seat-pool.ts'
import { TickBudget } from './tick-budget.ts'

/** A FlowSchema with the state of its priority level. */
export interface Schema {
  readonly name: string
  readonly uid: string
  readonly levelUid: string
  readonly rules: readonly CompiledRules[]
  readonly distinguisher: 'ByUser' | 'ByNamespace' | undefined
  /** The seats and queues of the priority level. Undefined if the level is exempt from limits. */
  readonly pool: SeatPool | undefined
  /** Tracks how many seats an exempt level uses. Undefined for levels that do not lend seats. */
  readonly exemptDemand: SeatDemand | undefined
  readonly series: FlowSeries
}

interface Level {
  readonly uid: string
  readonly pool: SeatPool | undefined
  readonly limits: PoolLimits
  /**
   * The bounds and the demand that determine how many seats the level lends or borrows. Undefined if the emulated
   * version has no lending, or if the level is exempt and has no seats.
   */
  readonly lending: { readonly bounds: SeatBounds; readonly demand: SeatDemand } | undefined
}

export interface FlowConfigurationOptions {
  /** Returns the total number of seats of all levels. */
  readonly seats: () => number
  /** The emulated Kubernetes version. */
  readonly version: EmulatedVersion
  readonly metrics: FlowMetrics
  readonly clock: Clock
}

/** The current flow-control configuration. */
export class FlowConfiguration {
  readonly #currentSeats: () => number
  readonly #metrics: FlowMetrics
  readonly #mandatoryLevels: ReadonlyMap<string, Json>
  readonly #clock: Clock
  readonly #hasLending: boolean
  /** Whether exempt levels have seats of their own, which they can lend. */
  readonly #hasExemptSeats: boolean
  #adjustedAt: number
  readonly #tickBudget = new TickBudget()
  readonly #schemas: Followed<FlowSchema, ReadySchema>
  readonly #configurations: Followed<PriorityLevelConfiguration, PriorityLevelConfiguration>
  #levels: ReadonlyMap<string, Level> = new Map()
  /** The number of seats to distribute among the levels. */
  #seats = 0
  #classifier: Classifier<Schema> | undefined

  /** Starts tracking the objects. Must be called before the caches are loaded. */
  constructor(lookup: Lookup, { seats, version, metrics, clock }: FlowConfigurationOptions) {
    this.#clock = clock
    this.#hasLending = isAtLeast(version, '1.26')
    this.#hasExemptSeats = isAtLeast(version, '1.28')
    this.#adjustedAt = clock.monotonic()
    this.#mandatoryLevels = mandatoryLevels(version)
    this.#currentSeats = seats
    this.#metrics = metrics
    this.#schemas = new Followed(lookup, flowSchemas, readySchema)
    this.#configurations = new Followed(lookup, priorityLevelConfigurations, (level) => level)
  }

  /** Returns the current classifier, which is rebuilt if objects or the number of seats have changed. */
  get classifier(): Classifier<Schema> {
    const seats = this.#currentSeats()
    if (this.#classifier !== undefined && seats === this.#seats && !this.#isStale) return this.#classifier
    this.#seats = seats
    this.#levels = this.#readLevels()
    this.#classifier = this.#readSchemas()
    return this.#classifier
  }

  /** Redistributes seats among the levels if enough time has passed since the last redistribution. */
  adjustSeats(): void {
    if (!this.#hasLending || this.#clock.monotonic() - this.#adjustedAt < lendingPeriodMs) return
    this.#adjustedAt = this.#clock.monotonic()
    const levels = [...this.#levels].flatMap(([name, { pool, limits, lending }]) =>
      lending === undefined ? [] : [{ name, pool, limits, ...lending }],
    )
    const shares = distributeSeats(
      this.#seats,
      levels.map(({ bounds, demand, pool }) => ({ bounds, demand: demand.endPeriod(), isExempt: pool === undefined })),
    )
    for (const [i, { pool, limits }] of levels.entries()) pool?.configure({ ...limits, seats: shares.seats[i]! })
    this.#metrics.showShares(shares.fairFraction, new Map(levels.map(({ name }, i) => [name, shares.targets[i]!])))
  }

  get #isStale(): boolean {
    return this.#schemas.stale || this.#configurations.stale
  }

  #readLevels(): ReadonlyMap<string, Level> {
    const stored = this.#configurations.current()
    const all = new Map([...imagined(this.#mandatoryLevels), ...stored]) as ReadonlyMap<
      string,
      PriorityLevelConfiguration
    >
    const shares = [...all.values()].reduce((sum, level) => sum + this.#sharesOf(level), 0)
    return new Map([...all].map(([name, level]) => [name, this.#level(name, level, shares)]))
  }

  #level(name: string, level: PriorityLevelConfiguration, allShares: number): Level {
    const { uid = '' } = level.metadata
    const nominal = Math.ceil((this.#seats * this.#sharesOf(level)) / allShares)
    const before = this.#levels.get(name)
    const bounds = seatBounds(nominal, lendingOf(level), this.#seats)
    const lending = this.#hasLending
      ? { bounds, demand: before?.lending?.demand ?? new SeatDemand(this.#clock) }
      : undefined
    if (level.spec?.type === 'Exempt')
      return { uid, pool: undefined, limits: noLimits, lending: this.#hasExemptSeats ? lending : undefined }
    const limits = { ...limitsOf(level, nominal), ...(this.#hasExemptSeats && maxRequestSeats(nominal)) }
    // Seats that a level has lent or borrowed stay lent or borrowed until the next redistribution.
    const currentSeats = before?.pool && before.lending?.bounds.nominal === nominal ? before.pool.seats : nominal
    before?.pool?.configure({ ...limits, seats: currentSeats })
    return { uid, pool: before?.pool ?? new SeatPool(limits, this.#tickBudget, lending?.demand), limits, lending }
  }

  /**
   * Returns the concurrency shares of a level. The server's seats are divided among the levels in proportion to their
   * shares.
   */
  #sharesOf({ spec }: PriorityLevelConfiguration): number {
    if (spec?.type !== 'Exempt') return spec?.limited?.assuredConcurrencyShares ?? 0
    return this.#hasExemptSeats ? (spec.exempt?.nominalConcurrencyShares ?? 0) : 0
  }

  #readSchemas(): Classifier<Schema> {
    const mandatory = imagined(mandatoryFlowSchemas).map(([name, schema]) => [name, readySchema(schema)] as const)
    const ordered = [...new Map([...mandatory, ...this.#schemas.current()]).values()].sort(byPrecedence)
    // Ignore a FlowSchema whose priority level does not exist.
    const schemas = ordered.flatMap((each) => {
      const level = this.#levels.get(each.level)
      return level === undefined ? [] : [this.#schema(each, level)]
    })
    this.#metrics.show(
      schemas.map(({ series }) => series),
      [...this.#levels].map(([name, { pool, lending }]) => ({ name, pool, lending })),
    )
    return new Classifier(schemas, schemas.find(({ name }) => name === 'catch-all')!)
  }

  #schema(ready: ReadySchema, { uid: levelUid, pool, lending }: Level): Schema {
    const exemptDemand = pool === undefined ? lending?.demand : undefined
    return { ...ready, levelUid, pool, exemptDemand, series: this.#metrics.seriesOf(ready.level, ready.name) }
  }
}

/** Returns objects with these names and specs, for mandatory objects that are not stored. */
function imagined(specs: ReadonlyMap<string, Json>): [string, ApiObject][] {
  return [...specs].map(([name, spec]) => [name, { apiVersion: '', kind: '', metadata: { name }, spec }])
}

/** A FlowSchema in compiled form, whose priority level has not been looked up yet. */
interface ReadySchema extends Omit<Schema, 'levelUid' | 'pool' | 'exemptDemand' | 'series'> {
  readonly level: string
  readonly precedence: number
}

function readySchema(schema: FlowSchema): ReadySchema {
  const { metadata, spec = {} } = schema
  const { name = '', uid = '' } = metadata
  const method = spec.distinguisherMethod?.type
  return {
    name,
    uid,
    rules: compileRules(schema),
    distinguisher: method === 'ByUser' || method === 'ByNamespace' ? method : undefined,
    level: spec.priorityLevelConfiguration?.name ?? '',
    precedence: spec.matchingPrecedence ?? 0,
  }
}

/** Compares two FlowSchemas by precedence, then by name. */
function byPrecedence(a: ReadySchema, b: ReadySchema): number {
  return a.precedence - b.precedence || (a.name < b.name ? -1 : 1)
}

const noLimits: PoolLimits = { seats: 0, queuing: undefined }

/**
 * Returns the maximum number of seats that one request may occupy. Since Kubernetes 1.28, the maximum is 15% of the
 * nominal seats of the request's level.
 */
function maxRequestSeats(nominal: number): Pick<PoolLimits, 'maxRequestSeats'> {
  return { maxRequestSeats: Math.ceil(nominal * 0.15) }
}

function lendingOf({ spec }: PriorityLevelConfiguration): Lending {
  const { lendablePercent = 0 } = (spec?.type === 'Exempt' ? spec.exempt : spec?.limited) ?? {}
  return { lendablePercent, borrowingLimitPercent: spec?.limited?.borrowingLimitPercent }
}

function limitsOf({ spec }: PriorityLevelConfiguration, seats: number): PoolLimits {
  const { type, queuing } = spec?.limited?.limitResponse ?? {}
  if (type !== 'Queue' || queuing === undefined) return { seats, queuing: undefined }
  const { queues = 1, handSize = 1, queueLengthLimit = 1 } = queuing
  return { seats, queuing: { queues, handSize, queueLengthLimit } }
}

/** Keeps a derived value for each object of a type. The values of changed objects are recomputed. */
class Followed<T extends ApiObject, M> {
  readonly #lookup: Lookup
  readonly #type: StoredType<T>
  readonly #make: (object: T) => M
  readonly #valuesByName = new Map<string, M>()
  readonly #changed = new Set<string>()
  #reset: boolean

  constructor(lookup: Lookup, type: StoredType<T>, make: (object: T) => M) {
    this.#lookup = lookup
    this.#type = type
    this.#make = make
    // A type that is not served has no objects, and `follow` reports none.
    this.#reset = lookup.follow(type, {
      changed: ({ name }) => this.#changed.add(name),
      reset: () => {
        this.#reset = true
      },
    })
  }

  get stale(): boolean {
    return this.#reset || this.#changed.size > 0
  }

  current(): ReadonlyMap<string, M> {
    if (this.#reset) {
      this.#valuesByName.clear()
      for (const { name } of this.#lookup.names(this.#type)) this.#changed.add(name)
    }
    this.#reset = false
    for (const name of this.#changed) this.#read(name)
    this.#changed.clear()
    return this.#valuesByName
  }

  #read(name: string): void {
    const object = this.#lookup.readUncached(this.#type, { namespace: '', name })
    if (object === undefined) this.#valuesByName.delete(name)
    else this.#valuesByName.set(name, this.#make(object))
  }
}

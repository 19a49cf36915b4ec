/**
 * Defines pools, which are ranges of values. Only one object at a time can reserve a given value. Flags configure the
 * pools. The reservations are in the store, and the caches follow them (`storage/cache/reservations.ts`).
 */
import { randomInt } from 'node:crypto'
import type { Allocator, Reservation } from '../../../api/schema/reservations.ts'
import type { Reservations } from '../../../storage/cache/reservations.ts'
import type { ValueRecords } from './value-records.ts'

/** A range of values that objects can reserve. */
export interface Pool {
  readonly name: string
  readonly size: number
  /** Number of values at the start of the pool that are assigned only on explicit request. */
  readonly reserved?: number
  /**
   * Number of values at the start of the pool that are assigned automatically only when all other values are in use.
   * Clients that request one of these values therefore seldom find it in use.
   */
  readonly staticBand?: number
  /** Returns the value at an index from 0 to `size` - 1. */
  readonly at: (place: number) => string
  readonly contains: (value: string) => boolean
  /** Returns the error message for a value outside the pool. */
  readonly outside: (value: string) => string
  /** The error message for a value that another object has reserved. */
  readonly takenError: string
}

export interface Allocation {
  readonly pools: readonly Pool[]
  readonly reservations: Reservations
  /** The objects, such as IPAddresses, that represent reserved values. A value with such an object is not free. */
  readonly records?: Pick<ValueRecords, 'isTaken'> | undefined
  /** Maximum number of values that an object can reserve. */
  readonly maxValues: number
  /** Values that are already reserved for the object. */
  readonly current: readonly Reservation[]
}

/** Returns the allocator for one write of an object. The allocator never returns the same value twice. */
export function allocatorOf({ pools, reservations, records, maxValues, current }: Allocation): Allocator {
  const requestedIds = new Set<string>()
  const currentIds = new Set(current.map(idOf))
  const isFree = (pool: string, value: string) =>
    !requestedIds.has(idOf({ pool, value })) &&
    !reservations.has(pool, value) &&
    records?.isTaken({ pool, value }) !== true
  const find = (name: string) => pools.find((pool) => pool.name === name)
  return {
    pools: pools.map(({ name }) => name),
    maxValues,
    draw: (name) => {
      const pool = find(name)
      const value = pool && drawFrom(pool, { full: reservations.count(name) >= pool.size, isFree })
      if (value !== undefined) requestedIds.add(idOf({ pool: name, value }))
      return value
    },
    refuse: (name, value) => {
      const pool = find(name)
      const id = idOf({ pool: name, value })
      if (currentIds.has(id)) return undefined
      if (pool === undefined || !pool.contains(value)) return pool?.outside(value) ?? `unknown pool ${name}`
      if (!isFree(name, value)) return pool.takenError
      requestedIds.add(id)
      return undefined
    },
  }
}

function idOf({ pool, value }: Reservation): string {
  return `${pool}/${value}`
}

/** Number of random values to try before a linear search. Random values rarely conflict with concurrent allocations. */
const tries = 32

interface Availability {
  readonly full: boolean
  readonly isFree: (pool: string, value: string) => boolean
}

function drawFrom(pool: Pool, availability: Availability): string | undefined {
  if (availability.full) return undefined
  const { size, reserved = 0, staticBand = 0 } = pool
  const dynamicStart = Math.min(Math.max(reserved, staticBand), size)
  return (
    drawBetween(pool, [dynamicStart, size], availability) ?? drawBetween(pool, [reserved, dynamicStart], availability)
  )
}

/** Returns a free value at an index from `start` to `end` - 1, or undefined if there is none. */
function drawBetween(
  { name, at }: Pool,
  [start, end]: readonly [number, number],
  { isFree }: Availability,
): string | undefined {
  const count = end - start
  if (count <= 0) return undefined
  for (let i = 0; i < tries; i++) {
    const value = at(randomInt(start, end))
    if (isFree(name, value)) return value
  }
  const first = randomInt(count)
  for (let i = 0; i < count; i++) {
    const value = at(start + ((first + i) % count))
    if (isFree(name, value)) return value
  }
  return undefined
}

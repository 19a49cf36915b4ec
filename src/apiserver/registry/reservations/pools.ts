/**
 * Defines pools, which are ranges of values that only one object at a time can reserve. Flags configure the pools. The
 * reservations are in the store, and the caches follow them (`storage/cache/reservations.ts`).
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
  /** The objects that represent reserved values, such as IPAddresses. */
  readonly records?: Pick<ValueRecords, 'isTaken'> | undefined
  /** Maximum number of values that an object can reserve. */
  readonly maxValues: number
  /** Values that are already reserved for the object. */
  readonly current: readonly Reservation[]
}

/** Returns the allocator for a single write of an object. */
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

function drawFrom(
  { name, size, reserved = 0, at }: Pool,
  { full, isFree }: { full: boolean; isFree: (pool: string, value: string) => boolean },
): string | undefined {
  if (full) return undefined
  for (let i = 0; i < tries; i++) {
    const value = at(randomInt(reserved, size))
    if (isFree(name, value)) return value
  }
  const open = size - reserved
  const start = randomInt(open)
  for (let i = 0; i < open; i++) {
    const value = at(reserved + ((start + i) % open))
    if (isFree(name, value)) return value
  }
  return undefined
}

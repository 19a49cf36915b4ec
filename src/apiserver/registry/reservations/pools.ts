/**
 * Pools: ranges of values of which each is held by one object at a time. Which pools there are the flags say; what is
 * held of them the store knows, and the caches follow it (`storage/cache/reservations.ts`).
 */
import { randomInt } from 'node:crypto'
import type { Allocator, Reservation } from '../../../api/schema/reservations.ts'
import type { Reservations } from '../../../storage/cache/reservations.ts'

/** The values of one sort that objects may reserve. */
export interface Pool {
  readonly name: string
  readonly size: number
  /** How many places at the beginning are given only to those who ask for them. */
  readonly reserved?: number
  /** The value at a place from 0 to `size` - 1. */
  readonly at: (place: number) => string
  readonly contains: (value: string) => boolean
  /** What is said of a value that is not in it. */
  readonly outside: (value: string) => string
  /** What is said of a value that is held. */
  readonly taken: string
}

export interface Allocation {
  readonly pools: readonly Pool[]
  readonly reservations: Reservations
  /** How many values an object may hold. */
  readonly most: number
  /** What the object holds already. */
  readonly held: readonly Reservation[]
}

/** Allocates for one write of one object. */
export function allocatorOf({ pools, reservations, most, held }: Allocation): Allocator {
  const wanted = new Set<string>()
  const kept = new Set(held.map(idOf))
  const isFree = (pool: string, value: string) => !wanted.has(idOf({ pool, value })) && !reservations.has(pool, value)
  const find = (name: string) => pools.find((pool) => pool.name === name)
  return {
    pools: pools.map(({ name }) => name),
    most,
    draw: (name) => {
      const pool = find(name)
      const value = pool && drawFrom(pool, { full: reservations.count(name) >= pool.size, isFree })
      if (value !== undefined) wanted.add(idOf({ pool: name, value }))
      return value
    },
    refuse: (name, value) => {
      const pool = find(name)
      const id = idOf({ pool: name, value })
      if (kept.has(id)) return undefined
      if (pool === undefined || !pool.contains(value)) return pool?.outside(value) ?? `there is no pool ${name}`
      if (!isFree(name, value)) return pool.taken
      wanted.add(id)
      return undefined
    },
  }
}

function idOf({ pool, value }: Reservation): string {
  return `${pool}/${value}`
}

/** How many places are tried by chance, so that those who draw at the same time seldom draw the same. */
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

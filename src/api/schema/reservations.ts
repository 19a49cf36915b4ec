/**
 * Values that one object at a time may hold: cluster addresses, ports of nodes, names of custom resources. A kind says what
 * its objects hold (`held`); the registry writes it down with the object, in one step, so that nobody else takes it
 * (docs/decisions/0014). Addresses and ports come from pools that the server is told of by its flags, and the kind gives
 * its objects what they need of them (`allocate`); what is not given out is refused where another has it (`refusal`).
 */
import type { FieldError } from '../model/field-error.ts'

/** A value of a pool: `{ pool: 'node-ports', value: '30080' }`. A value has one spelling. */
export interface Reservation {
  readonly pool: string
  readonly value: string
}

interface Holding<T> {
  /** What an object holds. Depends on the object alone: what it says when the object goes is what is let go. */
  readonly held: (object: T) => readonly Reservation[]
}

/** What its objects hold is given out; no sub-resource changes it. */
interface Allocating<T> extends Holding<T> {
  /** Gives the object what it needs, and says what it cannot have. Changes `next`; it is not validated yet. */
  readonly allocate: (next: T, previous: T | undefined, allocator: Allocator) => FieldError[]
}

/** Its objects say themselves what they hold. */
interface Asking<T> extends Holding<T> {
  /** What is said of a value that another object holds. */
  readonly refusal: (claim: Reservation) => FieldError
}

/** How a kind reserves values. */
export type KindReservations<T> = Allocating<T> | Asking<T>

/** What a kind is given to allocate with, for one write. What it does with it is tried out only: nothing is taken yet. */
export interface Allocator {
  /** The names of the pools that there are, in the order of the flags. */
  readonly pools: readonly string[]
  /** How many values an object may hold at most. */
  readonly most: number
  /** A value that nobody holds; undefined: the pool is full. The next call gives another. */
  draw(pool: string): string | undefined
  /**
   * Why the object cannot have a value that it asks for: it is of no pool, or another holds it, or it was asked for or
   * drawn before. Undefined: it can. What the object holds already it keeps.
   */
  refuse(pool: string, value: string): string | undefined
}

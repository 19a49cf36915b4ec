/**
 * Values that only one object at a time can reserve: cluster IPs, node ports, names of custom resources. A kind lists
 * the values of an object (`reservationsOf`). The registry records these values in the same commit as the object, so
 * that no other object can use them (docs/decisions/0014). Addresses and ports come from pools that flags configure,
 * and the kind assigns them to objects (`allocate`). For values that the user chooses, the kind returns an error if
 * another object has reserved the value (`refusal`).
 */
import type { FieldError } from '../model/field-error.ts'

/** A value that an object reserves, and its pool. Equal values must have the same spelling. */
export interface Reservation {
  readonly pool: string
  readonly value: string
}

interface Holding<T> {
  /**
   * Returns the values that an object reserves. The result must depend only on the object, because its deletion
   * releases the same values.
   */
  readonly reservationsOf: (object: T) => readonly Reservation[]
}

/** Reserves values that are allocated from pools. Subresources do not change such values. */
interface Allocating<T> extends Holding<T> {
  /**
   * Assigns values to the object. Returns errors for values that are not available. Modifies `next`, which has not been
   * validated yet.
   */
  readonly allocate: (next: T, previous: T | undefined, allocator: Allocator) => FieldError[]
}

/** Reserves values that the object itself specifies. */
interface Asking<T> extends Holding<T> {
  /** Returns the error for a value that another object has reserved. */
  readonly refusal: (reservation: Reservation) => FieldError
}

/** How a kind reserves values. */
export type KindReservations<T> = Allocating<T> | Asking<T>

/** Allocates reserved values during one write. If the write fails, the values are released. */
export interface Allocator {
  /** Names of the configured pools, in flag order. */
  readonly pools: readonly string[]
  /** Maximum number of values that an object can reserve. */
  readonly maxValues: number
  /** Returns a free value, or undefined if the pool is exhausted. Each call returns a different value. */
  draw(pool: string): string | undefined
  /**
   * Returns the reason why the object cannot reserve a requested value: the value is outside the pool, another object
   * has reserved the value, or this write has already requested or allocated the value. Returns undefined if the value
   * is available or the object has already reserved it.
   */
  refuse(pool: string, value: string): string | undefined
}

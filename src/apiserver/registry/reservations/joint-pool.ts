/**
 * Combines several pools, such as the address ranges of several ServiceCIDRs, into one. The list of pools may change at
 * any time. Only the first pool can set values aside for explicit requests.
 */
import type { Pool } from './pools.ts'

/** A pool that contains the values of several other pools. */
export class JointPool implements Pool {
  readonly name: string
  readonly takenError: string
  readonly #parts: () => readonly Pool[]

  /**
   * Creates a pool with the values of all pools that `parts` returns. The name and the error messages come from
   * `model`.
   */
  constructor(model: Pool, parts: () => readonly Pool[]) {
    this.name = model.name
    this.takenError = model.takenError
    this.#parts = parts
    this.outside = (value) => parts()[0]?.outside(value) ?? model.outside(value)
  }

  get size(): number {
    return this.#parts().reduce((sum, { size }) => sum + size, 0)
  }

  get reserved(): number {
    return this.#parts()[0]?.reserved ?? 0
  }

  get staticBand(): number {
    return this.#parts()[0]?.staticBand ?? 0
  }

  readonly outside: (value: string) => string

  readonly at = (place: number): string => {
    let rest = place
    for (const part of this.#parts()) {
      if (rest < part.size) return part.at(rest)
      rest -= part.size
    }
    throw new RangeError(`the pool ${this.name} has no value at index ${place}`)
  }

  readonly contains = (value: string): boolean => this.#parts().some((part) => part.contains(value))
}

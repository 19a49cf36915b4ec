/** Reproducible random numbers, so that a failing run can be repeated with its seed. */
export interface RandomSource {
  /** Returns an integer from 0 (inclusive) to `limit` (exclusive). */
  below(limit: number): number
  pick<T>(items: readonly T[]): T
  chance(probability: number): boolean
}

export function seeded(seed: number): RandomSource {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (limit) => Math.floor(next() * limit),
    pick: (items) => items[Math.floor(next() * items.length)]!,
    chance: (probability) => next() < probability,
  }
}

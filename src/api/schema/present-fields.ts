/**
 * Selects the fields of an object schema that are relevant for one value: the fields that are present, and those whose
 * absence matters. Users may define thousands of fields and send thousands of objects that each contain only a few of
 * these fields. Checking every field of every object would then take time proportional to the product of both numbers.
 */
import type { JsonObject } from '../json/json.ts'

/** Maximum number of fields at which checking every field is faster than selecting the relevant fields. */
const few = 64

/**
 * Selects the fields of a schema that must be processed for a value: those that are present, and those whose absence
 * matters.
 */
export class PresentFields<T extends { readonly name: string }> {
  readonly #all: readonly T[]
  readonly #places: ReadonlyMap<string, number>
  /** Indexes of fields that must be processed even if absent. */
  readonly #always: readonly number[]

  /**
   * Creates the selection. `all` contains the fields in schema order. `countsAbsent` returns whether the absence of a
   * field matters.
   */
  constructor(all: readonly T[], countsAbsent: (field: T) => boolean) {
    this.#all = all
    this.#places = new Map(all.length <= few ? [] : all.map(({ name }, place) => [name, place]))
    this.#always = all.flatMap((field, place) => (countsAbsent(field) ? [place] : []))
  }

  /** Returns the relevant fields in schema order. Fields that the value does not contain may be included. */
  of(value: JsonObject): readonly T[] {
    if (this.#all.length <= few) return this.#all
    const places = new Set(this.#always)
    for (const key of Object.keys(value)) {
      const place = this.#places.get(key)
      if (place !== undefined) places.add(place)
    }
    return places.size === this.#all.length
      ? this.#all
      : Array.from(places)
          .sort((a, b) => a - b)
          .map((place) => this.#all[place]!)
  }
}

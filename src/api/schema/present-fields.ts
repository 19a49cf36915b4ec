/**
 * Selects the fields of an object schema that are relevant to one value: fields that are present and fields that matter
 * if absent. Users may define thousands of fields and send thousands of objects, each with few of them. Checking every
 * field on every object would take time proportional to the product.
 */
import type { JsonObject } from '../json/json.ts'

/** Up to this number of fields, checking all of them is faster. */
const few = 64

/** The fields of an object schema that a caller processes. */
export class PresentFields<T extends { readonly name: string }> {
  readonly #all: readonly T[]
  readonly #places: ReadonlyMap<string, number>
  /** Indexes of the fields that matter if absent. */
  readonly #always: readonly number[]

  /** `all` must be in schema order. */
  constructor(all: readonly T[], countsAbsent: (field: T) => boolean) {
    this.#all = all
    this.#places = new Map(all.length <= few ? [] : all.map(({ name }, place) => [name, place]))
    this.#always = all.flatMap((field, place) => (countsAbsent(field) ? [place] : []))
  }

  /** Returns the relevant fields in schema order. May include fields that are absent. */
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

/**
 * The fields of an object schema that concern one value: those that it has, and those that count although they are
 * absent. A user may define thousands of fields and send thousands of objects that have none of them; to look for each
 * field in each object would take as long as both together.
 */
import type { JsonObject } from '../json/json.ts'

/** Up to here it is quicker to look for all. */
const few = 64

/** Fields of an object schema that some reader cares for, and which of them concern a value. */
export class PresentFields<T extends { readonly name: string }> {
  readonly #all: readonly T[]
  readonly #places: ReadonlyMap<string, number>
  /** Places of those that count although they are absent. */
  readonly #always: readonly number[]

  /** In the order of the schema. */
  constructor(all: readonly T[], countsAbsent: (field: T) => boolean) {
    this.#all = all
    this.#places = new Map(all.length <= few ? [] : all.map(({ name }, place) => [name, place]))
    this.#always = all.flatMap((field, place) => (countsAbsent(field) ? [place] : []))
  }

  /** In the order of the schema; others may be among them. */
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

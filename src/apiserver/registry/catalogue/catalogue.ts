/**
 * What is served at this moment: every type of object, found by its place on the wire.
 *
 * Types come and go while the server runs, as custom resources do. Dispatch asks for one per request; discovery and
 * OpenAPI keep documents made from all of them, and make them again when the generation has moved on
 * (`whileUnchanged`). Nobody holds a list of types of their own.
 */
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Resource, ServedType } from './resource.ts'

/** Everything that is served, by group, version and plural. */
export class Catalogue {
  readonly vendor: Vendor
  readonly #isServed: (kind: Kind) => boolean
  #generation = 0
  #types: readonly ServedType[] = []
  /** Those that clients see; undefined: look anew. */
  #all: readonly ServedType[] | undefined
  /** Every type by its place, and those of them that clients see: dispatch asks for one with each request. */
  readonly #owners = new Map<string, ServedType>()
  readonly #served = new Map<string, ServedType>()
  /** By the short id of their group, and there by their plural: asked for several times in each write. */
  readonly #stored = new Map<string, Map<string, Resource>>()

  /** Types that `isServed` refuses are stored and can be looked up, but no client sees them. */
  constructor(vendor: Vendor, isServed: (kind: Kind) => boolean = () => true) {
    this.vendor = vendor
    this.#isServed = isServed
  }

  /** Moves on with every change. */
  get generation(): number {
    return this.#generation
  }

  /** In the order of serving: of a group's versions the preferred one comes first. */
  all(): readonly ServedType[] {
    this.#all ??= this.#types.filter(({ kind }) => this.#isServed(kind))
    return this.#all
  }

  /** By the group's name on the wire ('' for the core group), the version and the plural. */
  find(group: string, version: string, plural: string): ServedType | undefined {
    return this.#served.get(placeOf(group, version, plural))
  }

  /** The stored version of a kind, by the short id of its group, whether or not that version is the preferred one. */
  stored(group: string, plural: string): Resource | undefined {
    return this.#stored.get(group)?.get(plural)
  }

  /** Every type there is, also those that no client sees. */
  everyType(): readonly ServedType[] {
    return this.#types
  }

  /** Serves these from now on. Throws where another type has the place of one of them. */
  add(types: readonly ServedType[]): void {
    this.replace([], types)
  }

  /** Serves these no longer: all versions of a kind at once. */
  remove(types: readonly ServedType[]): void {
    this.replace(types, [])
  }

  /**
   * Serves other types in the place of these. A place belongs to the type that came first, whether clients see that type
   * or not: throws where one of the others would take it, and changes nothing then.
   */
  replace(types: readonly ServedType[], others: readonly ServedType[]): void {
    const gone = new Set(types)
    const places = new Map(others.map((other) => [ownPlace(other), other]))
    const taken = [...places.keys()].find((place) => {
      const owner = this.#owners.get(place)
      return owner !== undefined && !gone.has(owner)
    })
    if (taken !== undefined || places.size < others.length)
      throw new TypeError(`the place ${taken ?? [...places.keys()].join()} belongs to another type`)
    for (const type of types) this.#leave(type)
    for (const other of others) this.#enter(other)
    this.#types = [...this.#types.filter((type) => !gone.has(type)), ...others]
    this.#all = undefined
    this.#generation++
  }

  #enter(type: ServedType): void {
    this.#owners.set(ownPlace(type), type)
    if (this.#isServed(type.kind)) this.#served.set(ownPlace(type), type)
    if (type.endpoint !== undefined) return
    const resource = type.stored ?? type
    const { kind, plural } = resource
    const ofGroup = this.#stored.get(kind.group) ?? new Map<string, Resource>()
    this.#stored.set(kind.group, ofGroup.set(plural, resource))
  }

  #leave(type: ServedType): void {
    if (this.#owners.get(ownPlace(type)) !== type) return
    this.#owners.delete(ownPlace(type))
    this.#served.delete(ownPlace(type))
    if (type.endpoint !== undefined) return
    const { kind, plural } = type.stored ?? type
    const ofGroup = this.#stored.get(kind.group)
    ofGroup?.delete(plural)
    if (ofGroup?.size === 0) this.#stored.delete(kind.group)
  }
}

function placeOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`
}

function ownPlace({ group, kind, plural }: ServedType): string {
  return placeOf(group, kind.version, plural)
}

/** What `make` gives, made once for each generation of all these. */
export function whileUnchanged<T>(sources: readonly { readonly generation: number }[], make: () => T): () => T {
  let generations: readonly number[] = []
  let made: T
  return () => {
    if (generations.length === 0 || sources.some(({ generation }, i) => generation !== generations[i])) {
      // Taken before: should one change while it is made, it is made again.
      generations = sources.map(({ generation }) => generation)
      made = make()
    }
    return made
  }
}

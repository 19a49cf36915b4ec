/**
 * Stores the types that the server currently serves, by group, version and plural.
 *
 * Types, such as custom resources, can be added and removed at run time. Each request looks up one type. Discovery and
 * OpenAPI cache documents about all types, and rebuild the documents when the generation of the catalogue changes
 * (`whileUnchanged`). No other module keeps a list of types.
 */
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Resource, ServedType } from './resource.ts'

/** The types that the server serves, by group, version and plural. */
export class Catalogue {
  readonly vendor: Vendor
  readonly #isServed: (kind: Kind) => boolean
  #generation = 0
  #types: readonly ServedType[] = []
  /** Cached result of `all`, the types that clients can access. Dropped when the types change. */
  #all: readonly ServedType[] | undefined
  /**
   * All types by group, version and plural, including types that clients cannot access. `find` uses this map once per
   * request.
   */
  readonly #owners = new Map<string, ServedType>()
  readonly #served = new Map<string, ServedType>()
  /** The storage version of each kind, by group ID and plural. Every write looks up several storage versions. */
  readonly #stored = new Map<string, Map<string, Resource>>()

  /**
   * Creates a catalogue. If `isServed` returns false for a type, clients cannot access the type, but the server itself
   * can use it.
   */
  constructor(vendor: Vendor, isServed: (kind: Kind) => boolean = () => true) {
    this.vendor = vendor
    this.#isServed = isServed
  }

  /** Returns the generation of the catalogue, which increases with every change. */
  get generation(): number {
    return this.#generation
  }

  /** Returns the types that clients can access, with the preferred version of each group first. */
  all(): readonly ServedType[] {
    this.#all ??= this.#types.filter(({ kind }) => this.#isServed(kind))
    return this.#all
  }

  /** Finds a type by API group ('' for the core group), version and plural. */
  find(group: string, version: string, plural: string): ServedType | undefined {
    return this.#served.get(typeKey(group, version, plural))
  }

  /** Finds the storage version of a type by group ID, even if clients prefer another version. */
  stored(group: string, plural: string): Resource | undefined {
    return this.#stored.get(group)?.get(plural)
  }

  /** Returns all types, including types that clients cannot access. */
  everyType(): readonly ServedType[] {
    return this.#types
  }

  /** Adds types. Throws an error if the catalogue already has a type with the same group, version and plural. */
  add(types: readonly ServedType[]): void {
    this.replace([], types)
  }

  /** Removes types. The caller must remove all versions of a kind at once. */
  remove(types: readonly ServedType[]): void {
    this.replace(types, [])
  }

  /**
   * Replaces types in one step. Throws an error and changes nothing if a new type conflicts with a remaining type,
   * including types that clients cannot access.
   */
  replace(types: readonly ServedType[], others: readonly ServedType[]): void {
    const gone = new Set(types)
    const places = new Map(others.map((other) => [ownPlace(other), other]))
    const conflict = [...places.keys()].find((place) => {
      const owner = this.#owners.get(place)
      return owner !== undefined && !gone.has(owner)
    })
    if (conflict !== undefined || places.size < others.length)
      throw new TypeError(`another type already uses the path ${conflict ?? [...places.keys()].join()}`)
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

function typeKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`
}

function ownPlace({ group, kind, plural }: ServedType): string {
  return typeKey(group, kind.version, plural)
}

/** Returns a function that caches the result of `make` until the generation of one of the sources changes. */
export function whileUnchanged<T>(sources: readonly { readonly generation: number }[], make: () => T): () => T {
  let generations: readonly number[] = []
  let made: T
  return () => {
    if (generations.length === 0 || sources.some(({ generation }, i) => generation !== generations[i])) {
      // Read the generations before calling `make`, so that a change during the call triggers another rebuild.
      generations = sources.map(({ generation }) => generation)
      made = make()
    }
    return made
  }
}

/**
 * The catalogue of all types that the server currently serves, by group, version and plural.
 *
 * Types, such as those of custom resources, can be added and removed at run time. Dispatch looks up one type per
 * request. Discovery and OpenAPI cache documents built from all types and rebuild them when the generation changes
 * (`whileUnchanged`). No other code keeps a list of types.
 */
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Resource, ServedType } from './resource.ts'

/** All served types, by group, version and plural. */
export class Catalogue {
  readonly vendor: Vendor
  readonly #isServed: (kind: Kind) => boolean
  #generation = 0
  #types: readonly ServedType[] = []
  /** The types that clients can see. Undefined after a change. */
  #all: readonly ServedType[] | undefined
  /**
   * All types by group, version and plural, and the subset of types that clients can see. Dispatch looks up one type
   * per request.
   */
  readonly #owners = new Map<string, ServedType>()
  readonly #served = new Map<string, ServedType>()
  /** Storage versions by group ID and plural. Every write looks up several of them. */
  readonly #stored = new Map<string, Map<string, Resource>>()

  /**
   * Creates a catalogue. Types for which `isServed` returns false are stored and available to the server, but hidden
   * from clients.
   */
  constructor(vendor: Vendor, isServed: (kind: Kind) => boolean = () => true) {
    this.vendor = vendor
    this.#isServed = isServed
  }

  /** A number that increases with every change. */
  get generation(): number {
    return this.#generation
  }

  /** Returns the visible types in the order in which they are served: the preferred version of a group comes first. */
  all(): readonly ServedType[] {
    this.#all ??= this.#types.filter(({ kind }) => this.#isServed(kind))
    return this.#all
  }

  /** Finds a type by API group (empty for the core group), version and plural. */
  find(group: string, version: string, plural: string): ServedType | undefined {
    return this.#served.get(typeKey(group, version, plural))
  }

  /** Finds the storage version of a type by group ID, even if another version is preferred. */
  stored(group: string, plural: string): Resource | undefined {
    return this.#stored.get(group)?.get(plural)
  }

  /** Returns all types, including hidden ones. */
  everyType(): readonly ServedType[] {
    return this.#types
  }

  /** Adds types. Throws if another type has the same group, version and plural. */
  add(types: readonly ServedType[]): void {
    this.replace([], types)
  }

  /** Removes types. All versions of a kind must be removed together. */
  remove(types: readonly ServedType[]): void {
    this.replace(types, [])
  }

  /**
   * Replaces types with other types in one step. If a new type would conflict with a remaining type, hidden or not,
   * throws and changes nothing.
   */
  replace(types: readonly ServedType[], others: readonly ServedType[]): void {
    const gone = new Set(types)
    const places = new Map(others.map((other) => [ownPlace(other), other]))
    const conflict = [...places.keys()].find((place) => {
      const owner = this.#owners.get(place)
      return owner !== undefined && !gone.has(owner)
    })
    if (conflict !== undefined || places.size < others.length)
      throw new TypeError(`the path ${conflict ?? [...places.keys()].join()} belongs to another type`)
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
      // The generations are read before calling `make`, so that a change during the call triggers a rebuild.
      generations = sources.map(({ generation }) => generation)
      made = make()
    }
    return made
  }
}

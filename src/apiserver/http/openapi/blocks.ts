/**
 * Caches an OpenAPI document in encoded blocks: one for all built-in types, one for each custom type, and one for each
 * aggregated server's document. A block is encoded on first use and cached while its types are served. Adding, changing
 * or removing a custom type therefore rebuilds only one block.
 */
import { setImmediate } from 'node:timers/promises'
import type { Served } from '../../registry/catalogue/served.ts'
import { type Described, isForeign } from './group-version.ts'
import type { NamedPart, Parts } from './parts.ts'

export interface Block<T> {
  readonly paths: readonly T[]
  /** The encoded schemas by type name. */
  readonly types: ReadonlyMap<string, T>
}

/** Functions that encode a document in one OpenAPI version and format. */
export interface Encoding<T> {
  /** Writes the paths and types that describe the given API types. */
  readonly partsOf: (described: Described) => Pick<Parts, 'paths' | 'types'>
  readonly encodePath: (part: NamedPart) => T
  readonly encodeType: (part: NamedPart) => T
}

export class Blocks<T> {
  readonly #encoding: Encoding<T>
  #own: { readonly types: readonly Served[]; readonly block: Promise<Block<T>> } | undefined
  /** Encoded blocks by the object that they were built from: a custom type, or an aggregated server's document. */
  readonly #foreign = new WeakMap<object, Promise<Block<T>>>()

  constructor(encoding: Encoding<T>) {
    this.#encoding = encoding
  }

  /**
   * Concatenates all blocks. If several blocks define the same type, the first definition is used, and this server's
   * own block comes first.
   */
  async join(described: Described): Promise<Block<T>> {
    const own = await this.#ownBlock(described)
    const paths = [...own.paths]
    const types = new Map(own.types)
    for (const served of described.types) {
      if (!isForeign(served.kind)) continue
      const partsOf = () => this.#encoding.partsOf({ ...described, types: [served] })
      const block = await this.#once(served, () => this.#encode(partsOf(), own.types))
      paths.push(...block.paths)
      for (const [name, text] of block.types) if (!types.has(name)) types.set(name, text)
    }
    for (const parts of described.aggregated.documents) {
      const block = await this.#once(parts, () => this.#encode(parts, own.types))
      paths.push(...block.paths)
      for (const [name, text] of block.types) if (!types.has(name)) types.set(name, text)
    }
    return { paths, types: new Map([...types].sort(([a], [b]) => (a < b ? -1 : 1))) }
  }

  #ownBlock(described: Described): Promise<Block<T>> {
    const types = described.types.filter(({ kind }) => !isForeign(kind))
    if (this.#own === undefined || !sameTypes(this.#own.types, types)) {
      const block = this.#encode(this.#encoding.partsOf({ ...described, types }), new Map())
      this.#own = { types, block }
      block.catch(() => {
        this.#own = undefined
      })
    }
    return this.#own.block
  }

  #once(source: object, make: () => Promise<Block<T>>): Promise<Block<T>> {
    const foreignBlock = this.#foreign.get(source)
    if (foreignBlock !== undefined) return foreignBlock
    const block = make()
    this.#foreign.set(source, block)
    block.catch(() => this.#foreign.delete(source))
    return block
  }

  /** Encodes paths and types into a block, without the types in `sharedTypes`, which another block already contains. */
  async #encode(
    { paths, types }: Pick<Parts, 'paths' | 'types'>,
    sharedTypes: ReadonlyMap<string, T>,
  ): Promise<Block<T>> {
    const { encodePath, encodeType } = this.#encoding
    const encodedPaths = await inSlices(paths, encodePath)
    const own = [...types].filter(([name]) => !sharedTypes.has(name))
    const encodedTypes = await inSlices(own, encodeType)
    return { paths: encodedPaths, types: new Map(own.map(([name], i) => [name, encodedTypes[i]!])) }
  }
}

export function sameTypes(a: readonly object[], b: readonly object[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i])
}

const sliceMs = 5

/**
 * Applies `map` to all items. Yields to the event loop every few milliseconds, so that other requests are not delayed.
 */
export async function inSlices<T, R>(items: Iterable<T>, map: (item: T) => R): Promise<R[]> {
  const results: R[] = []
  let until = performance.now() + sliceMs
  for (const item of items) {
    results.push(map(item))
    if (performance.now() < until) continue
    await setImmediate()
    until = performance.now() + sliceMs
  }
  return results
}

/**
 * A table whose pages are verified before lmdb reads them. The verification ends when the check of the whole file is
 * complete (`page-guard.ts`). A range is verified leaf by leaf, just before the iteration reaches the leaf.
 */
import type { Database } from 'lmdb'
import type { Bytes } from '../store.ts'
import type { PageGuard } from './page-guard.ts'

export interface RangeOptions {
  readonly start?: Bytes
  readonly end?: Bytes
  readonly reverse?: boolean
  readonly limit?: number
  readonly snapshot?: boolean
}

/** The records of a range, in key order. */
export interface RecordRange<T> extends Iterable<T> {
  map<U>(convert: (item: T) => U): Iterable<U>
}

/**
 * The part of lmdb's table interface that the store uses. A returned value is valid only until the next read (`Lent` in
 * `tables.ts`).
 */
export interface Table {
  get(key: Bytes): Buffer | undefined
  getRange(options?: RangeOptions): RecordRange<{ key: Bytes; value: Buffer }>
  getKeys(options?: RangeOptions): RecordRange<Bytes>
  getKeysCount(options?: RangeOptions): number
  getStats(): object
  /** Writes a record. Returns true if the record was written. */
  putSync(key: Bytes, value: Bytes, options?: { readonly append?: boolean }): unknown
  /** Removes a record. Returns true if the record existed. */
  removeSync(key: Bytes): unknown
}

/** Verifies pages before they are read. Undefined once the whole file has been checked. */
export interface Guarding {
  guard: PageGuard | undefined
}

/**
 * Casts lmdb's table to the interface above, because lmdb declares narrower types than those that it actually accepts
 * and returns.
 */
export function plainTable(table: Database<Buffer, Bytes>): Table {
  return table as unknown as Table
}

export function guardedTable(name: string, table: Table, guarding: Guarding): Table {
  const walk = <T>(options: RangeOptions, records: Iterable<T>, keyOf: (item: T) => Bytes) =>
    guarding.guard === undefined ? undefined : verifiedRange(guarding.guard, name, { options, records, keyOf })
  return {
    get: (key) => {
      guarding.guard?.reach(name, asBuffer(key))
      return table.get(key)
    },
    getRange: (options = {}) => {
      const records = table.getRange(options)
      return walk(options, records, ({ key }) => key) ?? records
    },
    getKeys: (options = {}) => {
      const keys = table.getKeys(options)
      return walk(options, keys, (key) => key) ?? keys
    },
    getKeysCount: (options = {}) => {
      if (guarding.guard === undefined) return table.getKeysCount(options)
      let count = 0
      for (const _ of walk(options, table.getKeys(options), (key) => key)!) count++
      return count
    },
    getStats: () => table.getStats(),
    putSync: (key, value, options) => {
      if (options?.append) guarding.guard?.reachEnd(name)
      else guarding.guard?.reach(name, asBuffer(key))
      return options === undefined ? table.putSync(key, value) : table.putSync(key, value, options)
    },
    removeSync: (key) => {
      guarding.guard?.reachForRemoval(name, asBuffer(key))
      return table.removeSync(key)
    },
  }
}

interface Walk<T> {
  readonly options: RangeOptions
  readonly records: Iterable<T>
  readonly keyOf: (item: T) => Bytes
}

function* verifiedRange<T>(guard: PageGuard, table: string, { options, records, keyOf }: Walk<T>): Generator<T> {
  const { start, reverse = false } = options
  const first = start && asBuffer(start)
  let verified = reverse && first === undefined ? guard.reachEnd(table) : guard.reach(table, first)
  // lmdb's iterator reads no page before its first step, so each leaf can be verified just before it is read.
  for (const item of records) {
    const key = asBuffer(keyOf(item))
    const limit = reverse ? verified.previous : verified.next
    if (limit !== undefined && (reverse ? key.compare(limit) <= 0 : key.compare(limit) >= 0))
      verified = guard.reach(table, key)
    yield item
  }
}

function asBuffer(bytes: Bytes): Buffer {
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
}

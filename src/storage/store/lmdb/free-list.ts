/**
 * The free pages inside the data file. lmdb does not expose its list of free pages, so this module reads the list from
 * the file. A value larger than a page needs consecutive pages, so the total number of free pages is not sufficient
 * information. `usable` returns the number of pages that can certainly be allocated.
 */
import { childOf, type Meta, pageHeader, readAt, readMeta, wide } from './page-file.ts'

/** A run of consecutive pages. */
export interface Run {
  readonly page: number
  readonly count: number
}

export class FreeList {
  /** Number of pages that lmdb uses to store the free list. */
  readonly pages: number
  readonly #counts: readonly number[]
  readonly #usable = new Map<number, number>()

  constructor(runs: readonly Run[], pages: number) {
    this.pages = pages
    this.#counts = runs.map(({ count }) => count)
  }

  /**
   * Returns the number of pages that can certainly be allocated, in any order, in pieces of at most `maxRun`
   * consecutive pages. Each run of free pages contributes its length minus `maxRun - 1` to a sum. Allocating a piece
   * reduces the sum by at most the length of the piece. While the sum is positive, some run is long enough for another
   * piece.
   */
  usable(maxRun: number): number {
    const cachedSum = this.#usable.get(maxRun)
    if (cachedSum !== undefined) return cachedSum
    let sum = 0
    for (const count of this.#counts) if (count >= maxRun) sum += count - maxRun + 1
    this.#usable.set(maxRun, sum)
    return sum
  }
}

/**
 * Returns the pages that the next transaction can use. These are all listed pages except those that the last
 * transaction freed, because the latter still belong to the previous state. `pinned` is the oldest transaction whose
 * state is still being read. Pages freed since then cannot be used either. Returns an empty list if lmdb would not load
 * the whole list. Must be called between transactions.
 */
export function readFreeList(descriptor: number, pinned = Number.POSITIVE_INFINITY): FreeList {
  const meta = readMeta(descriptor)
  if (meta === undefined) return new FreeList([], 0)
  const { branches, leaves, overflows } = meta.free
  const runs: Run[] = []
  let entries = 0
  for (const { transaction, value } of freeRecords(descriptor, meta)) {
    entries += wide(value, 0)
    if (transaction < Math.min(meta.transaction, pinned)) for (const run of runsOf(value) ?? []) runs.push(run)
  }
  return new FreeList(entries > maxEntries ? [] : runs, branches + leaves + overflows)
}

/** Maximum number of free-list entries to use. lmdb stops loading at 50,000 entries, including empty ones. */
const maxEntries = 40_000

/**
 * Decodes one record of the list into runs of pages. The record contains the number of entries, and then for each entry
 * either a single page or a negative page count followed by the first page. Returns undefined if the record is
 * malformed.
 */
export function runsOf(value: Buffer): Run[] | undefined {
  const runs: Run[] = []
  const end = 8 * (1 + wide(value, 0))
  if (end > value.length) return undefined
  for (let at = 8; at < end; at += 8) {
    const entry = Number(value.readBigInt64LE(at))
    if (entry > 0) runs.push({ page: entry, count: 1 })
    if (entry >= 0) continue
    at += 8
    if (at >= end) return undefined
    runs.push({ page: wide(value, at), count: -entry })
  }
  return runs
}

interface FreeRecord {
  /** The number of the transaction that freed the pages. */
  readonly transaction: number
  readonly value: Buffer
}

function* freeRecords(descriptor: number, { pageSize, free }: Meta): Generator<FreeRecord> {
  const pages: ReadPages = (page, count) =>
    readAt(descriptor, page * pageSize, Buffer.allocUnsafeSlow(count * pageSize))
  const waiting = free.root === undefined ? [] : [{ page: free.root, depth: 1 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { page, depth } = next
    const bytes = pages(page, 1)
    const records = recordsOf(bytes)
    if (depth < free.depth) waiting.push(...records.map((at) => ({ page: childOf(bytes, at), depth: depth + 1 })))
    else for (const at of records) yield freeRecord(pages, bytes, at)
  }
}

/** Returns the offsets of the records in a page. */
function recordsOf(bytes: Buffer): number[] {
  const count = bytes.readUInt16LE(20) / 2
  return Array.from({ length: count }, (_, i) => pageHeader + bytes.readUInt16LE(pageHeader + 2 * i))
}

const longRecord = 1

type ReadPages = (page: number, count: number) => Buffer

function freeRecord(pages: ReadPages, bytes: Buffer, at: number): FreeRecord {
  const size = bytes.readUInt32LE(at)
  const data = bytes.subarray(at + 8 + bytes.readUInt16LE(at + 6))
  const long = bytes.readUInt16LE(at + 4) === longRecord
  const value = long ? pages(wide(data, 0), wide(data, 16)).subarray(pageHeader) : data
  return { transaction: wide(bytes, at + 8), value: value.subarray(0, size) }
}

/**
 * Verifies single pages of the data file: the layout, the records, and the order of the keys. The checks cover
 * everything that lmdb relies on when it searches a page. A page that passes the checks cannot crash lmdb or lead it to
 * a wrong record, provided that all pages to which it refers also pass the checks.
 */
import { childOf, type Meta, pageHeader, type Tree, wide } from './page-file.ts'

/** An error that describes the damage of a file. */
export class Damage extends Error {}

export function assertSound(sound: boolean, what: () => string): void {
  if (!sound) throw new Damage(what())
}

/** Flags of pages and records in the data file. */
const branchPage = 1
const leafPage = 2
const overflowPage = 4
const longRecord = 1
export const treeRecord = 2

export interface Leaf {
  readonly flags: number
  readonly key: Buffer
  /** The value, or the reference to the pages of a long record. */
  readonly data: Buffer
  /** Length of the record's value in bytes. */
  readonly size: number
}

/** A value that is too large for a leaf and is stored in consecutive pages of its own. */
export interface LongRecord {
  readonly page: number
  readonly count: number
}

/**
 * The key bounds of a page. Its keys are greater than or equal to `low` and less than `high`. Undefined means no bound.
 */
export interface KeyBounds {
  readonly low: Buffer | undefined
  readonly high: Buffer | undefined
}

export const unbounded: KeyBounds = { low: undefined, high: undefined }

/** The position of a page in a table: its key bounds, and whether it is at the lowest level of the tree. */
export interface PagePlace {
  readonly page: number
  readonly table: string
  readonly isLeaf: boolean
  readonly bounds: KeyBounds
  /** Whether keys sort as bytes. False only for the free list, whose keys are transaction numbers. */
  readonly ordered?: false
}

/**
 * Verifies the header of a page. The header must contain the page's own number, and the number of a transaction that is
 * not newer than the checked state.
 */
export function assertHeader(bytes: Buffer, page: number, transaction: number): void {
  assertSound(wide(bytes, 0) === page, () => `page ${page} has unexpected content`)
  assertSound(wide(bytes, 8) <= transaction, () => `page ${page} is newer than the last transaction`)
}

/** Returns the number of records in a verified page. */
export function recordCount(bytes: Buffer): number {
  return bytes.readUInt16LE(20) >>> 1
}

/** Returns the offset of a record in its page. */
function recordAt(bytes: Buffer, index: number): number {
  return pageHeader + bytes.readUInt16LE(pageHeader + 2 * index)
}

/** Returns the key of a record in a verified page. */
export function keyAt(bytes: Buffer, index: number): Buffer {
  const at = recordAt(bytes, index)
  return bytes.subarray(at + 8, at + 8 + bytes.readUInt16LE(at + 6))
}

/** Returns the page number of the child at an index of a verified branch page. */
export function childAt(bytes: Buffer, index: number): number {
  return childOf(bytes, recordAt(bytes, index))
}

/**
 * Returns the key bounds of the child at an index of a verified branch page. lmdb ignores the first key of a branch
 * page.
 */
export function boundsOfChild(bytes: Buffer, index: number, { low, high }: KeyBounds): KeyBounds {
  return {
    low: index === 0 ? low : keyAt(bytes, index),
    high: index + 1 < recordCount(bytes) ? keyAt(bytes, index + 1) : high,
  }
}

/** Returns the index of the child whose range includes the given key. */
export function childIndex(bytes: Buffer, key: Buffer): number {
  let low = 0
  let high = recordCount(bytes) - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (keyAt(bytes, middle).compare(key) <= 0) low = middle
    else high = middle - 1
  }
  return low
}

/** Verifies the type and layout of a page: all records must be within the page and after the list of their offsets. */
function assertLayout(bytes: Buffer, { page, isLeaf }: Pick<PagePlace, 'page' | 'isLeaf'>): void {
  const expected = isLeaf ? leafPage : branchPage
  assertSound(bytes.readUInt16LE(18) === expected, () => `page ${page} has an unexpected type`)
  const listEnd = pageHeader + bytes.readUInt16LE(20)
  const recordsAt = pageHeader + bytes.readUInt16LE(22)
  const sound = listEnd > pageHeader && listEnd % 2 === 0 && listEnd <= recordsAt && recordsAt <= bytes.length
  assertSound(sound, () => `page ${page} has an invalid layout`)
  for (let i = pageHeader; i < listEnd; i += 2) {
    const at = pageHeader + bytes.readUInt16LE(i)
    assertSound(at >= recordsAt && at + 8 <= bytes.length, () => `page ${page} has a record outside its bounds`)
  }
}

/** Verifies a branch page and the order of its keys. */
export function assertBranch(bytes: Buffer, place: PagePlace): void {
  assertLayout(bytes, place)
  const { page, table, bounds, ordered = true } = place
  let last = bounds.low
  for (let i = 0; i < recordCount(bytes); i++) {
    const at = recordAt(bytes, i)
    const keyEnd = at + 8 + bytes.readUInt16LE(at + 6)
    assertSound(keyEnd <= bytes.length, () => `page ${page} has a record outside its bounds`)
    if (i === 0 || !ordered) continue
    last = assertNext(table, bytes.subarray(at + 8, keyEnd), { low: last, high: bounds.high, isFirst: i === 1 })
  }
}

/** Verifies a leaf page and calls `onRecord` with each record. */
export function assertLeaf(bytes: Buffer, place: PagePlace, onRecord: (leaf: Leaf) => void): void {
  assertLayout(bytes, place)
  const { table, bounds, ordered = true } = place
  let last = bounds.low
  for (let i = 0; i < recordCount(bytes); i++) {
    const leaf = readLeaf(bytes, i, table)
    if (ordered) last = assertNext(table, leaf.key, { low: last, high: bounds.high, isFirst: i === 0 })
    onRecord(leaf)
  }
}

/** Verifies that a key is within the bounds of its page and sorts after the previous key. */
function assertNext(table: string, key: Buffer, { low, high, isFirst }: KeyBounds & { isFirst: boolean }): Buffer {
  const order = low === undefined ? 1 : key.compare(low)
  const sound = (isFirst ? order >= 0 : order > 0) && (high === undefined || key.compare(high) < 0)
  assertSound(sound, () => `the keys of table ${table} are not in order`)
  return key
}

function readLeaf(bytes: Buffer, index: number, table: string): Leaf {
  const at = recordAt(bytes, index)
  const size = bytes.readUInt32LE(at)
  const flags = bytes.readUInt16LE(at + 4)
  const keyEnd = at + 8 + bytes.readUInt16LE(at + 6)
  const dataEnd = keyEnd + (flags === longRecord ? 24 : size)
  assertSound(flags <= treeRecord && dataEnd <= bytes.length, () => `table ${table} has a record beyond its page`)
  return { flags, key: bytes.subarray(at + 8, keyEnd), data: bytes.subarray(keyEnd, dataEnd), size }
}

/** Returns the pages of a long record, or undefined if the leaf itself contains the value. */
export function longRecordOf({ flags, data, size }: Leaf, { pageSize, lastPage }: Meta): LongRecord | undefined {
  if (flags !== longRecord) return undefined
  const page = wide(data, 0)
  const count = wide(data, 16)
  const sound = count === Math.ceil((pageHeader + size) / pageSize)
  assertSound(sound, () => `page ${page} has a long record of the wrong length`)
  assertSound(page >= 2 && page + count <= lastPage + 1, () => `it refers to page ${page}, which does not exist`)
  return { page, count }
}

/**
 * Returns the page count of a long record that starts with this page. Returns undefined if no long record starts with
 * the page.
 */
export function longRecordPages(bytes: Buffer): number | undefined {
  return bytes.readUInt16LE(18) === overflowPage ? bytes.readUInt32LE(20) : undefined
}

/** Verifies that the numbers of pages and records found in a traversal match the counts in the tree's record. */
export function assertCounts(table: string, tree: Tree, counts: TreeCounts): void {
  for (const what of ['branches', 'leaves', 'overflows', 'entries'] as const)
    assertSound(
      counts[what] === tree[what],
      () => `table ${table} has ${counts[what]} ${what} and should have ${tree[what]}`,
    )
}

export interface TreeCounts {
  branches: number
  leaves: number
  overflows: number
  entries: number
}

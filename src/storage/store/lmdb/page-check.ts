/**
 * Checks every used page of the data file before lmdb opens it. lmdb trusts its pages: a damaged page would crash the
 * process or return wrong data. The check reports an error instead.
 *
 * It verifies everything that lmdb relies on: each tree from its root (page numbers, page types, record offsets, key
 * order, and the tree's own counts), that no page is used twice, and that no used page is listed as free, which would
 * let lmdb overwrite it. Values are not checked here because they have their own checksums.
 */
import { closeSync, openSync, statSync } from 'node:fs'
import { StoreError } from '../store.ts'
import { type Run, runsOf } from './free-list.ts'
import {
  childOf,
  type Meta,
  PageReader,
  pageHeader,
  readMeta,
  readTree,
  type Tree,
  treeBytes,
  wide,
} from './page-file.ts'

/** Throws StoreError if the file is damaged. An absent or empty file is new. */
export function checkPages(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const descriptor = openSync(path, 'r')
  try {
    const meta = readMeta(descriptor)
    if (meta === undefined) throw new Damage('its first two pages are invalid')
    new PageCheck(meta, new PageReader(descriptor, meta.pageSize)).run()
  } catch (error) {
    if (!(error instanceof Damage)) throw error
    throw new StoreError(`the data file ${path} is damaged (${error.message}): restore it from a backup`)
  } finally {
    closeSync(descriptor)
  }
}

class Damage extends Error {}

function assert(sound: boolean, what: () => string): void {
  if (!sound) throw new Damage(what())
}

/** Flags of pages and records. */
const branchPage = 1
const leafPage = 2
const overflowPage = 4
const longRecord = 1
const treeRecord = 2

interface Leaf {
  readonly flags: number
  readonly key: Buffer
  /** The value, or for a long record the reference to its pages. */
  readonly data: Buffer
  /** Length of the value. */
  readonly size: number
}

/** A traversal of a tree: its statistics, the counts so far, and the handler of its records. */
interface Walk {
  readonly name: string
  readonly tree: Tree
  readonly found: { branches: number; leaves: number; overflows: number; entries: number }
  lastKey: Buffer | undefined
  readonly onLeaf: (leaf: Leaf) => void
}

/** The use of each page. */
const unknown = 0
const inUse = 1
const isFree = 2

class PageCheck {
  readonly #meta: Meta
  readonly #file: PageReader
  readonly #pages: Uint8Array
  readonly #free: Run[] = []

  constructor(meta: Meta, file: PageReader) {
    assert(meta.lastPage >= 1 && meta.lastPage < 2 ** 34, () => `it has ${meta.lastPage} pages`)
    this.#meta = meta
    this.#file = file
    this.#pages = new Uint8Array(meta.lastPage + 1)
    this.#pages.fill(inUse, 0, 2)
  }

  run(): void {
    this.#walk('of tables', this.#meta.main, (leaf) => this.#walkTable(leaf))
    this.#walk('of free pages', this.#meta.free, (leaf) => this.#takeFree(leaf))
    for (const { page, count } of this.#free) this.#mark(page, count, isFree)
  }

  #walkTable({ flags, key, data }: Leaf): void {
    assert(flags === treeRecord && data.length === treeBytes, () => 'its list of tables')
    const tree = readTree(data, 0)
    assert(tree.flags === 0, () => `table ${key} has an unexpected type`)
    this.#walk(key.toString('latin1'), tree, () => {})
  }

  #walk(name: string, tree: Tree, onLeaf: (leaf: Leaf) => void): void {
    const found = { branches: 0, leaves: 0, overflows: 0, entries: 0 }
    if (tree.root !== undefined) this.#walkPage({ name, tree, found, lastKey: undefined, onLeaf }, tree.root, 1)
    for (const what of ['branches', 'leaves', 'overflows', 'entries'] as const)
      assert(found[what] === tree[what], () => `table ${name} has ${found[what]} ${what} and should have ${tree[what]}`)
  }

  #walkPage(walk: Walk, page: number, depth: number): void {
    this.#mark(page, 1, inUse)
    const bytes = this.#pageAt(page)
    const last = depth >= walk.tree.depth
    assert(bytes.readUInt16LE(18) === (last ? leafPage : branchPage), () => `page ${page} has an unexpected type`)
    const records = this.#recordsOf(page, bytes)
    walk.found[last ? 'leaves' : 'branches']++
    if (last) walk.found.entries += records.length
    for (const at of records) {
      if (last) this.#walkLeaf(walk, bytes, at)
      else this.#walkPage(walk, childOf(bytes, at), depth + 1)
    }
  }

  /** Returns the offsets of a page's records, which must be within the page and after their list. */
  #recordsOf(page: number, bytes: Buffer): number[] {
    const listEnd = pageHeader + bytes.readUInt16LE(20)
    const recordsAt = pageHeader + bytes.readUInt16LE(22)
    const sound = listEnd > pageHeader && listEnd % 2 === 0 && listEnd <= recordsAt && recordsAt <= bytes.length
    assert(sound, () => `page ${page} has an invalid layout`)
    const records: number[] = []
    for (let i = pageHeader; i < listEnd; i += 2) {
      const at = pageHeader + bytes.readUInt16LE(i)
      assert(at >= recordsAt && at + 8 <= bytes.length, () => `page ${page} has a record outside its bounds`)
      records.push(at)
    }
    return records
  }

  #walkLeaf(walk: Walk, bytes: Buffer, at: number): void {
    const size = bytes.readUInt32LE(at)
    const flags = bytes.readUInt16LE(at + 4)
    const keyEnd = at + 8 + bytes.readUInt16LE(at + 6)
    const dataEnd = keyEnd + (flags === longRecord ? 24 : size)
    assert(flags <= treeRecord && dataEnd <= bytes.length, () => `table ${walk.name} has a record beyond its page`)
    const key = bytes.subarray(at + 8, keyEnd)
    // The keys of the free list are transaction numbers, which do not sort as bytes.
    const ordered = walk.lastKey === undefined || walk.tree === this.#meta.free || walk.lastKey.compare(key) < 0
    assert(ordered, () => `the keys of table ${walk.name} are not in order`)
    walk.lastKey = key
    const data = bytes.subarray(keyEnd, dataEnd)
    if (flags === longRecord) walk.found.overflows += this.#takeLong(data, size)
    walk.onLeaf({ flags, key, data, size })
  }

  /** Marks the pages of a long record and returns their number. */
  #takeLong(reference: Buffer, size: number): number {
    const page = wide(reference, 0)
    const count = wide(reference, 16)
    assert(
      count === Math.ceil((pageHeader + size) / this.#file.pageSize),
      () => `page ${page} has a long record of the wrong length`,
    )
    this.#mark(page, count, inUse)
    const bytes = this.#pageAt(page)
    const sound = bytes.readUInt16LE(18) === overflowPage && bytes.readUInt32LE(20) === count
    assert(sound, () => `page ${page} has an unexpected type`)
    return count
  }

  #takeFree({ flags, data, size }: Leaf): void {
    const value = flags === longRecord ? this.#longValue(data, size) : data
    const runs = runsOf(value)
    assert(runs !== undefined, () => 'its list of free pages')
    for (const run of runs!) this.#free.push(run)
  }

  #longValue(reference: Buffer, size: number): Buffer {
    return this.#file.pages(wide(reference, 0), wide(reference, 16)).subarray(pageHeader, pageHeader + size)
  }

  /** Marks pages. Each page must have a single use. */
  #mark(page: number, count: number, use: number): void {
    assert(page >= 2 && page + count <= this.#pages.length, () => `it refers to page ${page}, which does not exist`)
    for (let i = page; i < page + count; i++) {
      assert(this.#pages[i] === unknown, () => `page ${i} is used twice`)
      this.#pages[i] = use
    }
  }

  #pageAt(page: number): Buffer {
    const bytes = this.#file.page(page)
    assert(wide(bytes, 0) === page, () => `page ${page} has unexpected content`)
    assert(wide(bytes, 8) <= this.#meta.transaction, () => `page ${page} is newer than the last transaction`)
    return bytes
  }
}

/**
 * Checks every used page of the data file. lmdb trusts its pages, so a damaged page would crash the process or result
 * in wrong data. The check reports an error instead.
 *
 * The check verifies everything that lmdb relies on: page numbers, page types, record offsets, key order, and the
 * counts of each tree. It also verifies that no page is used twice, and that no used page is listed as free, because
 * lmdb would overwrite such a page. Values are not checked because they have their own checksums.
 *
 * The branch pages, which are one or two percent of the file, are read first. They show to which tree each leaf
 * belongs. Then the file is read once from start to end, so the duration does not depend on how widely the pages of a
 * tree are scattered. The check needs eight bytes of memory per page. The file may change during the check as long as
 * the pages of the checked state are not overwritten (`page-guard.ts`).
 */
import { closeSync, openSync, statSync } from 'node:fs'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { StoreDamaged } from '../store.ts'
import { type Run, runsOf } from './free-list.ts'
import { type Meta, pageHeader, readAt, readMeta, readTree, type Tree, treeBytes, wide } from './page-file.ts'
import {
  assertBranch,
  assertCounts,
  assertHeader,
  assertLeaf,
  assertSound,
  boundsOfChild,
  childAt,
  Damage,
  type KeyBounds,
  type Leaf,
  type LongRecord,
  longRecordOf,
  longRecordPages,
  recordCount,
  type TreeCounts,
  treeRecord,
  unbounded,
} from './page-records.ts'

/**
 * Checks the file before it is opened. Throws StoreDamaged if the file is damaged. Accepts an absent or empty file as a
 * new file.
 */
export function checkPages(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const descriptor = openSync(path, 'r')
  try {
    reportDamage(path, () => {
      const meta = checkMeta(descriptor)
      new PageCheck(descriptor, meta, new Uint8Array(meta.lastPage + 1)).run()
    })
  } finally {
    closeSync(descriptor)
  }
}

/** Calls `read` and converts an error about damage to an error whose message is meant for operators. */
export function reportDamage<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Damage)) throw error
    throw new StoreDamaged(`the data file ${path} is damaged (${error.message}): restore it from a backup`)
  }
}

/** Returns the newest meta page. Throws Damage. */
export function checkMeta(descriptor: number): Meta {
  const meta = readMeta(descriptor)
  if (meta === undefined) throw new Damage('its first two pages are invalid')
  assertSound(meta.lastPage >= 1 && meta.lastPage < 2 ** 32 - 1, () => `it has ${meta.lastPage} pages`)
  return meta
}

/**
 * Results of the check for single pages, recorded while the check is running. A page without a result is neither
 * verified nor known to be free.
 */
export const pageFacts = { verified: 1, free: 2 } as const

/** The possible uses of a page. */
const uses = { unknown: 0, branch: 1, leaf: 2, long: 3, free: 4, root: 5 } as const

const blockBytes = 1024 * 1024
const cachedBranches = 1024

interface Table {
  readonly name: string
  readonly tree: Tree
  readonly counts: TreeCounts
}

export class PageCheck {
  readonly #descriptor: number
  readonly #meta: Meta
  /** The check state of each page (see `pageFacts`), by page number. The memory may be shared with another thread. */
  readonly #facts: Uint8Array
  readonly #uses: Uint8Array
  /**
   * The parent of each page, by page number. The entry of a branch or leaf contains its parent page (0 for a root) and
   * its index in the parent. The entry for the first page of a long record contains the record's number of pages
   * instead.
   */
  readonly #parents: Uint32Array
  readonly #indexes: Uint16Array
  /** The table to which each branch or leaf belongs, by page number. */
  readonly #tableOf: Uint8Array
  readonly #tables: Table[] = []
  readonly #branches = new BoundedMap<number, Buffer>(cachedBranches)
  /** Number of pages read so far, from the start of the file. */
  #position = 0

  constructor(descriptor: number, meta: Meta, facts: Uint8Array) {
    this.#descriptor = descriptor
    this.#meta = meta
    this.#facts = facts
    const pages = meta.lastPage + 1
    this.#uses = new Uint8Array(pages)
    this.#parents = new Uint32Array(pages)
    this.#indexes = new Uint16Array(pages)
    this.#tableOf = new Uint8Array(pages)
    this.#uses.fill(uses.root, 0, 2)
  }

  /** Checks the whole file. Throws Damage. */
  run(): void {
    this.checkRoots()
    for (const index of this.#tables.keys()) this.#claimTree(index)
    this.#readThrough()
    for (const { name, tree, counts } of this.#tables) assertCounts(name, tree, counts)
  }

  /** Checks the list of tables and the free list, which lmdb reads as a whole. Both have few pages. */
  checkRoots(): void {
    this.#walk('of tables', this.#meta.main, (leaf) => this.#takeTable(leaf))
    const free: Run[] = []
    this.#walk('of free pages', this.#meta.free, (leaf) => {
      for (const run of this.#freeRuns(leaf)) free.push(run)
    })
    for (const { page, count } of free) {
      this.#claim(page, count, uses.free)
      this.#facts.fill(pageFacts.free, page, page + count)
    }
  }

  #takeTable({ flags, key, data }: Leaf): void {
    assertSound(flags === treeRecord && data.length === treeBytes, () => 'its list of tables')
    const name = key.toString('latin1')
    const tree = readTree(data, 0)
    assertSound(tree.flags === 0, () => `table ${name} has an unexpected type`)
    this.#tables.push({ name, tree, counts: { branches: 0, leaves: 0, overflows: 0, entries: 0 } })
    assertSound(this.#tables.length < 256, () => 'its list of tables')
  }

  #freeRuns(leaf: Leaf): readonly Run[] {
    const long = longRecordOf(leaf, this.#meta)
    const value =
      long === undefined ? leaf.data : this.#pages(long.page, long.count).subarray(pageHeader, pageHeader + leaf.size)
    const runs = value.length < 8 ? undefined : runsOf(value)
    assertSound(runs !== undefined, () => 'its list of free pages')
    return runs!
  }

  /** Checks a small tree page by page. */
  #walk(name: string, tree: Tree, onLeaf: (leaf: Leaf) => void): void {
    const counts = { branches: 0, leaves: 0, overflows: 0, entries: 0 }
    const ordered = tree === this.#meta.free ? ({ ordered: false } as const) : {}
    const visit = (page: number, depth: number, bounds: KeyBounds): void => {
      const isLeaf = depth >= tree.depth
      this.#claim(page, 1, uses.root)
      const bytes = this.#page(page)
      this.#facts[page] = pageFacts.verified
      const place = { page, table: name, isLeaf, bounds, ...ordered }
      counts[isLeaf ? 'leaves' : 'branches']++
      if (!isLeaf) assertBranch(bytes, place)
      else
        assertLeaf(bytes, place, (leaf) => {
          counts.entries++
          counts.overflows += this.#claimLong(leaf)
          onLeaf(leaf)
        })
      if (!isLeaf)
        for (let i = 0; i < recordCount(bytes); i++)
          visit(childAt(bytes, i), depth + 1, boundsOfChild(bytes, i, bounds))
    }
    if (tree.root !== undefined) visit(tree.root, 1, unbounded)
    assertCounts(name, tree, counts)
  }

  /**
   * Marks the pages of a long record in a small tree as used, and verifies the header of the record. Returns the number
   * of pages.
   */
  #claimLong(leaf: Leaf): number {
    const long = longRecordOf(leaf, this.#meta)
    if (long === undefined) return 0
    this.#claim(long.page, long.count, uses.root)
    assertSound(longRecordPages(this.#page(long.page)) === long.count, () => `page ${long.page} has an unexpected type`)
    return long.count
  }

  /** Verifies the branch pages of a table, level by level, and marks its leaves as used. */
  #claimTree(index: number): void {
    const { tree, counts } = this.#tables[index]!
    if (tree.root === undefined) return
    let level = [tree.root]
    this.#claimNode(tree.root, index, tree.depth <= 1 ? uses.leaf : uses.branch)
    for (let depth = 1; depth < tree.depth; depth++) {
      // Reads the pages of a level in file order, because they may be scattered.
      const pages = Float64Array.from(level).sort()
      level = []
      for (const page of pages) {
        const bytes = this.#verifiedBranch(page, index)
        counts.branches++
        const use = depth + 1 >= tree.depth ? uses.leaf : uses.branch
        for (let i = 0; i < recordCount(bytes); i++) {
          const child = childAt(bytes, i)
          this.#claimNode(child, index, use)
          this.#parents[child] = page
          this.#indexes[child] = i
          if (use === uses.branch) level.push(child)
        }
      }
    }
  }

  #claimNode(page: number, table: number, use: number): void {
    this.#claim(page, 1, use)
    this.#tableOf[page] = table
  }

  #verifiedBranch(page: number, table: number): Buffer {
    const bytes = this.#page(page)
    const bounds = this.#boundsOf(page)
    assertBranch(bytes, { page, table: this.#tables[table]!.name, isLeaf: false, bounds })
    this.#facts[page] = pageFacts.verified
    this.#branches.set(page, bytes)
    return bytes
  }

  /** Reads the file from start to end and verifies the leaves. */
  #readThrough(): void {
    const { pageSize, lastPage } = this.#meta
    const perBlock = Math.floor(blockBytes / pageSize)
    const block = Buffer.allocUnsafeSlow(perBlock * pageSize)
    for (let first = 0; first <= lastPage; first += perBlock) {
      const count = Math.min(perBlock, lastPage + 1 - first)
      readAt(this.#descriptor, first * pageSize, block.subarray(0, count * pageSize))
      for (let i = 0; i < count; i++) this.#visit(first + i, block.subarray(i * pageSize, (i + 1) * pageSize))
    }
  }

  #visit(page: number, bytes: Buffer): void {
    this.#position = page + 1
    const use = this.#uses[page]
    if (use === uses.leaf) this.#visitLeaf(page, bytes)
    else if (use === uses.long && this.#parents[page]! > 0) this.#assertLong(page, this.#parents[page]!, bytes)
    else if (use === uses.unknown) this.#noteLong(page, bytes)
  }

  #visitLeaf(page: number, bytes: Buffer): void {
    const { name, counts } = this.#tables[this.#tableOf[page]!]!
    assertHeader(bytes, page, this.#meta.transaction)
    let isComplete = true
    assertLeaf(bytes, { page, table: name, isLeaf: true, bounds: this.#boundsOf(page) }, (leaf) => {
      counts.entries++
      const long = longRecordOf(leaf, this.#meta)
      if (long === undefined) return
      counts.overflows += long.count
      if (!this.#takeLong(long)) isComplete = false
    })
    counts.leaves++
    if (isComplete) this.#facts[page] = pageFacts.verified
  }

  /**
   * Marks the pages of a long record as used. Returns false if the pages have not been read yet, in which case the
   * record must be checked later.
   */
  #takeLong({ page, count }: LongRecord): boolean {
    this.#claim(page, count, uses.long)
    const isRead = page < this.#position
    if (isRead) assertSound(this.#parents[page] === count, () => `page ${page} has an unexpected type`)
    else this.#parents[page] = count
    return isRead
  }

  /**
   * Records how many pages the long record at this page has, because a leaf that is read later may refer to the record.
   */
  #noteLong(page: number, bytes: Buffer): void {
    if (wide(bytes, 0) === page && wide(bytes, 8) <= this.#meta.transaction)
      this.#parents[page] = longRecordPages(bytes) ?? 0
  }

  #assertLong(page: number, count: number, bytes: Buffer): void {
    assertHeader(bytes, page, this.#meta.transaction)
    assertSound(longRecordPages(bytes) === count, () => `page ${page} has an unexpected type`)
  }

  /**
   * Returns the bounds of the keys below a page. The branch pages above the page, which are already verified, contain
   * the bounds.
   */
  #boundsOf(page: number): KeyBounds {
    const parent = this.#parents[page]!
    if (parent === 0) return unbounded
    const bytes = this.#branch(parent)
    const index = this.#indexes[page]!
    const isInside = index > 0 && index + 1 < recordCount(bytes)
    return boundsOfChild(bytes, index, isInside ? unbounded : this.#boundsOf(parent))
  }

  #branch(page: number): Buffer {
    const cached = this.#branches.get(page)
    if (cached !== undefined) return cached
    const bytes = this.#page(page)
    this.#branches.set(page, bytes)
    return bytes
  }

  /** Marks pages as used. Throws Damage if one of them is already in use. */
  #claim(page: number, count: number, use: number): void {
    const exists = page >= 2 && page + count <= this.#uses.length
    assertSound(exists, () => `it refers to page ${page}, which does not exist`)
    for (let i = page; i < page + count; i++) {
      assertSound(this.#uses[i] === uses.unknown, () => `page ${i} is used twice`)
      this.#uses[i] = use
    }
  }

  #page(page: number): Buffer {
    const bytes = this.#pages(page, 1)
    assertHeader(bytes, page, this.#meta.transaction)
    return bytes
  }

  #pages(page: number, count: number): Buffer {
    const { pageSize } = this.#meta
    return readAt(this.#descriptor, page * pageSize, Buffer.allocUnsafeSlow(count * pageSize))
  }
}

/**
 * Verifies pages before lmdb reads them, while another thread is still checking the whole file. lmdb therefore never
 * follows a reference in a damaged page (docs/decisions/0062-start.md).
 *
 * Like lmdb, `reach` follows the path from the root to a key. It verifies every page of the opened state on that path,
 * and the two neighboring leaves. Pages that were written after the file was opened are not verified, because they were
 * derived from verified pages. Until the check is complete, lmdb does not overwrite pages of the opened state, because
 * the caller has an open read transaction. The page number therefore distinguishes new pages from old pages: pages that
 * were free or beyond the end of the file at the start are new, and all other pages are old.
 */

import { checkMeta, PageCheck, pageFacts } from './page-check.ts'
import { type Meta, readAt, readMeta, readTree, type Tree } from './page-file.ts'
import {
  assertBranch,
  assertHeader,
  assertLeaf,
  assertSound,
  boundsOfChild,
  childAt,
  childIndex,
  Damage,
  type KeyBounds,
  keyAt,
  longRecordOf,
  longRecordPages,
  recordCount,
  unbounded,
} from './page-records.ts'

/**
 * A range of keys whose pages have been verified. If one end is undefined, the range extends to the corresponding end
 * of the table.
 */
export interface VerifiedRange {
  /** The key just before the range. More pages must be verified before an iteration reads this key. */
  readonly previous: Buffer | undefined
  /** The key just after the range. More pages must be verified before an iteration reads this key. */
  readonly next: Buffer | undefined
}

/** One branch page on the path from the root to a leaf, with the index of the child that the path follows. */
interface Step {
  readonly bytes: Buffer
  readonly bounds: KeyBounds
  /**
   * Whether the page already existed when the file was opened. Such a page refers only to other pages that already
   * existed then.
   */
  readonly isOld: boolean
  readonly index: number
}

interface Position {
  readonly page: number
  readonly bounds: KeyBounds
  readonly isBelowOld: boolean
}

/** A path from the root of a table to one of its leaves. */
interface Path {
  readonly table: string
  readonly depth: number
  readonly steps: readonly Step[]
  readonly leaf: Position
}

export class PageGuard {
  /** The meta page at the time when the file was opened. */
  readonly meta: Meta
  /**
   * The check state of each page (see `pageFacts`), by page number. The memory is shared with the thread that checks
   * the whole file.
   */
  readonly facts: Uint8Array<SharedArrayBuffer>
  readonly #descriptor: number
  #trees: { readonly transaction: number; readonly byName: ReadonlyMap<string, Tree> } | undefined
  /** Number of records that the current transaction has removed. */
  #removals = 0

  /**
   * Verifies the pages that lmdb reads when it opens the file: the meta pages, the list of tables and the free list.
   */
  constructor(descriptor: number) {
    this.#descriptor = descriptor
    this.meta = checkMeta(descriptor)
    this.facts = new Uint8Array(new SharedArrayBuffer(this.meta.lastPage + 1))
    new PageCheck(descriptor, this.meta, this.facts).checkRoots()
  }

  /** Verifies the pages between the root and the key, and the leaves next to the key's leaf. Throws Damage. */
  reach(table: string, key: Buffer | undefined): VerifiedRange {
    const path = this.#path(table, (bytes) => (key === undefined ? 0 : childIndex(bytes, key)))
    return path === undefined ? { previous: undefined, next: undefined } : this.#around(path, 1)
  }

  /** Verifies the path to the last key of the table, as `reach` does for a key. */
  reachEnd(table: string): VerifiedRange {
    const path = this.#path(table, lastIndex)
    return path === undefined ? { previous: undefined, next: undefined } : this.#around(path, 1)
  }

  /**
   * Verifies the pages that lmdb may read or change to remove a key. lmdb merges nearly empty pages with their
   * neighbors, so every removal in a transaction can affect one more leaf.
   */
  reachForRemoval(table: string, key: Buffer): void {
    const path = this.#path(table, (bytes) => childIndex(bytes, key))
    if (path === undefined) return
    this.#removals++
    this.#around(path, this.#removals + 1)
    // lmdb reads the first key below both neighbors when it merges branch pages.
    for (const [i, { bytes, bounds, isOld, index }] of path.steps.entries())
      for (const sibling of [index - 1, index + 1])
        if (sibling >= 0 && sibling < recordCount(bytes))
          this.#descend(
            { table, depth: path.depth },
            { steps: path.steps.slice(0, i), at: { bytes, bounds, isOld, index: sibling } },
            firstIndex,
          )
  }

  /** Verifies the given number of leaves on each side of a path. */
  #around(path: Path, count: number): VerifiedRange {
    const previous = this.#neighbor(path, count, -1)
    const next = this.#neighbor(path, count, 1)
    return {
      previous: previous && keyAt(previous, recordCount(previous) - 1),
      next: next && keyAt(next, 0),
    }
  }

  /** Verifies leaves in one direction. Returns the content of the nearest leaf. */
  #neighbor(path: Path, count: number, direction: 1 | -1): Buffer | undefined {
    let nearest: Buffer | undefined
    let at: Path | undefined = path
    for (let i = 0; i < count; i++) {
      at = this.#nextPath(at, direction)
      if (at === undefined) break
      if (i === 0) nearest = this.#read(at.leaf.page)
    }
    return nearest
  }

  #nextPath({ table, depth, steps }: Path, direction: 1 | -1): Path | undefined {
    for (let i = steps.length - 1; i >= 0; i--) {
      const step = steps[i]!
      const index = step.index + direction
      if (index >= 0 && index < recordCount(step.bytes))
        return this.#descend(
          { table, depth },
          { steps: steps.slice(0, i), at: { ...step, index } },
          direction === 1 ? firstIndex : lastIndex,
        )
    }
    return undefined
  }

  /** Returns the path to a leaf, or undefined if the table is empty or does not exist yet. */
  #path(table: string, choose: (bytes: Buffer) => number): Path | undefined {
    const tree = this.#tree(table)
    if (tree?.root === undefined) return undefined
    const root = { page: tree.root, bounds: unbounded, isBelowOld: false }
    if (tree.depth <= 1) {
      this.#verifyLeaf(table, root)
      return { table, depth: tree.depth, steps: [], leaf: root }
    }
    const bytes = this.#verifyBranch(table, root)
    const at = { bytes, bounds: unbounded, isOld: this.#isOld(tree.root), index: choose(bytes) }
    return this.#descend({ table, depth: tree.depth }, { steps: [], at }, choose)
  }

  /** Verifies the pages from a branch page down to a leaf. */
  #descend(
    { table, depth }: Pick<Path, 'table' | 'depth'>,
    { steps: above, at }: { steps: readonly Step[]; at: Step },
    choose: (bytes: Buffer) => number,
  ): Path {
    const steps = [...above, at]
    for (;;) {
      const { bytes, bounds, isOld, index } = steps.at(-1)!
      const page = childAt(bytes, index)
      const child = { page, bounds: boundsOfChild(bytes, index, bounds), isBelowOld: isOld }
      if (steps.length + 1 >= depth) {
        this.#verifyLeaf(table, child)
        return { table, depth, steps, leaf: child }
      }
      const content = this.#verifyBranch(table, child)
      steps.push({ bytes: content, bounds: child.bounds, isOld: this.#isOld(page), index: choose(content) })
    }
  }

  #verifyBranch(table: string, position: Position): Buffer {
    const { page, bounds } = position
    const isOld = this.#assertUse(position)
    const bytes = this.#read(page)
    if (!isOld || this.facts[page] === pageFacts.verified) return bytes
    assertHeader(bytes, page, this.meta.transaction)
    assertBranch(bytes, { page, table, isLeaf: false, bounds })
    this.facts[page] = pageFacts.verified
    return bytes
  }

  #verifyLeaf(table: string, position: Position): void {
    const { page, bounds } = position
    const isOld = this.#assertUse(position)
    // Skip the long records of a new leaf. They were verified together with the old leaf that first referred to them.
    if (!isOld || this.facts[page] === pageFacts.verified) return
    const bytes = this.#read(page)
    assertHeader(bytes, page, this.meta.transaction)
    assertLeaf(bytes, { page, table, isLeaf: true, bounds }, (leaf) => {
      const long = longRecordOf(leaf, this.meta)
      if (long !== undefined) this.#verifyLong(long.page, long.count)
    })
    this.facts[page] = pageFacts.verified
  }

  #verifyLong(page: number, count: number): void {
    for (let i = page; i < page + count; i++)
      assertSound(this.facts[i] !== pageFacts.free, () => `page ${i} is used twice`)
    const bytes = this.#read(page)
    assertHeader(bytes, page, this.meta.transaction)
    assertSound(longRecordPages(bytes) === count, () => `page ${page} has an unexpected type`)
  }

  /**
   * Throws Damage if a page is not used as expected. Returns whether the page already existed when the file was opened.
   */
  #assertUse({ page, isBelowOld }: Position): boolean {
    const isOld = this.#isOld(page)
    assertSound(
      page >= 2 && (!isBelowOld || page <= this.meta.lastPage),
      () => `it refers to page ${page}, which does not exist`,
    )
    assertSound(isOld || !isBelowOld, () => `page ${page} is used twice`)
    return isOld
  }

  #isOld(page: number): boolean {
    return page <= this.meta.lastPage && this.facts[page] !== pageFacts.free
  }

  /**
   * Returns the newest tree of a table. Its pages either existed when the file was opened, or were written from
   * verified pages.
   */
  #tree(table: string): Tree | undefined {
    const meta = readMeta(this.#descriptor)
    if (meta === undefined) throw new Damage('its first two pages are invalid')
    if (this.#trees?.transaction !== meta.transaction) {
      this.#trees = { transaction: meta.transaction, byName: this.#readTrees(meta) }
      this.#removals = 0
    }
    return this.#trees.byName.get(table)
  }

  #readTrees({ main }: Meta): ReadonlyMap<string, Tree> {
    const trees = new Map<string, Tree>()
    const visit = (page: number, depth: number): void => {
      const bytes = this.#read(page)
      if (depth < main.depth) for (let i = 0; i < recordCount(bytes); i++) visit(childAt(bytes, i), depth + 1)
      else
        assertLeaf(bytes, { page, table: 'of tables', isLeaf: true, bounds: unbounded }, ({ key, data }) => {
          // lmdb-js appends a NUL to the names of tables.
          trees.set(key.toString('latin1').replace('\0', ''), readTree(data, 0))
        })
    }
    if (main.root !== undefined) visit(main.root, 1)
    return trees
  }

  #read(page: number): Buffer {
    const { pageSize } = this.meta
    return readAt(this.#descriptor, page * pageSize, Buffer.allocUnsafeSlow(pageSize))
  }
}

function firstIndex(): number {
  return 0
}

function lastIndex(bytes: Buffer): number {
  return recordCount(bytes) - 1
}

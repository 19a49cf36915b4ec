/**
 * Reserves space in the data file before lmdb needs it. lmdb 3.5.6 corrupts its own memory when a data write fails,
 * because it formats the error into a buffer that is too short. lmdb must therefore never encounter a failing disk.
 * This module extends the file before lmdb writes to it. If the disk is full, the result is then an ordinary error.
 * Before each transaction, it also writes a page after the used pages, to detect a file system that rejects all writes
 * (shut down, read-only, over quota). lmdb has its own count of pages and ignores the additional pages. The only
 * remaining case is a disk that starts to fail within the same millisecond (`damaged-memory.ts`).
 *
 * If the file cannot grow, a transaction can use the free pages inside the file, provided that they are certain to
 * suffice (`free-list.ts`). The last pages of the file are reserved for transactions that free pages. Such a
 * transaction uses few of them. Two transactions later, the pages that it freed can be used.
 *
 * `begin` must be called before each transaction and `take` for each of its writes. Only a write that lacks space is
 * rejected.
 */

import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { isError } from '../../../base/text/errors.ts'
import { StoreError, StoreFull } from '../store.ts'
import { type FreeList, readFreeList } from './free-list.ts'
import { pageHeader } from './page-file.ts'
import type { Tables } from './tables.ts'

const pageSize = 4096
const growthPages = 256
const zeros = Buffer.alloc(growthPages * pageSize)

/** Upper bound for the number of pages that a write allocates. */
export interface Need {
  readonly pages: number
  /** The largest number of consecutive pages that the write needs. */
  readonly maxRun: number
}

/** Number of pages that every transaction, even a small one, allocates for lmdb's own trees. */
const overheadPages = 32
/** Number of pages on the paths to the records of a change, in all tables. */
const pagesPerChange = 12
/**
 * Number of pages on the paths to the records of a change without a log record. Such a change affects only the table
 * `current`.
 */
const pagesPerRemoval = 6
/** Number of additional pages for each reserved key. Reserved keys share most of their pages with other keys. */
const pagesPerClaim = 4
/** Number of additional pages for each reservation that is released without a log record. */
const pagesPerRelease = 2

/**
 * Returns the number of pages that a logged change needs. `replacedBytes` is the size of the value that moves to the
 * log.
 */
export function needOfChange(valueBytes: number, replacedBytes: number, claims = 0): Need {
  const value = pagesOf(valueBytes)
  const replaced = pagesOf(replacedBytes + recordBytes)
  const pages = value + replaced + pagesPerChange + claims * pagesPerClaim
  return { pages, maxRun: Math.max(value, replaced) }
}

/** Returns the number of pages needed to delete a key or record without logging the deletion. */
export function needOfRemoval(claims = 0): Need {
  return { pages: pagesPerRemoval + claims * pagesPerRelease, maxRun: 1 }
}

/** Size in bytes of a record without its value. Assumes the longest possible key. */
const recordBytes = 1100

function pagesOf(bytes: number): number {
  return Math.ceil((bytes + pageHeader) / pageSize)
}

/**
 * Returns the number of pages to reserve at the end of the file. The reserve grows with the file, just as lmdb's list
 * of free pages does.
 */
function sparedPages(used: number): number {
  return Math.max(256, Math.ceil(used / 32))
}

/** Maximum number of reserved pages that a transaction can use, unless a single change needs more. */
const sparedPagesAtOnce = 64

/**
 * Returns the number of pages that must be available at the end of the file, because lmdb may not find its own free
 * pages while it saves their list.
 */
function pagesToSaveList(free: FreeList): number {
  return 16 + 2 * free.pages
}

export class DiskReservation {
  readonly #tables: Tables
  readonly #pinned: () => number | undefined
  readonly #file: number
  /** Size of the data file in pages, like all sizes in this class. */
  #size: number
  #used = 0
  /** Upper bound for the number of pages that the current transaction allocates. */
  #pages = 0
  #maxRun = 1
  /** The free pages inside the file. Undefined unless the file could not grow in this transaction. */
  #free: FreeList | undefined

  /**
   * Opens the data file. `pinned` returns the oldest transaction whose state is still being read, or undefined if
   * nothing older than the last transaction is being read.
   */
  constructor(tables: Tables, path: string, pinned: () => number | undefined = () => undefined) {
    this.#tables = tables
    this.#pinned = pinned
    this.#file = openSync(path, 'r+')
    this.#size = wholePages(this.#file)
  }

  /** Starts a transaction. Throws an error if no data at all can be written to the file. */
  begin(): void {
    this.#used = usedPages(this.#tables)
    this.#tryPage()
    this.#pages = overheadPages
    this.#maxRun = 1
    this.#free = undefined
  }

  /**
   * Whether the transaction can allocate the given number of additional pages. If `frees` is set, the transaction can
   * use part of the reserve.
   */
  take(need: Need, { frees }: { frees: boolean }): boolean {
    const pages = this.#pages + need.pages
    const maxRun = Math.max(this.#maxRun, need.maxRun)
    if (!this.#fitsBehind(pages) && !this.#fitsInside({ pages, maxRun, frees })) return false
    this.#pages = pages
    this.#maxRun = maxRun
    return true
  }

  close(): void {
    closeSync(this.#file)
  }

  /**
   * Whether the pages fit at the end of the file without using the reserve. Extends the file if necessary and possible.
   */
  #fitsBehind(pages: number): boolean {
    const neededPages = this.#used + pages + sparedPages(this.#used)
    if (this.#size < neededPages && this.#free === undefined) this.#grow(neededPages)
    return this.#size >= neededPages
  }

  /** Whether the pages fit into the free pages inside the file and the unused pages at its end. */
  #fitsInside({ pages, maxRun, frees }: Need & { frees: boolean }): boolean {
    this.#free ??= readFreeList(this.#file, this.#pinned())
    const behind = this.#size - this.#used
    const inside = this.#free.usable(maxRun)
    const single = this.#pages === overheadPages
    if (frees) return pages <= inside + (single ? behind : Math.min(behind, sparedPagesAtOnce))
    const ordinary = Math.max(0, behind - sparedPages(this.#used))
    return pages <= inside + ordinary && behind >= pagesToSaveList(this.#free)
  }

  /** Tests whether the file can be written, by writing to its last page unless lmdb already uses that page. */
  #tryPage(): void {
    if (this.#size <= this.#used) return
    const error = this.#write(this.#size - 1, 1)
    if (error !== undefined) throw new StoreFull(`no room for data: ${error.message}`, { cause: error })
  }

  /** Extends the file somewhat beyond the given size, or as far as possible. */
  #grow(neededPages: number): void {
    while (this.#size < neededPages + growthPages) {
      const full = this.#write(this.#size, growthPages) !== undefined
      this.#size = full ? wholePages(this.#file) : this.#size + growthPages
      if (full) return
    }
  }

  /**
   * Writes zeros to pages. Returns an error if there is not enough space, even if part of the data was written. Any
   * other error is thrown and prevents all further writes.
   */
  #write(page: number, count: number): Error | undefined {
    const position = page * pageSize
    const length = count * pageSize
    try {
      for (let done = 0; done < length; ) done += writeSync(this.#file, zeros, done, length - done, position + done)
      return undefined
    } catch (error) {
      if (isFull(error)) return error
      throw new StoreError(`cannot write the data file: ${(error as Error).message}`, { cause: error })
    }
  }
}

function wholePages(file: number): number {
  return Math.floor(fstatSync(file).size / pageSize)
}

function isFull(error: unknown): error is Error {
  return isError(error) && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}

function usedPages({ root }: Tables): number {
  const { env } = root as unknown as { env: { info(): { lastPageNumber: number } } }
  return env.info().lastPageNumber + 1
}

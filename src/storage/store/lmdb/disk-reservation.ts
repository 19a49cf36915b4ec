/**
 * Room in the data file, taken before it is needed. lmdb 3.5.6 corrupts its own memory when a write of data fails
 * (it formats the error into too short a buffer), so a disk that refuses must never reach it. The file is made longer
 * here first, where having no room is an error like any other; and before each transaction a page past those in use is
 * written, so that a file system that takes no writes any more (shut down, read-only, out of quota) shows it here.
 * lmdb keeps its own count of pages and does not mind. What is left to lmdb is a disk that begins to refuse within
 * the same millisecond (`damaged-memory.ts`).
 *
 * Where the file cannot grow, a transaction may use the free pages inside it, as far as they are certain to suffice
 * (`free-list.ts`). The end of the file is spared for what frees pages, and little of it is used at a time: two
 * transactions later there are free pages inside, and what lmdb has once used never lies behind again.
 *
 * `begin` comes before each transaction, then `take` for each of its writes: a write without room is refused alone.
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

/** What a write allocates at most. */
export interface Need {
  readonly pages: number
  /** The longest row of pages among them. */
  readonly longest: number
}

/** What any transaction allocates, however little it changes: the trees of lmdb itself. */
const overheadPages = 32
/** The pages on the way to the records of a change, in all tables. */
const pagesPerChange = 12
/** The same where only `current` changes. */
const pagesPerRemoval = 6
/** The same of a claim, which shares most of them with others. */
const pagesPerClaim = 4
/** The same of a claim that is released without a trace in the log. */
const pagesPerRelease = 2

/** `replacedBytes`: the value that goes into the log. */
export function needOfChange(valueBytes: number, replacedBytes: number, claims = 0): Need {
  const [value, replaced] = [pagesOf(valueBytes), pagesOf(replacedBytes + recordBytes)]
  const pages = value + replaced + pagesPerChange + claims * pagesPerClaim
  return { pages, longest: Math.max(value, replaced) }
}

/** That of a key or record that is deleted without a trace in the log. */
export function needOfRemoval(claims = 0): Need {
  return { pages: pagesPerRemoval + claims * pagesPerRelease, longest: 1 }
}

/** What a record has beside its value, the longest key included. */
const recordBytes = 1100

function pagesOf(bytes: number): number {
  return Math.ceil((bytes + pageHeader) / pageSize)
}

/** What is spared grows with the file, as does lmdb's list of free pages. */
function sparedPages(used: number): number {
  return Math.max(256, Math.ceil(used / 32))
}

/** How much of it a transaction may use, unless a single change needs more. */
const sparedPagesAtOnce = 64

/** lmdb may miss its own free pages while it saves the list of them: so much must then lie behind those in use. */
function pagesToSaveList(free: FreeList): number {
  return 16 + 2 * free.pages
}

export class DiskReservation {
  readonly #tables: Tables
  readonly #file: number
  /** All of these are pages. */
  #size: number
  #used = 0
  /** What this transaction allocates at most. */
  #pages = 0
  #longest = 1
  /** Set once the file could not grow in this transaction. */
  #free: FreeList | undefined

  constructor(tables: Tables, path: string) {
    this.#tables = tables
    this.#file = openSync(path, 'r+')
    this.#size = wholePages(this.#file)
  }

  /** A transaction begins. Throws where the file cannot be written at all. */
  begin(): void {
    this.#used = usedPages(this.#tables)
    this.#tryPage()
    this.#pages = overheadPages
    this.#longest = 1
    this.#free = undefined
  }

  /** Whether the transaction may allocate so much more. `frees`: it may use part of what is spared. */
  take(need: Need, { frees }: { frees: boolean }): boolean {
    const pages = this.#pages + need.pages
    const longest = Math.max(this.#longest, need.longest)
    if (!this.#fitsBehind(pages) && !this.#fitsInside({ pages, longest, frees })) return false
    this.#pages = pages
    this.#longest = longest
    return true
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Whether there is room behind the pages in use, without what is spared; the file grows if it can. */
  #fitsBehind(pages: number): boolean {
    const wanted = this.#used + pages + sparedPages(this.#used)
    if (this.#size < wanted && this.#free === undefined) this.#grow(wanted)
    return this.#size >= wanted
  }

  /** Whether the free pages inside the file suffice, together with what may be used behind those in use. */
  #fitsInside({ pages, longest, frees }: Need & { frees: boolean }): boolean {
    this.#free ??= readFreeList(this.#file)
    const behind = this.#size - this.#used
    const inside = this.#free.usable(longest)
    const single = this.#pages === overheadPages
    if (frees) return pages <= inside + (single ? behind : Math.min(behind, sparedPagesAtOnce))
    const ordinary = Math.max(0, behind - sparedPages(this.#used))
    return pages <= inside + ordinary && behind >= pagesToSaveList(this.#free)
  }

  /** Writes the last page of the file, unless lmdb has come to use that one. */
  #tryPage(): void {
    if (this.#size <= this.#used) return
    const error = this.#write(this.#size - 1, 1)
    if (error !== undefined) throw new StoreFull(`no room for data: ${error.message}`, { cause: error })
  }

  /** Makes the file somewhat longer than that, or as long as it can be. */
  #grow(wanted: number): void {
    while (this.#size < wanted + growthPages) {
      const full = this.#write(this.#size, growthPages) !== undefined
      this.#size = full ? wholePages(this.#file) : this.#size + growthPages
      if (full) return
    }
  }

  /**
   * Gives the error when there is no room, which may be only for a part of it; any other error is the end of writing.
   */
  #write(page: number, count: number): Error | undefined {
    const [position, length] = [page * pageSize, count * pageSize]
    try {
      for (let done = 0; done < length; ) done += writeSync(this.#file, zeros, done, length - done, position + done)
      return undefined
    } catch (error) {
      if (isFull(error)) return error
      throw new StoreError(`the data file cannot be written: ${(error as Error).message}`, { cause: error })
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

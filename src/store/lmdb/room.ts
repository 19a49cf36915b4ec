/**
 * Room in the data file, taken before it is needed. lmdb 3.5.6 corrupts its own memory when a write of data fails
 * (it formats the error into too short a buffer), so a disk that refuses must never reach it. The file is made longer
 * here first, where having no room is an error like any other; and before each transaction a page past those in use is
 * written, so that a file system that takes no writes any more (shut down, read-only, out of quota) shows it here.
 * lmdb keeps its own count of pages and does not mind. What is left to lmdb is a disk that begins to refuse within
 * the same millisecond.
 * Some room is spared for deletions and compaction, which are what makes room again.
 *
 * `begin` comes before each transaction, then `take` for each of its writes: a write without room is refused alone.
 */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { StoreError, StoreFull } from '../store.ts'
import type { Tables } from './tables.ts'

export const pageSize = 4096
const spareBytes = 1024 * 1024
const zeros = Buffer.alloc(1024 * 1024)

/** What any transaction writes, however little it changes: the trees of lmdb itself. */
const overhead = 64 * pageSize

/** What a change writes: the value that it puts, the one that it replaces, and the pages on the way to its records. */
export function bytesNeeded(valueBytes: number, replacedBytes: number): number {
  return valueBytes + replacedBytes + 8 * pageSize
}

export class Room {
  readonly #tables: Tables
  readonly #file: number
  #size: number
  /** What the pages in use and this transaction come to. */
  #taken = 0
  /** How much lies free between the pages in use; looked at only while the file cannot grow. */
  #between = 0
  #tight = false

  constructor(tables: Tables, path: string) {
    this.#tables = tables
    this.#file = openSync(path, 'r+')
    this.#size = fstatSync(this.#file).size
  }

  /** A transaction begins. Throws where the file cannot be written at all. */
  begin(): void {
    const used = usedBytes(this.#tables)
    this.#tryPage(used)
    this.#taken = used + overhead
    this.#between = this.#tight ? freeBytes(this.#tables) / usableShare : 0
  }

  /** Whether the transaction may write so many bytes more. `frees`: it may use what is spared. */
  take(bytes: number, { frees }: { frees: boolean }): boolean {
    const wanted = this.#taken + bytes + (frees ? 0 : spareBytes)
    if (this.#size < wanted) this.#grow(wanted + zeros.length)
    if (this.#size + this.#between < wanted) return false
    this.#taken += bytes
    return true
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Writes the last page of the file, unless lmdb has come to use that one. */
  #tryPage(used: number): void {
    const last = this.#size - pageSize
    if (last < used) return
    const error = this.#write(last, pageSize)
    if (error !== undefined) throw new StoreFull(`no room for data: ${error.message}`, { cause: error })
  }

  #grow(size: number): void {
    this.#tight = false
    while (this.#size < size && !this.#tight) {
      this.#tight = this.#write(this.#size, zeros.length) !== undefined
      this.#size = this.#tight ? fstatSync(this.#file).size : this.#size + zeros.length
    }
  }

  /**
   * Gives the error when there is no room, which may be only for a part of it; any other error is the end of writing.
   */
  #write(position: number, length: number): Error | undefined {
    try {
      for (let done = 0; done < length; ) done += writeSync(this.#file, zeros, done, length - done, position + done)
      return undefined
    } catch (error) {
      if (isFull(error)) return error
      throw new StoreError(`the data file cannot be written: ${(error as Error).message}`, { cause: error })
    }
  }
}

function isFull(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}

function usedBytes({ root }: Tables): number {
  const { env } = root as unknown as { env: { info(): { lastPageNumber: number } } }
  return (env.info().lastPageNumber + 1) * pageSize
}

/** Large values need pages that lie together, and pages just freed are not used at once: count on this part of them. */
const usableShare = 4

// lmdb returns these, but does not declare them.
interface Tree {
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface Stats extends Tree {
  readonly root: Tree
  readonly free: Tree
}

/** What lies free inside the file: all pages less those of the tables, of the two own trees of lmdb, and of meta. */
function freeBytes(tables: Tables): number {
  const { root, current, history, log, expiry, meta } = tables
  const stats = [current, history, log, expiry, meta].map((table) => table.getStats() as Stats)
  root.resetReadTxn()
  const trees = [...stats, stats[0]!.root, stats[0]!.free]
  const held = trees.reduce(
    (sum, tree) => sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages,
    2,
  )
  return Math.max(0, usedBytes(tables) - held * pageSize)
}

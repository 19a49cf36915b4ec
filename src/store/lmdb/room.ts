/**
 * Room in the data file, taken before it is needed. lmdb 3.5.6 corrupts its own memory when a write of data fails
 * (it formats the error into too short a buffer), so a disk that refuses must never reach it. The file is made longer
 * here first, where having no room is an error like any other; and before each transaction a page past those in use is
 * written, so that a file system that takes no writes any more (shut down, read-only, out of quota) shows it here.
 * lmdb keeps its own count of pages and does not mind. What is left to lmdb is a disk that begins to refuse within
 * the same millisecond.
 * Some room is spared for deletions and compaction, which are what makes room again.
 */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { StoreError, StoreFull } from '../store.ts'
import type { Tables } from './tables.ts'

const pageSize = 4096
const spareBytes = 1024 * 1024
const zeros = Buffer.alloc(1024 * 1024)

/** What a commit may write: its value twice (now, and in history later), and the pages on the way to its records. */
export function bytesNeeded(writes: number, valueBytes: number): number {
  return 2 * valueBytes + (64 + 8 * writes) * pageSize
}

export class Room {
  readonly #tables: Tables
  readonly #file: number
  #size: number

  constructor(tables: Tables, path: string) {
    this.#tables = tables
    this.#file = openSync(path, 'r+')
    this.#size = fstatSync(this.#file).size
  }

  /** Throws StoreFull unless a transaction that writes this much has room. `frees`: it may use what is spared. */
  ensure(bytes: number, { frees }: { frees: boolean }): void {
    const used = usedBytes(this.#tables)
    this.#tryPage(used)
    const wanted = used + bytes + spareBytes
    if (this.#size >= wanted) return
    this.#grow(wanted + zeros.length)
    const free = this.#size - used + freeBytes(this.#tables) / usableShare
    if (free < (frees ? bytes : bytes + spareBytes)) throw new StoreFull(`no room for ${bytes} bytes of data`)
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
    while (this.#size < size) {
      if (this.#write(this.#size, zeros.length) === undefined) this.#size += zeros.length
      else size = this.#size = fstatSync(this.#file).size
    }
  }

  /** Gives the error when there is no room, which may be only for a part of it; any other error is the end of writing. */
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

// lmdb tells these, but does not declare them.
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

/**
 * Room in the data file, taken before it is needed. lmdb 3.5.6 corrupts its own memory when a write of data fails
 * (it formats the error into too short a buffer), so a full disk must never reach it: the file is made longer here
 * first, where having no room is an error like any other. lmdb keeps its own count of pages and does not mind.
 * Some room is spared for deletions and compaction, which are what makes room again.
 */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { StoreFull } from '../store.ts'
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
    const wanted = used + bytes + spareBytes
    if (this.#size >= wanted) return
    this.#grow(wanted + zeros.length)
    if (this.#size < (frees ? used + bytes : wanted)) throw new StoreFull(`no room for ${bytes} bytes of data`)
  }

  close(): void {
    closeSync(this.#file)
  }

  #grow(size: number): void {
    try {
      while (this.#size < size) this.#size += writeSync(this.#file, zeros, 0, zeros.length, this.#size)
    } catch (error) {
      if (!isFull(error)) throw error
      this.#size = fstatSync(this.#file).size
    }
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}

// lmdb tells this, but does not declare it.
function usedBytes({ root }: Tables): number {
  const { env } = root as unknown as { env: { info(): { lastPageNumber: number } } }
  return (env.info().lastPageNumber + 1) * pageSize
}

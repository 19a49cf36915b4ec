/**
 * Loads entries into an empty directory of the embedded store, in the calling process. No server can use the directory
 * in the meantime. Entries keep their revisions. The log is not loaded, so no revision before the load can be read.
 */
import { join } from 'node:path'
import { assertKey } from '../key.ts'
import { type Revision, StoreError, StoreFull } from '../store.ts'
import { type Load, type LoadedEntry, readProgress, type StoreLoader, writeProgress } from '../store-load.ts'
import { checkDirectory, makeDirectory } from './directory.ts'
import { lockDirectory } from './directory-lock.ts'
import { DiskReservation, type Need, needOfChange, needOfRemoval } from './disk-reservation.ts'
import { checkPages } from './page-check.ts'
import {
  dueKey,
  openUnfinished,
  readState,
  remove,
  type Tables,
  unfinishedKey,
  write,
  writeHeld,
  writeState,
} from './tables.ts'

/** Starts loading the directory. Throws StoreError if the directory is in use or already contains data. */
export async function loadDirectory(directory: string, load: Load): Promise<StoreLoader> {
  await makeDirectory(directory)
  const release = await lockDirectory(directory)
  try {
    await checkDirectory(directory)
    checkPages(join(directory, 'data.mdb'))
    const tables = openUnfinished(directory)
    try {
      return new DirectoryLoading(tables, { directory, load, release })
    } catch (error) {
      await tables.root.close()
      throw error
    }
  } catch (error) {
    release()
    throw error
  }
}

const clearedAtOnce = 1000
/** Disk space to reserve for the mark of an unfinished load and for the store's state. */
const markNeed = needOfChange(1000, 0)

interface Place {
  readonly directory: string
  readonly load: Load
  readonly release: () => void
}

class DirectoryLoading implements StoreLoader {
  done: number
  readonly #tables: Tables
  readonly #place: Place
  readonly #room: DiskReservation

  constructor(tables: Tables, place: Place) {
    this.#tables = tables
    this.#place = place
    this.#room = new DiskReservation(tables, join(place.directory, 'data.mdb'))
    try {
      this.done = this.#begin()
    } catch (error) {
      this.#room.close()
      throw error
    }
  }

  async write(entries: readonly LoadedEntry[]): Promise<void> {
    const done = this.done + entries.length
    const needs = entries.map(({ value }) => needOfChange(value.length, 0))
    this.#transact([markNeed, ...needs], () => {
      for (const entry of entries) this.#put(entry)
      write(this.#tables.meta, unfinishedKey, writeProgress({ id: this.#place.load.id, done }))
    })
    this.done = done
  }

  async finish(): Promise<Revision> {
    const revision = this.#place.load.above + 1
    const { meta } = this.#tables
    this.#transact([markNeed], () => {
      writeState(meta, { ...readState(meta), revision, oldest: revision })
      remove(meta, unfinishedKey)
    })
    return revision
  }

  async close(): Promise<void> {
    this.#room.close()
    await this.#tables.root.close()
    this.#place.release()
  }

  /** Marks the directory as unfinished and returns the number of entries that are already loaded. */
  #begin(): number {
    const { meta } = this.#tables
    const { directory, load } = this.#place
    const mark = meta.get(unfinishedKey)
    if (mark === undefined && readState(meta).revision > 1)
      throw new StoreError(`${directory} already contains data: choose a new directory, or move the data away`)
    const before = mark === undefined ? undefined : readProgress(mark.toString())
    if (before?.id === load.id) return before.done
    this.#transact([markNeed], () => write(meta, unfinishedKey, writeProgress({ id: load.id, done: 0 })))
    while (this.#clear(this.#tables.current) || this.#clear(this.#tables.expiry));
    return 0
  }

  /**
   * Removes some of the entries that an interrupted load of other data has left. Returns false if there are no such
   * entries.
   */
  #clear(table: Tables['current']): boolean {
    const keys = [...table.getKeys({ limit: clearedAtOnce })].map((key) => Buffer.from(key))
    if (keys.length === 0) return false
    const needs = keys.map(() => needOfRemoval())
    this.#transact(needs, () => {
      for (const key of keys) remove(table, key)
    })
    return true
  }

  /** Reserves disk space before lmdb needs it (see disk-reservation.ts). */
  #transact(needs: readonly Need[], change: () => void): void {
    this.#room.begin()
    if (!needs.every((need) => this.#room.take(need, { frees: false })))
      throw new StoreFull(`no room in ${this.#place.directory}: free some space, then run the same command again`)
    this.#tables.root.transactionSync(change)
    this.#tables.root.resetReadTxn()
  }

  #put({ key, revision, value, lifetimeSeconds }: LoadedEntry): void {
    assertKey(key)
    const bytes = Buffer.from(key)
    const record = Buffer.concat([Buffer.alloc(8), value])
    writeHeld(record, bytes, revision)
    write(this.#tables.current, bytes, record)
    if (lifetimeSeconds !== undefined)
      write(this.#tables.expiry, dueKey(Date.now() + 1000 * lifetimeSeconds, revision), bytes)
  }
}

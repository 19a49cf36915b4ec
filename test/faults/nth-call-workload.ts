/**
 * A program in which some disk calls fail. A few writers share one store and continue after a failure. The program
 * writes the outcome of each commit as a line to the outcome file before the writer continues. The last line contains
 * the readable data. `nth-call-workload.ts <data directory> <outcome file>`
 */
import { openSync, writeSync } from 'node:fs'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { type Key, StoreError } from '../../src/storage/store/store.ts'

/** A line of the outcome file. */
export type Line =
  | { readonly key: Key; readonly outcome: 'begun' | 'committed' | 'refused' | 'ambiguous' }
  /** Keys in the store. Undefined if the store rejects reads. */
  | { readonly visible?: readonly Key[] }
  /** Reason why the store could not be opened. */
  | { readonly unopened: string }

const writers = 4
const commitsPerWriter = 20

async function run(directory: string, tell: (line: Line) => void): Promise<void> {
  let store: LmdbStore
  try {
    store = await LmdbStore.open({ directory, onFailed: () => {} })
  } catch (error) {
    return tell({ unopened: storeError(error).message })
  }
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(store, `writer/${writer}/`, tell)))
  const visible = await store.list({ prefix: '' }).catch((error) => void storeError(error))
  tell(visible ? { visible: visible.entries.map(({ key }) => key) } : {})
  await store.close()
}

async function write(store: LmdbStore, prefix: string, tell: (line: Line) => void): Promise<void> {
  for (let i = 0; i < commitsPerWriter; i++) {
    const key = `${prefix}${i}`
    tell({ key, outcome: 'begun' })
    const value = Buffer.alloc(i % 5 === 0 ? 40_000 : 400, key)
    const outcome = await store.commit({ key, expected: 0, value }).then(
      () => 'committed' as const,
      (error) => (storeError(error).ambiguous ? 'ambiguous' : 'refused'),
    )
    tell({ key, outcome })
  }
}

/** Returns the error if it is a StoreError. Throws any other error, because such an error is a bug in the program. */
function storeError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  throw error
}

const [directory, outcomes] = process.argv.slice(2)
if (directory && outcomes) {
  const file = openSync(outcomes, 'a')
  await run(directory, (line) => writeSync(file, `${JSON.stringify(line)}\n`))
}

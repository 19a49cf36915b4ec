/**
 * The program whose disk fails. Writes one key while the disk is working, ten keys while it is failing, and one key
 * after it has recovered. Prints the outcome of each write as JSON: `failing-workload.ts <data directory> <control
 * file> <letter> <error number> <bytes per value>`
 */
import { rmSync, writeFileSync } from 'node:fs'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { StoreError } from '../../src/storage/store/store.ts'

export interface Outcomes {
  readonly before: string
  readonly during: readonly string[]
  readonly visibleDuring: readonly string[]
  readonly after: string
  readonly visibleAfter: readonly string[]
  /** Keys of the changes that a watch received. */
  readonly watched: readonly string[]
  /** Reason why the store stopped writing. Undefined if the store has not stopped. */
  readonly failed: string | undefined
}

async function run(directory: string, control: string, failure: string): Promise<Outcomes> {
  let failed: string | undefined
  const store = await LmdbStore.open({
    directory,
    onFailed: ({ message }) => {
      failed = message
    },
  })
  const watch = new AbortController()
  const watched = collect(store, watch.signal)
  const before = await commit(store, 'before')
  writeFileSync(control, failure)
  const during = await Promise.all(Array.from({ length: 10 }, (_, i) => commit(store, `during/${i}`)))
  const visibleDuring = await keys(store)
  rmSync(control)
  const after = await commit(store, 'after')
  const visibleAfter = await keys(store)
  watch.abort()
  await store.close()
  return { before, during, visibleDuring, after, visibleAfter, watched: await watched, failed }
}

async function commit(store: LmdbStore, key: string): Promise<string> {
  try {
    return (await store.commit({ key, expected: 0, value: Buffer.alloc(Number(bytesPerValue), key) })).outcome
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return error.ambiguous ? `${error.name} (ambiguous)` : error.name
  }
}

async function keys(store: LmdbStore): Promise<string[]> {
  try {
    return (await store.list({ prefix: '' })).entries.map((entry) => entry.key)
  } catch (error) {
    if (error instanceof StoreError) return ['refused']
    throw error
  }
}

async function collect(store: LmdbStore, signal: AbortSignal): Promise<string[]> {
  const seen: string[] = []
  for await (const { changes } of store.watch({ prefix: '', after: 1, signal }))
    seen.push(...changes.map((change) => change.key))
  return seen
}

const [directory, control, letter, number, bytesPerValue] = process.argv.slice(2)
if (directory && control) console.log(JSON.stringify(await run(directory, control, `${letter} ${number}`)))

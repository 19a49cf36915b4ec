/**
 * The program whose disk writes are recorded. A few writers share one store, with occasional compaction and a journal
 * that retains part of the history. The program writes one line to the acknowledgement file for each acknowledged
 * commit, before the writer continues. `crash-workload.ts <data directory> <acknowledgement file> <seed>`
 */
import { openSync, writeSync } from 'node:fs'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import type { Key, Retention, Revision } from '../../src/storage/store/store.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'

export interface Acknowledged {
  readonly revision: Revision
  readonly key: Key
  /** The value, or undefined for a deletion. */
  readonly value?: string
}

const writers = 4
const commitsPerWriter = 100
const keysPerWriter = 12
/** The limit is so low that part of the journal is dropped. For one of the writers, the journal retains no values. */
const retention: Retention = { time: 3_600_000, bytes: 100_000, withoutValues: ['writer/0/'] }

async function writeSome(
  store: LmdbStore,
  name: number,
  random: RandomSource,
  acknowledge: (ack: Acknowledged) => void,
) {
  const held = new Map<Key, Revision>()
  for (let i = 0; i < commitsPerWriter; i++) {
    const key = `writer/${name}/${random.below(keysPerWriter)}`
    const deletes = held.has(key) && random.chance(0.3)
    const value = deletes ? undefined : `${name}.${i}.`.repeat(1 + random.below(random.chance(0.1) ? 3000 : 200))
    const outcome = await store.commit({
      key,
      expected: held.get(key) ?? 0,
      value: value === undefined ? value : Buffer.from(value),
      note: { time: Date.now(), text: Buffer.from(`${name}.${i}`) },
    })
    if (outcome.outcome === 'conflict') throw new Error(`nobody else writes ${key}`)
    acknowledge({ revision: outcome.revision, key, ...(value === undefined ? {} : { value }) })
    if (deletes) held.delete(key)
    else held.set(key, outcome.revision)
    if (random.chance(0.05)) await store.compact(outcome.revision)
  }
}

async function run(directory: string, acks: string, seed: number): Promise<void> {
  const file = openSync(acks, 'a')
  const acknowledge = (ack: Acknowledged) => writeSync(file, `${JSON.stringify(ack)}\n`)
  const store = await LmdbStore.open({ directory, retention })
  const work = Array.from({ length: writers }, (_, name) => writeSome(store, name, seeded(seed + name), acknowledge))
  await Promise.all(work)
  await store.close()
}

const [directory, acks, seed] = process.argv.slice(2)
if (directory && acks && seed) await run(directory, acks, Number(seed))

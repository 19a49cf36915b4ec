/**
 * The program whose disk is recorded: a few writers on one store, with compaction now and then, of which a
 * journal keeps a part. Each commit that was
 * acknowledged is one line in the file of acknowledgements, written before its writer goes on.
 * `crash-workload.ts <data directory> <file of acknowledgements> <seed>`
 */
import { openSync, writeSync } from 'node:fs'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import type { Key, Retention, Revision } from '../../src/storage/store/store.ts'
import { type Seeded, seeded } from '../storage/store/seeded.ts'

export interface Acknowledged {
  readonly revision: Revision
  readonly key: Key
  /** Undefined: deleted. */
  readonly value?: string
}

const writers = 4
const commitsPerWriter = 100
const keysPerWriter = 12
/** So little that part of it is forgotten; of one writer it keeps no values. */
const retention: Retention = { time: 3_600_000, bytes: 100_000, withoutValues: ['writer/0/'] }

async function writeSome(store: LmdbStore, name: number, random: Seeded, acknowledge: (ack: Acknowledged) => void) {
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

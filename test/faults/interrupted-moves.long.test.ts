/**
 * Tests `orch migrate` and `orch restore` into both stores. The commands are repeatedly killed at random moments. An
 * incomplete store must not open, and repeating the command must resume the operation. In the end, every key and value
 * must exist, and all revisions must be higher than the old ones.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { EtcdStore } from '../../src/storage/store/etcd/store.ts'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import type { Entry, Store } from '../../src/storage/store/store.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { asForUsers } from '../support/compile-cache.ts'
import { type Cluster, startEtcd } from '../support/etcd.ts'
import { long } from '../support/long.ts'
import { root } from '../support/server.ts'
import { report } from './load.ts'

const objects = 12_000
const kills = long ? 25 : 4
const timeout = 600_000

const directory = mkdtempSync(join(tmpdir(), 'orch-moves-'))
const source = join(directory, 'source')
const backup = join(directory, 'backup')
const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
let cluster: Cluster
let expectedEntries: readonly Entry[]

before(async () => {
  cluster = await startEtcd()
  const store = await LmdbStore.open({ directory: source })
  const profile = { key: 'meta/profile', expected: 0, value: Buffer.from('orch') }
  await store.commit(profile)
  const keys = Array.from({ length: objects }, (_, i) => `objects/core/configmaps/a/${String(i).padStart(5, '0')}`)
  const commit = (key: string) => store.commit({ key, expected: 0, value: Buffer.from(`${key} `.repeat(20)) })
  await Promise.all(keys.map(commit))
  expectedEntries = await entriesOf(store)
  await orch(['backup', `--data-dir=${source}`, `--to=${backup}`])
})

after(async () => {
  await cluster.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** The target of a move: its flags, and the resulting store. */
interface Target {
  readonly flags: readonly string[]
  open(): Promise<Store>
}

let places = 0

function newDirectory(): Target {
  const place = join(directory, `place-${++places}`)
  return { flags: [`--data-dir=${place}`], open: () => LmdbStore.open({ directory: place }) }
}

function newPrefix(): Target {
  const prefix = `/place-${++places}/`
  const { endpoints } = cluster
  return {
    flags: [`--etcd-servers=${endpoints}`, `--etcd-prefix=${prefix}`],
    open: () => EtcdStore.open({ endpoints, prefix, historyMs: 60_000 }),
  }
}

const migration = ['migrate', `--from-data-dir=${source}`]
const restoration = ['restore', `--from=${backup}`]

for (const [name, command, newTarget] of [
  ['a killed migration to etcd can be continued', migration, newPrefix],
  ['a killed migration to a directory can be continued', migration, newDirectory],
  ['a killed restore into etcd can be continued', restoration, newPrefix],
  ['a killed restore into a directory can be continued', restoration, newDirectory],
] as const)
  test(name, { timeout }, async (t) => {
    const random = seeded(seed)
    const began = performance.now()
    await orch([...command, ...newTarget().flags])
    const counts = await killAgainAndAgain(command, newTarget, { random, usualMs: performance.now() - began })
    report(t, counts)
    assert.ok(counts.halfDone > 0, 'no kill met a move under way')
  })

interface Rhythm {
  readonly random: RandomSource
  /** The duration of a move that is not interrupted. */
  readonly usualMs: number
}

async function killAgainAndAgain(command: readonly string[], newTarget: () => Target, { random, usualMs }: Rhythm) {
  const counts = { kills: 0, halfDone: 0, complete: 0 }
  while (counts.kills < kills) {
    const target = newTarget()
    for (let isHalf = true; isHalf && counts.kills < kills; ) {
      if (!(await killedAfter([...command, ...target.flags], usualMs * (0.3 + random.below(700) / 1000)))) break
      counts.kills++
      isHalf = !(await isComplete(target))
      if (isHalf) counts.halfDone++
    }
    if (!(await isComplete(target))) await orch([...command, ...target.flags])
    await assertAllThere(target)
    counts.complete++
  }
  return counts
}

/** Returns whether the store opens with all data. An incomplete store must not open unless it is completely empty. */
async function isComplete(target: Target): Promise<boolean> {
  let store: Store
  try {
    store = await target.open()
  } catch (error) {
    assert.match(String(error), /is incomplete: a restore or migration into it was interrupted/)
    return false
  }
  const { length } = await entriesOf(store)
  assert.ok(length === 0 || length === expectedEntries.length, `${length} entries are there and the store opens`)
  return length > 0
}

async function assertAllThere(target: Target): Promise<void> {
  const bare = (entries: readonly Entry[]) => entries.map(({ key, value }) => [key, Buffer.from(value).toString()])
  const store = await target.open()
  const oldest = expectedEntries.reduce((highest, { revision }) => Math.max(highest, revision), 0)
  assert.ok((await store.list({ prefix: '', limit: 1 })).revision > oldest)
  assert.deepEqual(bare(await entriesOf(store)), bare(expectedEntries))
}

async function entriesOf(store: Store): Promise<readonly Entry[]> {
  const { entries } = await store.list({ prefix: '' })
  await store.close()
  return entries
}

function start(args: readonly string[]) {
  return spawn(join(root, 'bin/orch'), args, { stdio: ['ignore', 'ignore', 'pipe'], env: asForUsers() })
}

async function orch(args: readonly string[]): Promise<void> {
  const child = start(args)
  let output = ''
  child.stderr.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  assert.equal(code, 0, `${args.join(' ')}: ${output}`)
}

/** Kills the command after this time. Returns false if the command had already succeeded. */
async function killedAfter(args: readonly string[], ms: number): Promise<boolean> {
  const child = start(args)
  const exit = once(child, 'exit')
  const timer = new AbortController()
  await Promise.race([exit, delay(ms, undefined, { signal: timer.signal }).catch(() => {})])
  timer.abort()
  child.kill('SIGKILL')
  const [code] = await exit
  assert.ok(code === null || code === 0, `${args.join(' ')} ended with ${code}`)
  return code === null
}

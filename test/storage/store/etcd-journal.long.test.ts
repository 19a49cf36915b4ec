/**
 * Tests the journal of a store on etcd: the guarantees of every journal, and its behavior with several servers on one
 * etcd, leases, compaction by other programs, and a store that goes back in time. Also tests the keys in etcd with and
 * without a journal.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { encryptedStore } from '../../../src/storage/encryption/encrypted-store.ts'
import { aesgcm } from '../../../src/storage/encryption/providers.ts'
import { Connection } from '../../../src/storage/store/etcd/connection.ts'
import {
  decodeRange,
  encodeCompact,
  encodeDeleteRange,
  encodeRange,
  methods,
} from '../../../src/storage/store/etcd/messages.ts'
import { EtcdStore } from '../../../src/storage/store/etcd/store.ts'
import { type Retention, RevisionGone, StoreFull } from '../../../src/storage/store/store.ts'
import { startEtcd } from '../../support/etcd.ts'
import { long, longTest } from '../../support/long.ts'
import { untilTrue } from '../../support/until.ts'
import { HandClock } from './hand-clock.ts'
import { changesOf, JournalWriter, stateAt } from './journal-writer.ts'
import { hour, type JournaledStore, journalSuite, type OpenJournaled } from './suite/journal.ts'

const cluster = await startEtcd()
after(() => cluster.stop())
const { endpoints } = cluster
const connection = new Connection({ endpoints, tls: undefined, deadlineMs: 10_000 })
after(() => connection.close())

let spaces = 0
const newPrefix = () => `/journal-${spaces++}/`
const plain: Retention = { ...hour, withoutValues: [] }

function newClock(): HandClock {
  const clock = new HandClock()
  clock.moveTo(1_000_000)
  return clock
}

const open: OpenJournaled = async (retention) => {
  const clock = newClock()
  const prefix = newPrefix()
  const openStore = async (): Promise<JournaledStore> => {
    const store = await EtcdStore.open({ endpoints, prefix, historyMs: 300_000, clock, retention })
    return {
      store,
      now: () => clock.now(),
      pass: async (ms) => {
        clock.pass(ms)
        await store.compact(await store.revision())
      },
      reopen: async () => {
        await store.close()
        return await openStore()
      },
      close: () => store.close(),
    }
  }
  return await openStore()
}

journalSuite('etcd', open, { rounds: long ? 100 : 4 })

/** Returns all keys and values with this prefix. */
async function rawEntries(stem: string) {
  const key = Buffer.from(stem)
  const end = Buffer.from(stem)
  end[end.length - 1]! += 1
  return decodeRange(await connection.call(methods.range, encodeRange({ key, end }), { effect: 'read' })).entries
}

async function openTwo(prefix: string, retention: Retention = plain) {
  const options = { endpoints, prefix, historyMs: 300_000, retention }
  return [await EtcdStore.open(options), await EtcdStore.open(options)] as const
}

test('two servers on one etcd share a journal and return the same changes', async () => {
  const prefix = newPrefix()
  const [one, two] = await openTwo(prefix)
  const writer = new JournalWriter(one)
  const written: number[] = []
  for (let i = 0; i < 60; i++) {
    written.push(await writer.write('a/x', `v${i}`, { store: i % 2 === 0 ? one : two }))
    // Both servers copy changes to the journal at the same time.
    if (i % 7 === 0) await Promise.all([one.journal!.oldest(), two.journal!.oldest()])
  }
  const last = await writer.write('a/x', undefined, { store: two, note: 'gone' })
  await one.compact(last)
  const expected = [
    [last, true, undefined, 'gone'],
    ...written.map((at, i) => [at, false, `v${i}`, `note of v${i}`]).reverse(),
  ]
  for (const { journal } of [one, two]) {
    assert.deepEqual(await changesOf(journal!, 'a/x'), expected)
    assert.deepEqual(await stateAt(journal!, written[3]!), [['a/x', 'v3']])
  }
  await one.journal!.forget()
  await assert.rejects(stateAt(two.journal!, written[3]!), RevisionGone)
  await Promise.all([one.close(), two.close()])
})

test('lists, watches and other stores do not contain the journal, and a store without a journal writes none', async () => {
  const prefix = newPrefix()
  const [one, two] = await openTwo(prefix)
  const start = await one.revision()
  const writer = new JournalWriter(one)
  for (let i = 0; i < 3; i++) await writer.write('a', `v${i}`)
  const seen: unknown[] = []
  const stop = new AbortController()
  const until = await two.revision()
  await one.journal!.oldest()
  for await (const { changes } of two.watch({ prefix: '', after: start, until, signal: stop.signal }))
    seen.push(...changes.map(({ key, value }) => [key, Buffer.from(value!).toString()]))
  assert.deepEqual(
    seen,
    [0, 1, 2].map((i) => ['a', `v${i}`]),
  )
  assert.deepEqual(
    (await two.list({ prefix: '' })).entries.map(({ key }) => key),
    ['a'],
  )
  const journalEntries = await rawEntries(`${prefix.slice(0, -1)}\0`)
  assert.equal(journalEntries.filter(({ key }) => key.includes('/k/')).length, 3)
  await Promise.all([one.close(), two.close()])

  const other = newPrefix()
  const store = await EtcdStore.open({ endpoints, prefix: other, historyMs: 300_000 })
  assert.equal(store.journal, undefined)
  await new JournalWriter(store).write('a', 'x')
  await store.compact(await store.revision())
  await store.close()
  const keys = (await rawEntries(other.slice(0, -1))).map(({ key }) => key)
  assert.deepEqual(
    keys.filter((key) => !key.endsWith('\0tick')),
    [`${other}a`],
  )
})

test('the journal also contains expired keys and the writes of a server without a journal', async () => {
  const prefix = newPrefix()
  const silent = await EtcdStore.open({ endpoints, prefix, historyMs: 300_000 })
  const store = await EtcdStore.open({ endpoints, prefix, historyMs: 300_000, retention: plain })
  await store.journal!.oldest()
  const quiet = await new JournalWriter(silent).write('a/y', 'unsigned')
  const value = Buffer.from('short')
  const made = await store.commit({ key: 'a/x', expected: 0, value, lifetimeSeconds: 1 })
  assert.ok(made.outcome === 'committed')
  await untilTrue(async () => (await store.get('a/x')) === undefined)
  const [gone, first] = await store.journal!.changes('a/x', Number.MAX_SAFE_INTEGER, 10)
  assert.deepEqual([gone!.deleted, gone!.note!.text.length], [true, 0])
  assert.ok(Math.abs(gone!.note!.time - Date.now()) < 60_000)
  assert.equal(first!.revision, made.revision)
  assert.deepEqual(await stateAt(store.journal!, made.revision), [
    ['a/x', 'short'],
    ['a/y', 'unsigned'],
  ])
  assert.deepEqual(await changesOf(store.journal!, 'a/y'), [[quiet, false, 'unsigned', '']])
  await Promise.all([silent.close(), store.close()])
})

test('if other programs compact etcd before changes are archived, the journal starts again with a warning', async () => {
  const prefix = newPrefix()
  const warnings: string[] = []
  const options = {
    endpoints,
    prefix,
    historyMs: 300_000,
    retention: plain,
    onWarning: (text: string) => warnings.push(text),
  }
  const store = await EtcdStore.open(options)
  const writer = new JournalWriter(store)
  const first = await writer.write('a/x', 'one')
  await store.journal!.oldest()
  for (let i = 0; i < 3; i++) await writer.write('a/x', `lost ${i}`)
  const present = await store.revision()
  await connection.call(methods.compact, encodeCompact(present), { effect: 'read' })
  await store.journal!.oldest()
  const next = await writer.write('a/x', 'next')
  const journal = store.journal!
  assert.ok((await journal.oldest()) >= present)
  await assert.rejects(stateAt(journal, first), RevisionGone)
  assert.deepEqual(await changesOf(journal, 'a/x'), [
    [next, false, 'next', 'note of next'],
    [present, false, 'lost 2', undefined],
  ])
  assert.match(warnings.join('\n'), /etcd was compacted before changes were archived/)
  await store.close()
})

longTest('the journal continues after another program deletes all keys at once', async () => {
  const prefix = newPrefix()
  const warnings: string[] = []
  const options = {
    endpoints,
    prefix,
    historyMs: 300_000,
    retention: plain,
    onWarning: (text: string) => warnings.push(text),
  }
  const store = await EtcdStore.open(options)
  const keys = Array.from({ length: 8000 }, (_, i) => `a/${i}`)
  const writer = new JournalWriter(store)
  for (let i = 0; i < keys.length; i += 2000) {
    const takes = keys.slice(i, i + 1999).map((key) => ({ key, value: Buffer.from(key) }))
    await store.commit({ key: `claims/${i}`, expected: 0, value: Buffer.from('x'), reserves: takes })
  }
  await store.journal!.oldest()
  const key = Buffer.from(`${prefix}a/`)
  const end = Buffer.from(`${prefix}a0`)
  await connection.call(methods.deleteRange, encodeDeleteRange({ key, end }), { effect: 'read' })
  const next = await writer.write('b', 'x')
  assert.deepEqual(await stateAt(store.journal!, next).then((state) => state.length), 5)
  assert.match(warnings.join('\n'), /has too many changes/)
  await store.close()
})

test('archived values in etcd are encrypted like current values and can be read back', async () => {
  const prefix = newPrefix()
  const raw = await EtcdStore.open({ endpoints, prefix, historyMs: 300_000, retention: plain })
  const provider = aesgcm('orch:enc:aesgcm:v1:k:', randomBytes(32))
  const store = encryptedStore(raw, new Map([['objects/core/secrets/', [provider]]]))
  const writer = new JournalWriter(store)
  const name = 'objects/core/secrets/x'
  const canary = 'canary-of-the-journal'
  const first = await writer.write(name, `${canary} 1`, { note: 'n' })
  await writer.write(name, `${canary} 2`, { note: 'n' })
  await writer.write(name, undefined, { note: 'n' })
  await raw.compact(await raw.revision())
  assert.deepEqual(
    (await changesOf(store.journal!, name)).map(([, , value]) => value),
    [undefined, `${canary} 2`, `${canary} 1`],
  )
  assert.deepEqual(await stateAt(store.journal!, first), [[name, `${canary} 1`]])
  const entries = await rawEntries(prefix.slice(0, -1))
  assert.ok(entries.some(({ key }) => key.includes('/v/')))
  assert.ok(entries.every(({ value }) => !Buffer.from(value).includes(canary)))
  await store.close()
})

const keptUnder = async (prefix: string) => (await rawEntries(`${prefix.slice(0, -1)}\0`)).length

test('the remaining journal of a removed store is deleted and not read again', async () => {
  const prefix = newPrefix()
  const options = { endpoints, prefix, historyMs: 300_000, retention: plain }
  const before = await EtcdStore.open(options)
  const old = new JournalWriter(before)
  for (let i = 0; i < 150; i++) await old.write('a/x', `old ${i}`)
  await before.journal!.oldest()
  await before.close()
  const key = Buffer.from(prefix)
  const end = Buffer.from(`${prefix.slice(0, -1)}0`)
  await connection.call(methods.deleteRange, encodeDeleteRange({ key, end }), { effect: 'read' })
  const store = await EtcdStore.open(options)
  assert.equal(await keptUnder(prefix), 0)
  const first = await new JournalWriter(store).write('a/x', 'new')
  assert.deepEqual(await changesOf(store.journal!, 'a/x'), [[first, false, 'new', 'note of new']])
  await store.close()
})

test('a server without a journal removes an abandoned journal but not an active journal', async () => {
  const prefix = newPrefix()
  const keeping = await EtcdStore.open({ endpoints, prefix, historyMs: 300_000, retention: plain })
  const silent = await EtcdStore.open({ endpoints, prefix, historyMs: 300_000 })
  const writer = new JournalWriter(silent)
  for (let i = 0; i < 5; i++) await writer.write('a/x', `v${i}`)
  await keeping.revision()
  await keeping.journal!.oldest()
  await silent.compact(await silent.revision())
  assert.equal((await changesOf(keeping.journal!, 'a/x')).length, 5)
  await keeping.close()
  await writer.write('a/x', 'kept by nobody')
  await silent.compact(await silent.revision())
  assert.equal(await keptUnder(prefix), 0)
  assert.ok((await rawEntries(`${prefix}\0`)).every(({ key }) => key.endsWith('tick') || key.endsWith('compact')))
  await silent.close()
})

longTest('a full etcd serves lists and deletes, and half of the journal is deleted once there is room', async (t) => {
  const small = await startEtcd({ args: ['--quota-backend-bytes', String(16 * 1024 * 1024)] })
  t.after(() => small.stop())
  const warnings: string[] = []
  const options = { endpoints: small.endpoints, historyMs: 300_000, retention: plain }
  const store = await EtcdStore.open({ ...options, onWarning: (text) => warnings.push(text) })
  t.after(() => store.close())
  const writer = new JournalWriter(store)
  const refused = (error: unknown) => {
    if (error instanceof StoreFull) return 0
    throw error
  }
  await writer.write('a/small', 'x')
  let writes = 0
  while (writes < 1000 && (await writer.write('a/x', 'x'.repeat(200_000 + writes), { note: 'n' }).catch(refused)) > 0) {
    writes++
    await store.journal!.oldest().catch(refused)
  }
  assert.match(warnings.join('\n'), /etcd is full: half of the object history will be deleted/)
  assert.ok((await writer.write('a/small', undefined)) > 0)
  assert.equal((await store.list({ prefix: '' })).entries.length, 1)
  await store.compact(await store.revision())
  const [endpoint] = small.endpoints
  for (const args of [['defrag'], ['alarm', 'disarm']])
    await promisify(execFile)('etcdctl', [`--endpoints=${endpoint}`, ...args], {
      env: { ...process.env, ETCDCTL_API: '3' },
    })
  await writer.write('a/small', 'y')
  const before = await store.journal!.oldest()
  assert.ok(before > writes / 2, `begins at ${before} after ${writes} writes`)
})

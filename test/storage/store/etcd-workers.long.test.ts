/**
 * Tests the store on etcd in the workers of one server, with one thread that watches for all of them. Each worker
 * fulfills the store contract, and so do several workers together, even if another server uses the same etcd. A lost
 * message, the end of the watching thread, or an etcd that is disconnected or goes back in time must not cause stale
 * reads or missing changes.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { EtcdHub } from '../../../src/storage/store/etcd/hub.ts'
import { RelayedGenerations } from '../../../src/storage/store/etcd/relayed-changes.ts'
import { type EtcdOptions, EtcdStore } from '../../../src/storage/store/etcd/store.ts'
import { RevisionGone, type StoreError, StoreRestored } from '../../../src/storage/store/store.ts'
import { type Cluster, startEtcd } from '../../support/etcd.ts'
import { startProxy } from '../../support/tcp-proxy.ts'
import { untilTrue } from '../../support/until.ts'
import { bytes, closeOnDispose, commit, Follower } from './follower.ts'
import { manyKeys, put, readChanges } from './operations.ts'
import { clusterSuite, type Opened, restartSuite } from './suite.ts'
import { drain, inTurns, losing } from './worker-wires.ts'

const timeout = 300_000
const failLoudly = (error: StoreError): void => assert.fail(error)

async function openWorkers(options: EtcdOptions, count = 3) {
  let hub = await EtcdHub.open(options)
  const stores: EtcdStore[] = []
  const close = async () => {
    for (const store of stores.splice(0)) await store.close()
    await hub.close()
  }
  const connect = async (onLost = failLoudly) => {
    const store = await EtcdStore.open(options, new RelayedGenerations(await hub.connect(), onLost))
    stores.push(store)
    return store
  }
  for (let i = 0; i < count; i++) await connect()
  return {
    stores: [...stores],
    connect,
    port: () => hub.connect(),
    endHub: () => hub.close(),
    async reopen() {
      await close()
      hub = await EtcdHub.open(options)
      return await connect()
    },
    [Symbol.asyncDispose]: close,
  }
}

describe('workers on etcd', { timeout }, () => {
  let cluster: Cluster
  let spaces = 0

  before(async () => {
    cluster = await startEtcd()
  })
  after(() => cluster.stop())

  const fresh = (): EtcdOptions => ({
    endpoints: cluster.endpoints,
    prefix: `/workers-${spaces++}/`,
    historyMs: 300_000,
    deadlineMs: 5_000,
  })
  const opened = async (count: number): Promise<Opened & { reopen(): Promise<EtcdStore> }> => {
    const workers = await openWorkers(fresh(), count)
    return { store: inTurns(workers.stores), reopen: workers.reopen, cleanup: workers[Symbol.asyncDispose] }
  }

  restartSuite('a worker on etcd', () => opened(1))
  clusterSuite('three workers on etcd in turns', () => opened(3))

  it('every watch reports commits by all workers and by another server in the same order', async () => {
    const options = fresh()
    await using workers = await openWorkers(options)
    await using beside = closeOnDispose(await EtcdStore.open(options))
    const stores = [...workers.stores, beside]
    const many = 100
    const start = await stores[0]!.revision()
    const watches = stores.map((store) => readChanges(store, { after: start, count: stores.length * many }))
    const written = await Promise.all(
      stores.flatMap((store, i) => manyKeys(many).map((key) => put(store, `${i}/${key}`, 'x', 0))),
    )
    const order = written.toSorted((a, b) => a - b)
    for (const watch of watches)
      assert.deepEqual(
        (await watch).map(({ revision }) => revision),
        order,
      )
  })

  it('a commit by a worker or another server appears in the revision and feed of all workers', async () => {
    const options = fresh()
    await using workers = await openWorkers(options)
    await using beside = closeOnDispose(await EtcdStore.open(options))
    const stores = [...workers.stores, beside]
    for (let i = 0; i < 40; i++) {
      const revision = await put(stores[i % stores.length]!, `a${i}`, 'x', 0)
      for (const store of stores) {
        const now = await store.revision()
        assert.ok(now >= revision)
        await using follower = new Follower(store, revision - 1)
        await follower.passes(now)
        assert.equal(follower.changes[0]?.key, `a${i}`)
      }
    }
  })

  it('a worker that starts late begins at the current revision and can read earlier changes', async () => {
    await using workers = await openWorkers(fresh())
    const start = await workers.stores[0]!.revision()
    for (let i = 0; i < 20; i++) await put(workers.stores[0]!, `a${i}`, 'x', 0)
    const late = await workers.connect()
    const written = await put(workers.stores[1]!, 'late', 'y', 0)
    const seen = await readChanges(late, { after: start, count: 21 })
    assert.equal(seen.at(-1)!.revision, written)
    assert.deepEqual(
      seen.map(({ key }) => key),
      [...Array.from({ length: 20 }, (_, i) => `a${i}`), 'late'],
    )
  })

  it('a worker that missed a batch reports an error and delivers no later changes', { timeout: 20_000 }, async () => {
    const options = fresh()
    await using workers = await openWorkers(options, 1)
    const { port } = await workers.port()
    const lost = Promise.withResolvers<StoreError>()
    const eras = new RelayedGenerations({ port: losing(port, 3) }, lost.resolve)
    await using deaf = closeOnDispose(await EtcdStore.open(options, eras))
    const start = await deaf.revision()
    await using follower = new Follower(deaf, start)
    const written: number[] = []
    for (let i = 0; i < 5; i++) {
      written.push(await put(workers.stores[0]!, `a${i}`, 'x', 0))
      await workers.stores[0]!.revision()
    }
    assert.match((await lost.promise).message, /worker missed the changes from revision \d+ to \d+/)
    assert.match(String(await follower.ended()), /worker missed the changes/)
    assert.deepEqual(
      follower.changes.map(({ revision }) => revision),
      written.slice(0, 2),
    )
    // The store must not assume that the last received revision is the most recent revision.
    await assert.rejects(async () => await deaf.revision())
  })

  it('if the thread that watches etcd exits, every watch ends and the exit is reported', async () => {
    await using workers = await openWorkers(fresh(), 0)
    const lost = Promise.withResolvers<StoreError>()
    const store = await workers.connect(lost.resolve)
    const start = await store.revision()
    const { signal } = new AbortController()
    const watching = assert.rejects(drain(store.watch({ prefix: '', after: start, signal })), /watches etcd has exited/)
    await workers.endHub()
    await watching
    assert.match((await lost.promise).message, /watches etcd has exited/)
  })

  it('workers continue without a gap after etcd was disconnected', async () => {
    await using proxy = disposable(await startProxy(cluster.endpoints[0]!))
    const options = fresh()
    await using workers = await openWorkers({ ...options, endpoints: [proxy.endpoint], deadlineMs: 1_000 })
    await using beside = closeOnDispose(await EtcdStore.open(options))
    const start = await workers.stores[0]!.revision()
    const followers = workers.stores.map((store) => new Follower(store, start))
    await put(workers.stores[0]!, 'before', 'x', 0)
    for (const mode of ['cut', 'deaf'] as const) {
      proxy.set(mode)
      const missed = await put(beside, `while ${mode}`, 'x', 0)
      for (const store of workers.stores) await assert.rejects(async () => await store.revision())
      proxy.set('cut')
      proxy.set('pass')
      for (const store of workers.stores) await untilTrue(async () => (await store.revision().catch(() => 0)) >= missed)
    }
    for (const follower of followers) {
      await follower.until((changes) => changes.length === 3)
      assert.deepEqual(
        follower.changes.map(({ key }) => key),
        ['before', 'while cut', 'while deaf'],
      )
      await follower[Symbol.asyncDispose]()
    }
  })
})

describe('workers on an etcd that is restored from a backup', { timeout }, () => {
  for (const first of ['a worker', 'the thread that watches'])
    it(`workers restart at revisions above all returned ones if ${first} notices the restore first`, async () => {
      const cluster = await startEtcd()
      await using _cluster = { [Symbol.asyncDispose]: () => cluster.stop() }
      await using proxy = disposable(await startProxy(cluster.endpoints[0]!))
      const options = { endpoints: [proxy.endpoint], historyMs: 300_000, deadlineMs: 5_000 }
      await using workers = await openWorkers(options)
      const [one, two] = workers.stores as [EtcdStore, EtcdStore]
      const kept = await commit(one, 'kept', 0, '')
      await cluster.save()
      await reached(async () => (await one.revision()) >= kept)
      let lost = await commit(two, 'lost', 0, '')
      for (let i = 0; i < 5; i++) lost = await commit(two, 'lost', lost, `${i}`)
      const followers = workers.stores.map((store) => new Follower(store, kept))
      for (const follower of followers) await follower.until((changes) => changes.at(-1)?.revision === lost)
      proxy.set('cut')
      await cluster.restore()
      proxy.set('pass')
      if (first === 'a worker') await one.commit({ key: 'new', expected: 0, value: bytes('') }).catch(() => {})
      for (const follower of followers) {
        assert.ok((await follower.ended()) instanceof StoreRestored)
        await follower[Symbol.asyncDispose]()
      }
      for (const store of workers.stores) {
        await reached(async () => (await store.revision()) > lost)
        const { entries, revision } = await store.list({ prefix: '' })
        assert.ok(entries.some(({ key }) => key === 'kept') && !entries.some(({ key }) => key === 'lost'))
        assert.ok(revision > lost && entries.every((entry) => entry.revision > lost))
        await assert.rejects(store.list({ prefix: '', revision: lost }), RevisionGone)
      }
      const start = await one.revision()
      const watches = workers.stores.map((store) => readChanges(store, { after: start, count: 1 }))
      const made = await commit(two, 'made', 0, '')
      for (const watch of watches) assert.equal((await watch)[0]!.revision, made)
    })
})

/** All calls fail until etcd responds again. */
const reached = (look: () => Promise<boolean>) => untilTrue(() => look().catch(() => false))

function disposable<T extends { close(): Promise<void> }>(it: T): T & AsyncDisposable {
  return Object.assign(it, { [Symbol.asyncDispose]: () => it.close() })
}

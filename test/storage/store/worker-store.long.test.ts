/**
 * Tests the embedded store in the workers of one server. Each store fulfills the store contract, and so do several
 * stores together. Additional guarantees are also tested: a commit in one store is included in the revisions of all
 * stores before it is acknowledged, a read by one store protects its revision from compaction by another, and a worker
 * that exits does not block other workers.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { StoreHub } from '../../../src/storage/store/lmdb/hub.ts'
import { WorkerStore } from '../../../src/storage/store/lmdb/worker-store.ts'
import { RevisionGone, type Store, StoreError } from '../../../src/storage/store/store.ts'
import { temporaryDirectory } from './directory.ts'
import { manyKeys, plainList, put, readChanges, writeMany } from './operations.ts'
import { timeout } from './suite/prove.ts'
import { clusterSuite, type Opened, restartSuite } from './suite.ts'
import { drain, inTurns, losing } from './worker-wires.ts'

async function openWorkers(count: number, historyMs?: number) {
  const { directory, removeDirectory } = await temporaryDirectory()
  let hub = await StoreHub.open({ directory, ...(historyMs === undefined ? {} : { historyMs }) })
  let stores: WorkerStore[] = []
  const connect = async () => {
    const store = await WorkerStore.open(await hub.connect())
    stores.push(store)
    return store
  }
  const close = async () => {
    await Promise.all(stores.map((store) => store.close()))
    stores = []
    await hub.close().catch(() => {})
  }
  for (let i = 0; i < count; i++) await connect()
  return {
    stores: [...stores],
    connect,
    port: () => hub.connect(),
    endOwner: () => hub.close(),
    async reopen(): Promise<Store> {
      await close()
      hub = await StoreHub.open({ directory })
      return await connect()
    },
    async cleanup() {
      await close()
      await removeDirectory()
    },
  }
}

async function openOne(): Promise<Opened & { reopen(): Promise<Store> }> {
  const { stores, reopen, cleanup } = await openWorkers(1)
  return { store: stores[0]!, reopen, cleanup }
}

restartSuite('a worker', openOne)
clusterSuite('three workers in turns', async () => {
  const { stores, cleanup } = await openWorkers(3)
  return { store: inTurns(stores), cleanup }
})

type Workers = Awaited<ReturnType<typeof openWorkers>>

function prove(promise: string, proof: (workers: Workers) => Promise<void>): void {
  test(promise, { timeout }, async () => {
    const workers = await openWorkers(3)
    try {
      await proof(workers)
    } finally {
      await workers.cleanup()
    }
  })
}

describe('workers that share one store', () => {
  prove("every worker's revision includes a commit before the commit is acknowledged", async ({ stores }) => {
    const [writer, ...others] = stores
    for (let i = 0; i < 200; i++) {
      const revision = await put(writer!, `a${i}`, 'x', 0)
      for (const other of others) assert.ok((await other.revision()) >= revision)
    }
  })

  prove(
    'every watch reports concurrent and sequential commits by all workers in the same order',
    async ({ stores }) => {
      const many = 300
      const few = 20
      const count = stores.length * many + few
      const after = await stores[0]!.revision()
      const watches = stores.map((store) => readChanges(store, { after, count }))
      const written = await Promise.all(
        stores.flatMap((store, i) => manyKeys(many).map((key) => put(store, `${i}/${key}`, 'x', 0))),
      )
      for (let i = 0; i < few; i++) written.push(await put(stores[i % stores.length]!, `one by one ${i}`, 'x', 0))
      const order = written.toSorted((a, b) => a - b)
      assert.equal(new Set(order).size, count)
      for (const watch of watches)
        assert.deepEqual(
          (await watch).map(({ revision }) => revision),
          order,
        )
    },
  )

  prove('of several commits by all workers that replace the same revision, only one succeeds', async ({ stores }) => {
    const first = await put(stores[0]!, 'hot', '0', 0)
    const tries = stores.flatMap((store) =>
      Array.from({ length: 20 }, () => store.commit({ key: 'hot', expected: first, value: Buffer.from('1') })),
    )
    const outcomes = await Promise.all(tries)
    assert.equal(outcomes.filter(({ outcome }) => outcome === 'committed').length, 1)
  })

  prove('compaction by another worker does not affect a list in progress', async ({ stores }) => {
    const [reader, other] = stores
    await writeMany(reader!, 1500, 'x'.repeat(1000))
    const at = await reader!.revision()
    await Promise.all(manyKeys(1500).map(async (key, i) => i % 3 === 0 && (await overwrite(other!, key))))
    const before = await reader!.list({ prefix: '', revision: at })
    const reading = reader!.list({ prefix: '', revision: at })
    const compacting = other!.compact(await other!.revision())
    const read = await reading.catch((error: unknown) => error)
    await compacting
    // Either the list had started and is exact, or its revision is no longer available to any worker.
    if (read instanceof RevisionGone) assert.ok(true)
    else assert.deepEqual(plainList(read as typeof before), plainList(before))
    for (const store of stores) await assert.rejects(store.list({ prefix: '', revision: at }), RevisionGone)
    for (const store of stores) await assert.rejects(readChanges(store, { after: at, count: 1 }), RevisionGone)
  })

  prove('a worker that starts late begins at the current revision', async ({ stores, connect }) => {
    await writeMany(stores[0]!, 100, 'x')
    const late = await connect()
    const revision = await late.revision()
    const next = readChanges(late, { after: revision, count: 1 })
    const written = await put(stores[1]!, 'late', 'y', 0)
    assert.deepEqual(
      (await next).map((change) => change.revision),
      [written],
    )
    assert.equal((await late.list({ prefix: '' })).entries.length, 101)
  })

  prove('a worker that exits does not affect the others', async ({ stores }) => {
    const [gone, ...rest] = stores
    const underWay = manyKeys(50).map((key) => put(gone!, key, 'x', 0))
    await gone!.close()
    await Promise.all(underWay)
    await assert.rejects(gone!.get('a'), StoreError)
    for (const store of rest) assert.equal((await store.list({ prefix: '' })).entries.length, 50)
    await put(rest[0]!, 'after', 'x', 0)
  })

  prove('an expired key is deleted once, and all workers are notified', async ({ stores }) => {
    const key = 'short'
    const revision = await put(stores[0]!, 'before', 'x', 0)
    await stores[1]!.commit({ key, expected: 0, value: Buffer.from('x'), lifetimeSeconds: 1 })
    const seen = await Promise.all(stores.map((store) => readChanges(store, { after: revision, count: 2 })))
    for (const changes of seen) assert.deepEqual(changes, seen[0])
    assert.equal(seen[0]![1]!.value, undefined)
  })

  prove(
    'a worker that missed a change reports an error and delivers no later changes',
    async ({ stores, port: connect }) => {
      const { port, memory } = await connect()
      const failed = Promise.withResolvers<StoreError>()
      const deaf = await WorkerStore.open({ port: losing(port, 3), memory }, { onFailed: failed.resolve })
      const after = deaf.revision()
      const seen: number[] = []
      const watching = assert.rejects(async () => {
        for await (const { changes } of deaf.watch({ prefix: '', after, signal: new AbortController().signal }))
          seen.push(...changes.map(({ revision }) => revision))
      }, /worker missed the change at revision/)
      for (let i = 0; i < 5; i++) await put(stores[0]!, `a${i}`, 'x', 0)
      await watching
      assert.match((await failed.promise).message, /worker missed the change at revision/)
      assert.deepEqual(seen, [after + 1, after + 2])
      assert.equal(deaf.revision(), after + 5)
      await deaf.close()
      await once(port, 'close')
    },
  )

  prove("if the store's owner exits, every watch ends and every commit fails", async ({ stores, endOwner }) => {
    const { signal } = new AbortController()
    const watching = stores.map((store) =>
      assert.rejects(drain(store.watch({ prefix: '', after: store.revision(), signal })), /store thread has exited/),
    )
    await endOwner()
    await Promise.all(watching)
    for (const store of stores) await assert.rejects(put(store, 'a', 'x', 0), /store thread has exited/)
  })
})

async function overwrite(store: Store, key: string): Promise<void> {
  const held = await store.get(key)
  await put(store, key, 'y', held!.revision)
}

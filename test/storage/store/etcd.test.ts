/** Tests the store on one etcd member without TLS: its specific behavior, in addition to the suite for all backends. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Connection } from '../../../src/storage/store/etcd/connection.ts'
import { encodePut, methods } from '../../../src/storage/store/etcd/messages.ts'
import { type EtcdOptions, EtcdStore } from '../../../src/storage/store/etcd/store.ts'
import {
  RevisionAhead,
  RevisionGone,
  StoreError,
  StoreFull,
  StoreRestored,
  ValueTooLarge,
} from '../../../src/storage/store/store.ts'
import { type Cluster, startEtcd } from '../../support/etcd.ts'
import { startProxy } from '../../support/tcp-proxy.ts'
import { untilTrue } from '../../support/until.ts'
import { assertCommitted, bytes, closeOnDispose, commit, Follower } from './follower.ts'
import { type Opened, restartSuite, storeSuite } from './suite.ts'

describe('etcd', () => {
  let cluster: Cluster
  let spaces = 0

  before(async () => {
    cluster = await startEtcd()
  })
  after(() => cluster.stop())

  const openSpace = async (): Promise<Opened & { reopen(): Promise<EtcdStore> }> => {
    const options = { endpoints: cluster.endpoints, prefix: `/suite-${spaces++}/`, historyMs: 300_000 }
    let store = await EtcdStore.open(options)
    return {
      store,
      async reopen() {
        await store.close()
        store = await EtcdStore.open(options)
        return store
      },
      cleanup: () => store.close(),
    }
  }

  storeSuite('etcd', openSpace)
  restartSuite('etcd', openSpace)
})

describe('etcd store with one member', { timeout: 300_000 }, () => {
  let cluster: Cluster
  let spaces = 0

  before(async () => {
    cluster = await startEtcd()
  })
  after(() => cluster.stop())

  const freshPrefix = () => `/space-${spaces++}/`

  const open = async (options: Partial<EtcdOptions> = {}) =>
    closeOnDispose(
      await EtcdStore.open({
        endpoints: cluster.endpoints,
        prefix: freshPrefix(),
        historyMs: 300_000,
        deadlineMs: 5_000,
        ...options,
      }),
    )

  /** Writes directly to etcd, as another user of the cluster might. */
  const put = async (key: string, value = '') => {
    const connection = new Connection({ endpoints: cluster.endpoints, deadlineMs: 5_000 })
    try {
      await connection.call(methods.put, encodePut(Buffer.from(key), bytes(value)), { effect: 'write' })
    } finally {
      connection.close()
    }
  }

  it("the store returns the size of etcd's database", async () => {
    await using store = await open()
    assert.ok((await store.size()) >= 4096)
  })

  it('commits compare and set, and a conflict returns the current entry', async () => {
    await using store = await open()
    const made = await commit(store, 'a', 0, 'one')
    const again = await store.commit({ key: 'a', expected: 0, value: bytes('two') })
    assert.deepEqual(again, { outcome: 'conflict', current: { key: 'a', revision: made, value: bytes('one') } })
    const changed = await commit(store, 'a', made, 'three')
    const gone = await commit(store, 'a', changed, undefined)
    assert.ok(made < changed && changed < gone)
    assert.equal(await store.get('a'), undefined)
    assert.equal(await store.revision(), gone)
    await assert.rejects(store.commit({ key: 'a', expected: 0, value: undefined }), StoreError)
  })

  it('many Secrets of the maximum size are stored and watched, and larger values throw ValueTooLarge', async () => {
    const prefix = freshPrefix()
    await using store = await open({ prefix })
    const start = await store.revision()
    const size = (value: Uint8Array | undefined) => value?.length
    const secret = new Uint8Array(1_400_000).fill(65)
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, i) => store.commit({ key: `secret/${i}`, expected: 0, value: secret })),
    )
    assert.ok(made.every((result) => result.outcome === 'committed'))
    assert.equal((await store.get('secret/7'))?.value.length, secret.length)
    const { entries } = await store.list({ prefix: 'secret/' })
    assert.deepEqual(
      entries.map((entry) => entry.value.length),
      made.map(() => secret.length),
    )
    const { revision } = await store
      .commit({ key: 'secret/0', expected: entries[0]!.revision, value: secret })
      .then(assertCommitted)
    // The data does not fit into one etcd response, so batches arrive in fragments.
    await using late = await open({ prefix })
    await using follower = new Follower(late, start)
    await follower.until((changes) => changes.at(-1)?.revision === revision)
    assert.equal(follower.changes.length, made.length + 1)
    assert.ok(follower.changes.every((change) => size(change.value) === secret.length))
    assert.equal(size(follower.changes.at(-1)?.previous?.value), secret.length)

    for (const length of [1_572_864, 4_000_000, 20_000_000]) {
      const value = new Uint8Array(length)
      await assert.rejects(store.commit({ key: 'large', expected: 0, value }), (error: unknown) => {
        assert.ok(error instanceof ValueTooLarge, String(error))
        assert.equal(error.ambiguous, false)
        return true
      })
    }
    assert.equal(await store.get('large'), undefined)
  })

  it('a list over many pages is one snapshot despite concurrent writes', async () => {
    await using store = await open()
    const key = (i: number) => `k/${String(i).padStart(4, '0')}`
    await Promise.all(Array.from({ length: 600 }, (_, i) => commit(store, key(i), 0, 'x')))
    await put('/elsewhere', 'not ours')
    const listing = store.list({ prefix: 'k/' })
    await Promise.all(Array.from({ length: 50 }, (_, i) => commit(store, `k/0300/${i}`, 0, 'x')))
    const snapshot = await listing
    const again = await store.list({ prefix: 'k/', revision: snapshot.revision })
    assert.deepEqual(again, snapshot)
    assert.ok(snapshot.entries.every((entry) => entry.revision <= snapshot.revision))
    const part = await store.list({ prefix: 'k/', after: key(99), limit: 300 })
    assert.equal(part.entries[0]?.key, key(100))
    assert.equal(part.entries.length + part.remaining, 550)
    assert.deepEqual((await store.list({ prefix: 'k/', limit: 0 })).remaining, 650)
    assert.deepEqual((await store.list({ prefix: 'k/', after: 'z' })).entries, [])
    assert.equal((await store.list({ prefix: '' })).entries.length, 650)
  })

  it('reading a compacted revision or a future revision throws a specific error', async () => {
    await using store = await open()
    const first = await commit(store, 'a', 0, '1')
    const second = await commit(store, 'a', first, '2')
    const third = await commit(store, 'a', second, '3')
    await assert.rejects(store.list({ prefix: '', revision: third + 1000 }), (error: unknown) => {
      assert.ok(error instanceof RevisionAhead)
      assert.equal(error.current, third)
      return true
    })
    await assert.rejects(store.compact(third + 1000), RevisionAhead)
    await store.compact(second)
    await store.compact(first)
    await assert.rejects(store.list({ prefix: '', revision: first }), (error: unknown) => {
      assert.ok(error instanceof RevisionGone)
      assert.equal(error.oldest, second)
      return true
    })
    const { entries } = await store.list({ prefix: '', revision: second })
    assert.deepEqual(entries, [{ key: 'a', revision: second, value: bytes('2') }])
  })

  it("changes older than the tail in memory are read from etcd's log until they are compacted", async () => {
    const prefix = freshPrefix()
    await using writer = await open({ prefix })
    const start = await writer.revision()
    const revisions = [await commit(writer, 'a', 0, '1')]
    for (let i = 0; i < 20; i++) revisions.push(await commit(writer, 'a', revisions[i]!, `${i}`))
    await put('/elsewhere', 'so that the newest revision is not ours')
    await using reader = await open({ prefix })
    await using follower = new Follower(reader, start)
    await follower.until((changes) => changes.length === revisions.length)
    const last = await commit(writer, 'a', revisions.at(-1)!, undefined)
    await follower.until((changes) => changes.at(-1)?.revision === last)
    assert.deepEqual(
      follower.changes.map((change) => change.revision),
      [...revisions, last],
    )
    assert.equal(follower.changes.at(-1)?.value, undefined)
    assert.equal(follower.changes.at(-1)?.previous?.revision, revisions.at(-1))

    await writer.compact(last)
    await using late = await open({ prefix })
    await using tooLate = new Follower(late, last - 1)
    assert.ok((await tooLate.ended()) instanceof RevisionGone)
    await using inTime = new Follower(late, last)
    const more = await commit(writer, 'b', 0, '')
    await inTime.until((changes) => changes.at(-1)?.revision === more)
    assert.equal(inTime.changes.length, 1)
  })

  it('a watch advances past the revision at which another server opens, whichever program wrote that revision', async () => {
    const prefix = freshPrefix()
    await using old = await open({ prefix })
    await commit(old, 'a', 0, '')
    await using follower = new Follower(old, await old.revision())
    for (const key of [`${prefix}\0compact`, '/elsewhere']) {
      await put(key, 'no change of a key of ours')
      await using fresh = await open({ prefix })
      const named = await fresh.revision()
      await old.revision()
      await follower.passes(named)
    }
    assert.deepEqual(follower.changes, [])
  })

  it("a reader switches from etcd's log to the tail in memory even if the log ends with internal keys", async () => {
    const prefix = freshPrefix()
    await using writer = await open({ prefix })
    const start = await writer.revision()
    const made = await commit(writer, 'a', 0, '')
    await put(`${prefix}\0compact`, '1')
    await put(prefix, 'not a key of ours')
    await using reader = await open({ prefix })
    await using follower = new Follower(reader, start)
    await follower.until((changes) => changes.length === 1)
    const more = await commit(writer, 'b', 0, '')
    await follower.until((changes) => changes.length === 2)
    assert.deepEqual(
      follower.changes.map((change) => change.revision),
      [made, more],
    )
    assert.deepEqual(
      (await reader.list({ prefix: '' })).entries.map((entry) => entry.key),
      ['a', 'b'],
    )
  })

  it("a section of etcd's log with only foreign changes yields no changes", async () => {
    await using store = await open()
    const start = await store.revision()
    for (let i = 0; i < 5; i++) await put('/elsewhere', `${i}`)
    await using late = await open({ prefix: freshPrefix() })
    await using follower = new Follower(late, start)
    const made = await commit(late, 'a', 0, '')
    await follower.until((changes) => changes.length > 0)
    assert.deepEqual(
      follower.changes.map((change) => change.revision),
      [made],
    )
  })

  it('despite foreign writes, the store returns no revision that its watches do not reach', async () => {
    const prefix = freshPrefix()
    await using one = await open({ prefix })
    await using two = await open({ prefix })
    const made = await commit(one, 'a', 0, '')
    await using follower = new Follower(two, made - 1)
    for (let i = 0; i < 10; i++) {
      await put('/elsewhere', `${i}`)
      assert.equal(await one.revision(), made)
      assert.equal(await two.revision(), made)
      assert.equal((await two.list({ prefix: '' })).revision, made)
    }
    await follower.until((changes) => changes.some((change) => change.revision === made))
    assert.equal(follower.changes.length, 1)
    assert.deepEqual((await one.list({ prefix: '', revision: made })).entries.length, 1)
  })

  it('the newest state can be listed even if another program has compacted its revision', async () => {
    await using store = await open()
    const made = await commit(store, 'a', 0, '')
    assert.equal(await store.revision(), made)
    await put('/elsewhere')
    await using stranger = await open()
    await stranger.compact(await stranger.revision())
    assert.equal(await store.revision(), made)
    assert.equal((await store.list({ prefix: '', revision: made })).entries[0]?.revision, made)
  })

  it('the store compacts etcd automatically and keeps the current state', async () => {
    const prefix = freshPrefix()
    await using one = await open({ prefix, historyMs: 50 })
    await using two = await open({ prefix, historyMs: 50 })
    const old = await commit(one, 'a', 0, '1')
    const made = await commit(two, 'a', old, '2')
    const isGone = () =>
      one.list({ prefix: '', revision: old }).then(
        () => false,
        (error: unknown) => error instanceof RevisionGone,
      )
    await untilTrue(isGone)
    assert.equal((await one.list({ prefix: '', revision: made })).entries.length, 1)
    assert.equal(await two.revision(), made)
  })

  it("the stored offset is added to etcd's revisions, and revisions from before the offset are rejected", async () => {
    const prefix = freshPrefix()
    const offset = 1_000_000_000
    const told: string[] = []
    await using store = await open({ prefix, onWarning: (text) => void told.push(text) })
    const before = await commit(store, 'a', 0, '1')
    {
      await using follower = new Follower(store, before)
      await put(`${prefix}\0offset`, String(offset))
      assert.ok((await follower.ended()) instanceof StoreRestored)
    }
    assert.match(told.at(-1)!, /revision went back/)
    await untilReached(async () => (await store.revision()) > offset)
    assert.equal((await store.get('a'))?.revision, before + offset)
    await assert.rejects(store.list({ prefix: '', revision: before }), RevisionGone)
    await using follower = new Follower(store, before)
    assert.ok((await follower.ended()) instanceof RevisionGone)
    for (const expected of [before, offset, 1]) {
      const key = `absent/${expected}`
      assert.deepEqual(await store.commit({ key, expected, value: bytes('') }), {
        outcome: 'conflict',
        current: undefined,
      })
    }
    const made = await commit(store, 'a', before + offset, '2')
    assert.ok(made > before + offset)
    assert.equal(await store.revision(), made)
  })

  it('a commit is ambiguous only if its response was lost', async () => {
    await using proxy = disposable(await startProxy(cluster.endpoints[0]!))
    const prefix = freshPrefix()
    await using other = await open({ prefix })
    await using store = await open({ prefix, endpoints: [proxy.endpoint], deadlineMs: 4_000 })
    await using follower = new Follower(other, await other.revision())

    proxy.set('mute')
    const lost = store.commit({ key: 'lost', expected: 0, value: bytes('') })
    const rejected = assert.rejects(lost, { name: 'StoreError', ambiguous: true })
    await follower.until((changes) => changes.some((change) => change.key === 'lost'))
    proxy.set('cut')
    await rejected
    // The commit may also have reached its deadline before the disconnect. Later requests fail because of the
    // disconnect.
    await assert.rejects(store.revision(), StoreError)
    const unsent = store.commit({ key: 'unsent', expected: 0, value: bytes('') })
    await assert.rejects(unsent, { name: 'StoreError', ambiguous: false })
    proxy.set('pass')
    assert.equal((await store.get('lost'))?.key, 'lost')
    assert.equal(await store.get('unsent'), undefined)
    await commit(store, 'unsent', 0, 'sent')
    assert.equal(await store.revision(), await other.revision())
  })

  it('after a lost response, the store finds out if possible that its commit happened', async () => {
    await using proxy = disposable(await startProxy(cluster.endpoints[0]!))
    const prefix = freshPrefix()
    await using other = await open({ prefix })
    await using store = await open({ prefix, endpoints: [proxy.endpoint], deadlineMs: 4_000 })
    await using follower = new Follower(other, await other.revision())
    const told = (key: string) => follower.changes.find((change) => change.key === key)
    const mend = () => {
      proxy.set('cut')
      proxy.set('pass')
    }
    const held = await commit(store, 'held', 0, 'old')
    const gone = await commit(store, 'gone', 0, 'old')

    proxy.set('mute')
    const made = store.commit({ key: 'made', expected: 0, value: bytes('drawn'), unique: true })
    const common = store.commit({ key: 'common', expected: 0, value: bytes('') })
    const replaced = store.commit({ key: 'held', expected: held, value: bytes('new') })
    const removed = store.commit({ key: 'gone', expected: gone, value: undefined })
    const unknown = [common, replaced, removed].map((write) => assert.rejects(write, { ambiguous: true }))
    await follower.until((changes) => changes.length === 6)
    mend()
    assert.deepEqual(await made, { outcome: 'committed', revision: told('made')!.revision })
    await Promise.all(unknown)

    const now = (await store.get('held'))!.revision
    proxy.set('deaf')
    const unheard = store.commit({ key: 'held', expected: now, value: bytes('newer') })
    const absent = store.commit({ key: 'absent', expected: 0, value: bytes('drawn too'), unique: true })
    const stays = assert.rejects(absent, { ambiguous: true })
    await new Promise((resolve) => setImmediate(resolve))
    mend()
    const { revision } = assertCommitted(await unheard)
    assert.deepEqual(await store.get('held'), { key: 'held', revision, value: bytes('newer') })
    await stays
  })

  it('after a lost response, the store finds out if possible that another writer was faster', async () => {
    await using proxy = disposable(await startProxy(cluster.endpoints[0]!))
    const prefix = freshPrefix()
    await using other = await open({ prefix })
    await using store = await open({ prefix, endpoints: [proxy.endpoint], deadlineMs: 4_000 })
    interface Race {
      readonly key: string
      /** The values that each side has written. Undefined means a deletion. */
      readonly ours: string | undefined
      readonly theirs: readonly (string | undefined)[]
      readonly isTold: boolean
    }
    const races: readonly Race[] = [
      { key: 'replaced', ours: 'ours', theirs: ['theirs'], isTold: true },
      { key: 'replaced-often', ours: 'ours', theirs: ['1', '2', '3', 'ours', '5'], isTold: true },
      { key: 'not-deleted', ours: undefined, theirs: ['theirs'], isTold: true },
      { key: 'same', ours: 'theirs', theirs: ['theirs', '2'], isTold: false },
      { key: 'deleted', ours: 'ours', theirs: [undefined], isTold: false },
      { key: 'made-anew', ours: 'ours', theirs: [undefined, 'theirs'], isTold: false },
    ]
    const begun = await Promise.all(races.map(({ key }) => commit(other, key, 0, 'old')))

    proxy.set('deaf')
    const outcomes = races.map(async ({ key, ours, isTold }, i) => {
      const writing = store.commit({ key, expected: begun[i]!, value: ours === undefined ? undefined : bytes(ours) })
      if (!isTold) return await assert.rejects(writing, { ambiguous: true }, key)
      assert.deepEqual(await writing, { outcome: 'conflict', current: await other.get(key) })
    })
    for (const [i, { key, theirs }] of races.entries()) {
      let revision = begun[i]!
      for (const value of theirs) {
        const next = await commit(other, key, revision, value)
        revision = value === undefined ? 0 : next
      }
    }
    proxy.set('cut')
    proxy.set('pass')
    await Promise.all(outcomes)
  })

  it('a watch resumes after a disconnect, and reports a gap if etcd was compacted meanwhile', async () => {
    await using proxy = disposable(await startProxy(cluster.endpoints[0]!))
    const prefix = freshPrefix()
    await using other = await open({ prefix })
    await using store = await open({ prefix, endpoints: [proxy.endpoint] })
    const start = await store.revision()
    await using follower = new Follower(store, start)

    const made = [await commit(other, 'a', 0, '')]
    await follower.until((changes) => changes.length === 1)
    proxy.set('cut')
    for (let i = 0; i < 5; i++) made.push(await commit(other, 'a', made.at(-1)!, ''))
    proxy.set('pass')
    await follower.until((changes) => changes.length === made.length)
    assert.deepEqual(
      follower.changes.map((change) => change.revision),
      made,
    )
    proxy.set('cut')
    made.push(await commit(other, 'a', made.at(-1)!, ''))
    made.push(await commit(other, 'a', made.at(-1)!, ''))
    await other.compact(made.at(-1)!)
    proxy.set('pass')
    assert.ok((await follower.ended()) instanceof RevisionGone)
    assert.equal(await store.revision(), made.at(-1))
    await using resumed = new Follower(store, made.at(-1)!)
    made.push(await commit(other, 'a', made.at(-1)!, ''))
    await resumed.until((changes) => changes.at(-1)?.revision === made.at(-1))
  })

  it('a closed store rejects all calls', async () => {
    const store = await open()
    const follower = new Follower(store, await store.revision())
    const pending = store.commit({ key: 'a', expected: 0, value: bytes('') })
    await Promise.all([store.close(), pending.catch((error: unknown) => assert.ok(error instanceof StoreError))])
    assert.ok((await follower.ended()) instanceof StoreError)
    await assert.rejects(store.revision(), StoreError)
    await assert.rejects(store.commit({ key: 'a', expected: 0, value: bytes('') }), StoreError)
    await store.close()
  })
})

describe('etcd store restored from a backup', { timeout: 300_000 }, () => {
  for (const overtaken of [false, true])
    it(`the store restarts at revisions above all returned ones${overtaken ? ', also if etcd has passed them' : ''}`, async () => {
      await using cluster = await startEtcd().then((it) => Object.assign(it, { [Symbol.asyncDispose]: it.stop }))
      await using proxy = disposable(await startProxy(cluster.endpoints[0]!))
      const openAt = async (endpoint: string) =>
        closeOnDispose(await EtcdStore.open({ endpoints: [endpoint], historyMs: 300_000 }))
      await using store = await openAt(proxy.endpoint)
      const kept = await commit(store, 'kept', 0, '')
      await cluster.save()
      await untilReached(async () => (await store.revision()) >= kept)
      let lost = await commit(store, 'lost', 0, '')
      for (let i = 0; i < 5; i++) lost = await commit(store, 'lost', lost, `${i}`)
      const removed = await commit(store, 'kept', kept, undefined)
      await using follower = new Follower(store, kept)
      await follower.until((changes) => changes.at(-1)?.revision === removed)

      proxy.set('cut')
      await cluster.restore()
      if (overtaken) {
        await using other = await openAt(cluster.endpoints[0]!)
        let revision = await commit(other, 'other', 0, '')
        while (revision <= removed + 5) revision = await commit(other, 'other', revision, '')
      }
      proxy.set('pass')
      assert.ok((await follower.ended()) instanceof StoreRestored)
      await untilReached(async () => (await store.revision()) > removed)
      const { entries, revision } = await store.list({ prefix: '' })
      assert.deepEqual(
        entries.map(({ key }) => key),
        overtaken ? ['kept', 'other'] : ['kept'],
      )
      assert.ok(entries.every((entry) => entry.revision > removed))
      assert.ok(revision > removed)
      for (const old of [kept, lost, removed])
        await assert.rejects(store.list({ prefix: '', revision: old }), RevisionGone)
      const result = await store.commit({ key: 'kept', expected: kept, value: bytes('stale') })
      assert.equal(result.outcome, 'conflict')
      await commit(store, 'kept', entries[0]!.revision, 'new')
      await using late = await openAt(cluster.endpoints[0]!)
      assert.equal(await late.revision(), await store.revision())
    })

  it('a commit that waits for etcd during a restore does not change restored data', async () => {
    await using cluster = await startEtcd().then((it) => Object.assign(it, { [Symbol.asyncDispose]: it.stop }))
    await using store = closeOnDispose(await EtcdStore.open({ endpoints: cluster.endpoints, historyMs: 300_000 }))
    const kept = await commit(store, 'kept', 0, '')
    await cluster.save()
    await untilReached(async () => (await store.revision()) >= kept)
    const lost = await commit(store, 'lost', 0, '')
    await cluster.kill(0)
    const deletion = store.commit({ key: 'kept', expected: kept, value: undefined })
    const outcome = assert.rejects(deletion, StoreError)
    await cluster.restore()
    await outcome
    await untilReached(async () => (await store.revision()) > lost)
    const { entries } = await store.list({ prefix: '' })
    assert.deepEqual(
      entries.map(({ key }) => key),
      ['kept'],
    )
    await commit(store, 'kept', entries[0]!.revision, undefined)
  })
})

describe('etcd store out of space', { timeout: 300_000 }, () => {
  it('writes are rejected with StoreFull, and reads, watches and deletes still work', async () => {
    await using cluster = await startEtcd({ args: ['--quota-backend-bytes', String(16 * 1024 * 1024)] }).then((it) =>
      Object.assign(it, { [Symbol.asyncDispose]: it.stop }),
    )
    await using store = closeOnDispose(
      await EtcdStore.open({ endpoints: cluster.endpoints, prefix: '/full/', historyMs: 300_000 }),
    )
    const value = new Uint8Array(1_000_000)
    const made: number[] = []
    let refused: unknown
    for (let i = 0; i < 40 && refused === undefined; i++) {
      const result = await store.commit({ key: `k/${i}`, expected: 0, value }).catch((error: unknown) => error)
      if (result instanceof Error) refused = result
      else made.push((result as { revision: number }).revision)
    }
    assert.ok(refused instanceof StoreFull, String(refused))
    const next = store.commit({ key: 'next', expected: 0, value })
    await assert.rejects(next, { name: 'StoreFull', ambiguous: false })
    assert.equal(await store.get('next'), undefined)
    assert.equal((await store.get('k/0'))?.revision, made[0])
    await using follower = new Follower(store, made.at(-1)!)
    const deleted = await commit(store, 'k/0', made[0]!, undefined)
    await follower.until((changes) => changes.at(-1)?.revision === deleted)
    assert.equal(await store.revision(), deleted)
  })
})

function disposable<T extends { close(): Promise<void> }>(thing: T): T & AsyncDisposable {
  return Object.assign(thing, { [Symbol.asyncDispose]: () => thing.close() })
}

/** Waits until the condition holds. If a store cannot respond yet, the condition counts as not met. */
async function untilReached(holds: () => Promise<boolean>): Promise<void> {
  await untilTrue(() => holds().catch(() => false))
}

/**
 * Tests the store on three etcd members with TLS: several servers, members that crash and restart, and failures to
 * open.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type EtcdOptions, EtcdStore } from '../../../src/storage/store/etcd/store.ts'
import { type Revision, type Store, StoreError } from '../../../src/storage/store/store.ts'
import { type Cluster, freePorts, makeStrangerTls, startEtcd, steadyMs } from '../../support/etcd.ts'
import { bytes, closeOnDispose, commit, Follower } from './follower.ts'
import { clusterSuite } from './suite.ts'

let spaces = 0
const freshPrefix = () => `/space-${spaces++}/`

const openRaw = ({ endpoints, tls }: Cluster, options: Partial<EtcdOptions> = {}) =>
  EtcdStore.open({ endpoints, tls: tls!, prefix: freshPrefix(), historyMs: 300_000, deadlineMs: 8_000, ...options })

/** Returns the members in an order that starts with the given member. */
const from = ({ endpoints }: Cluster, first: number) => endpoints.map((_, i) => endpoints[(first + i) % 3]!)

describe('etcd store on three members with TLS', { timeout: 300_000 }, () => {
  let cluster: Cluster

  before(async () => {
    cluster = await startEtcd({ members: 3, tls: true, electionMs: steadyMs })
  })
  after(() => cluster.stop())

  const open = async (options: Partial<EtcdOptions> = {}) => closeOnDispose(await openRaw(cluster, options))

  clusterSuite('etcd cluster', async () => {
    const store = await openRaw(cluster)
    return { store, cleanup: () => store.close() }
  })

  it('of several concurrent compare-and-set writes one succeeds, and all servers receive all changes', async () => {
    const prefix = freshPrefix()
    await using one = await open({ prefix })
    await using two = await open({ prefix, endpoints: from(cluster, 1) })
    await using three = await open({ prefix, endpoints: from(cluster, 2) })
    const stores = [one, two, three]
    const start = await one.revision()
    await using follower = new Follower(three, start)
    const wins = await Promise.all(stores.map((store) => increment(store, 'counter', 20)))
    const entry = await two.get('counter')
    assert.equal(Buffer.from(entry!.value).toString(), '60')
    const revisions = wins.flat().sort((a, b) => a - b)
    assert.equal(new Set(revisions).size, 60)
    await follower.until((changes) => changes.length === 60)
    assert.deepEqual(
      follower.changes.map((change) => change.revision),
      revisions,
    )
  })

  it('no server returns an older revision than another server has acknowledged', async () => {
    const prefix = freshPrefix()
    await using one = await open({ prefix })
    await using two = await open({ prefix, endpoints: from(cluster, 1) })
    let last = await commit(one, 'a', 0, '')
    for (let i = 0; i < 50; i++) {
      const [writer, reader] = i % 2 === 0 ? [one, two] : [two, one]
      last = await commit(writer, 'a', last, `${i}`)
      const revisions = await Promise.all(Array.from({ length: 5 }, () => reader.revision()))
      assert.deepEqual(new Set(revisions), new Set([last]))
      assert.equal((await reader.get('a'))?.revision, last)
    }
  })
})

describe('etcd store on three members that crash and restart', { timeout: 300_000 }, () => {
  let cluster: Cluster

  before(async () => {
    cluster = await startEtcd({ members: 3, tls: true })
  })
  after(() => cluster.stop())

  const open = async (options: Partial<EtcdOptions> = {}) => closeOnDispose(await openRaw(cluster, options))

  it('no acknowledged write is lost while every member is killed and restarted', async () => {
    const prefix = freshPrefix()
    const deadlineMs = 2_000
    await using one = await open({ prefix, deadlineMs })
    await using two = await open({ prefix, deadlineMs, endpoints: from(cluster, 1) })
    await using follower = new Follower(two, await two.revision())
    const stop = new AbortController()
    const load = Promise.all([one, two].map((store, i) => writeUntil(store, `k${i}`, stop.signal)))
    for (const member of [0, 1, 2]) {
      await cluster.kill(member)
      // Both servers must be able to write again before the stopped member starts again.
      for (const [i, store] of [one, two].entries()) await writeOnce(store, `after-${member}-${i}`)
      await cluster.restart(member)
    }
    stop.abort()
    const acknowledged = (await load).flat()
    assert.ok(acknowledged.length > 10)
    const last = await writeOnce(one, 'last')
    await follower.until((changes) => changes.at(-1)?.revision === last)
    const keysByRevision = new Map(follower.changes.map((change) => [change.revision, change.key]))
    assert.equal(keysByRevision.size, follower.changes.length)
    for (const { revision, key } of acknowledged) assert.equal(keysByRevision.get(revision), key)
  })

  it('without a quorum the store fails within the deadline, and it recovers once there is a quorum', async () => {
    const deadlineMs = 1_500
    await using store = await open({ deadlineMs })
    await using follower = new Follower(store, await store.revision())
    await cluster.kill(1)
    await cluster.kill(2)
    const outcomes = await Promise.allSettled([
      store.commit({ key: 'a', expected: 0, value: bytes('') }),
      store.revision(),
      store.get('a'),
      store.list({ prefix: '' }),
      store.compact(1),
    ])
    for (const outcome of outcomes) {
      assert.equal(outcome.status, 'rejected')
      assert.ok(outcome.reason instanceof StoreError, String(outcome.reason))
    }
    await Promise.all([cluster.restart(1), cluster.restart(2)])
    await writeOnce(store, 'back')
    await follower.until((changes) => changes.some((change) => change.key === 'back'))
  })

  it('the store switches to another member if a member stops responding', async () => {
    await using store = await open()
    await writeOnce(store, 'a')
    cluster.signal(0, 'SIGSTOP')
    try {
      assert.equal((await store.get('a'))?.key, 'a')
      await writeOnce(store, 'b')
    } finally {
      cluster.signal(0, 'SIGCONT')
    }
  })

  it('the store can be opened with unreachable members in the list', async () => {
    const [port] = await freePorts(1)
    await using store = await open({ endpoints: [`https://127.0.0.1:${port}`, ...from(cluster, 0)] })
    await writeOnce(store, 'a')
  })

  it('an error explains why the store cannot be opened', async () => {
    const { ca, cert, key } = cluster.tls!
    const stranger = await makeStrangerTls()
    const [port] = await freePorts(1)
    await using silent = await startSilentServer()
    const plain = cluster.endpoints.map((endpoint) => endpoint.replace('https:', 'http:'))
    const deadlineMs = 3_000
    const cases: [Partial<EtcdOptions>, RegExp][] = [
      [{ endpoints: [`https://127.0.0.1:${port}`] }, /ECONNREFUSED/],
      [{ tls: { ...stranger, ca } }, /handshake failed: .*certificate/],
      [{ tls: { ca: stranger.ca, cert, key } }, /certificate is not trusted/],
      [{ tls: { ca } }, /handshake failed: .*certificate/],
      [{ endpoints: plain }, /no usable etcd member/],
      [{ endpoints: [silent.endpoint] }, /no usable etcd member|before the deadline/],
      [{ endpoints: ['not a url'] }, /invalid etcd endpoint/],
      [{ endpoints: [] }, /no etcd endpoints/],
      [{ prefix: '' }, /invalid etcd prefix/],
    ]
    await Promise.all(
      cases.map(async ([options, reason]) => {
        const opening = openRaw(cluster, { deadlineMs, ...options })
        await assert.rejects(opening, (error: unknown) => {
          assert.ok(error instanceof StoreError)
          assert.match(error.message, reason)
          return true
        })
      }),
    )
  })

  it('an etcd member from another cluster is rejected', async () => {
    const other = await startEtcd()
    try {
      await using store = await open({ endpoints: [cluster.endpoints[0]!, other.endpoints[0]!], deadlineMs: 4_000 })
      await writeOnce(store, 'a')
      await cluster.kill(0)
      await assert.rejects(store.get('a'), /belongs to a different cluster/)
    } finally {
      await other.stop()
      await cluster.restart(0)
    }
  })
})

/** Increments a counter this many times and retries after conflicts. Returns the revisions of the successful writes. */
async function increment(store: Store, key: string, times: number): Promise<Revision[]> {
  const wins: Revision[] = []
  let current = await store.get(key)
  for (let tries = 0; wins.length < times && tries < 10_000; tries++) {
    const count = current === undefined ? 0 : Number(Buffer.from(current.value).toString())
    const value = bytes(String(count + 1))
    const result = await store.commit({ key, expected: current?.revision ?? 0, value })
    if (result.outcome === 'conflict') current = result.current
    else {
      wins.push(result.revision)
      current = { key, revision: result.revision, value }
    }
  }
  return wins
}

interface Written {
  readonly key: string
  readonly revision: Revision
}

/** Creates keys one after another. Keys whose responses are lost do not count. */
async function writeUntil(store: Store, stem: string, signal: AbortSignal): Promise<Written[]> {
  const written: Written[] = []
  for (let i = 0; !signal.aborted; i++) {
    const key = `${stem}/${i}`
    try {
      written.push({ key, revision: await commit(store, key, 0, '') })
    } catch (error) {
      assert.ok(error instanceof StoreError, String(error))
    }
  }
  return written
}

/** Creates a key and retries while the cluster has no leader. Returns the revision of the key. */
async function writeOnce(store: Store, key: string): Promise<Revision> {
  const deadline = performance.now() + 60_000
  for (;;) {
    try {
      const result = await store.commit({ key, expected: 0, value: bytes('') })
      return result.outcome === 'committed' ? result.revision : result.current!.revision
    } catch (error) {
      if (!(error instanceof StoreError) || performance.now() > deadline) throw error
    }
  }
}

/** Accepts connections and never sends anything. */
async function startSilentServer() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `https://127.0.0.1:${(server.address() as { port: number }).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * Tests lifetimes implemented as etcd leases: leases that expire too early, leases that are not granted, and leases
 * that survive a crash of etcd.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Connection } from '../../../src/storage/store/etcd/connection.ts'
import { isLeaseGone, writeFailure } from '../../../src/storage/store/etcd/failure.ts'
import { withLease } from '../../../src/storage/store/etcd/lease.ts'
import { decodeSwap, encodeSwap, methods } from '../../../src/storage/store/etcd/messages.ts'
import { type EtcdOptions, EtcdStore } from '../../../src/storage/store/etcd/store.ts'
import { type Cluster, startEtcd } from '../../support/etcd.ts'
import { startProxy } from '../../support/tcp-proxy.ts'
import { bytes, closeOnDispose, Follower } from './follower.ts'
import { putFor } from './operations.ts'

describe('etcd leases', { timeout: 300_000 }, () => {
  let cluster: Cluster
  let connection: Connection

  before(async () => {
    cluster = await startEtcd()
    connection = new Connection({ endpoints: cluster.endpoints, deadlineMs: 5_000 })
  })
  after(async () => {
    connection.close()
    await cluster.stop()
  })

  const open = async (prefix: string, options: Partial<EtcdOptions> = {}) =>
    closeOnDispose(await EtcdStore.open({ endpoints: cluster.endpoints, prefix, historyMs: 300_000, ...options }))

  const create = async (key: string, lease: bigint) => {
    const compare = { target: 'modRevision', equals: 0 } as const
    const request = encodeSwap({ key: Buffer.from(key), compare, value: bytes('1'), lease })
    return decodeSwap(await connection.call(methods.txn, request, { effect: 'write' }))
  }

  it('a lease that expired before its write is replaced, and the write is repeated', async () => {
    await using store = await open('/ended/')
    await using follower = new Follower(store, await store.revision())
    const leases: bigint[] = []
    const written = await withLease(connection, 1, async (lease) => {
      leases.push(lease)
      if (leases.length > 1) return await create('/ended/a', lease)
      // The store cannot distinguish an expired lease from a lease that never existed.
      const late = await create('/ended/a', lease + 1n).catch((error: unknown) => error)
      assert.ok(isLeaseGone(late), String(late))
      assert.equal(writeFailure(late, 1).ambiguous, false)
      assert.equal(await store.get('a'), undefined)
      throw late
    })
    assert.equal(written.succeeded, true)
    assert.equal(new Set(leases).size, 2)
    await follower.until((changes) => changes.at(-1)?.value === undefined && changes.length === 2)
  })

  it('a write is retried with a new lease at most three times', async () => {
    let tries = 0
    const never = withLease(connection, 1, (lease) => {
      tries++
      return create('/never/a', lease + 1n)
    })
    await assert.rejects(never, isLeaseGone)
    assert.equal(tries, 3)
  })

  it('a write without a lease fails unambiguously', async () => {
    const proxy = await startProxy(cluster.endpoints[0]!)
    try {
      await using store = await open('/refused/', { endpoints: [proxy.endpoint], deadlineMs: 4_000 })
      // A lease may be granted even though the response is lost. The store must not write a key with such a lease.
      for (const mode of ['mute', 'cut'] as const) {
        proxy.set(mode)
        const commit = store.commit({ key: 'a', expected: 0, value: bytes('1'), lifetimeSeconds: 1 })
        await assert.rejects(commit, { name: 'StoreError', ambiguous: false })
      }
    } finally {
      await proxy.close()
    }
  })

  it('leases work after etcd is killed and restarted', async () => {
    await using store = await open('/killed/')
    const made = await putFor(store, 1, 'a', '1', 0)
    const kept = await putFor(store, 3600, 'b', '1', 0)
    await using follower = new Follower(store, made)
    await cluster.kill(0)
    await cluster.restart(0)
    await follower.until((changes) => changes.some(({ key, value }) => key === 'a' && value === undefined))
    assert.equal((await store.get('b'))?.revision, kept)
  })
})

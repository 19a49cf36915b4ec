/** The store over one member of etcd without TLS: its own ways, beside the suite that all backends pass. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Connection } from '../../src/store/etcd/connection.ts'
import { encodePut, methods } from '../../src/store/etcd/messages.ts'
import { EtcdStore } from '../../src/store/etcd/store.ts'
import { type Change, type Revision, RevisionAhead, RevisionGone, StoreError, ValueTooLarge } from '../../src/store/store.ts'
import { type Cluster, startEtcd } from '../tools/etcd.ts'

const historyMs = 300_000
const bytes = (text: string) => new Uint8Array(Buffer.from(text))
const text = (value: Uint8Array | undefined) => value && Buffer.from(value).toString()

describe('etcd store, one member', () => {
  let cluster: Cluster
  let spaces = 0

  before(async () => {
    cluster = await startEtcd()
  })
  after(() => cluster.stop())

  /** A store on a key space of its own. */
  const open = (prefix = `/space-${spaces++}/`) =>
    EtcdStore.open({ endpoints: cluster.endpoints, prefix, historyMs, deadlineMs: 5_000 })

  const raw = () => new Connection({ endpoints: cluster.endpoints, deadlineMs: 5_000 })

  const put = (connection: Connection, key: string, value = '') =>
    connection.call(methods.put, encodePut(Buffer.from(key), bytes(value)), { effect: 'write' })

  it('commits by compare-and-set, and tells what stood there instead', async () => {
    await using store = closing(await open())
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
})

function closing(store: EtcdStore): EtcdStore & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
}

async function commit(store: EtcdStore, key: string, expected: Revision, value: string | undefined): Promise<Revision> {
  const result = await store.commit({ key, expected, value: value === undefined ? undefined : bytes(value) })
  assert.equal(result.outcome, 'committed')
  return result.revision
}

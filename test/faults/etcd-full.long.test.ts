/**
 * Tests a server on an etcd that has reached its quota. The server rejects writes with a Status, while reads, watches
 * and deletes continue. After compacting, defragmenting and disarming the alarm as described in etcd's manual, writes
 * succeed again without a restart. ORCH_LONG=1 keeps etcd full for a minute.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEtcd } from '../support/etcd.ts'
import type { Answer } from '../support/http-client.ts'
import { long } from '../support/long.ts'
import { startServer } from '../support/server.ts'
import { report, untilWritable } from './load.ts'

const fullMs = long ? 60_000 : 1_500
/**
 * The limit is five seconds in the long variant. The short variant allows more time, because the machine runs other
 * tests at the same time.
 */
const recoverMs = long ? 5_000 : 30_000
const quotaBytes = 16 * 1024 * 1024
const path = '/api/v1/namespaces/default/configmaps'
const large = 'x'.repeat(500_000)

test('a server on a full etcd serves reads and deletes, and recovers without a restart', {
  timeout: 300_000,
}, async (t) => {
  const cluster = await startEtcd({ args: ['--quota-backend-bytes', String(quotaBytes)] })
  t.after(() => cluster.stop())
  const server = await startServer(t, [`--etcd-servers=${cluster.endpoints}`])
  const client = server.client()
  const create = (name: string, text = '') => client.post(path, { metadata: { name }, data: { text } })
  const pid = server.process.pid

  const made: string[] = []
  let refusal: Answer | undefined
  for (let i = 0; refusal === undefined; i++) {
    assert.ok(i < 100, 'it does not fill up')
    const answer = await create(`large-${i}`, large)
    if (answer.status === 201) made.push(`large-${i}`)
    else refusal = answer
  }
  assertRefused(refusal)

  const storeLine = async () => (await client.get('/readyz?verbose')).text.match(/^.*\bstore .*$/m)?.[0]
  assert.match((await storeLine())!, /^\[\+\]store ok, but it has been full since .*; compact and defragment etcd/)
  assert.match(
    server.output(),
    /the store is full: writes are rejected, deletes are allowed; compact and defragment etcd/,
  )

  const { body } = await client.get(path)
  const watched = deletedNames(
    client.watch(`${path}?watch=1&resourceVersion=${body.metadata.resourceVersion}`, AbortSignal.timeout(170_000)),
  )
  let refused = 0
  let reads = 0
  const deleted: string[] = []
  const end = performance.now() + fullMs
  for (let i = 0; performance.now() < end || deleted.length < 3; i++) {
    assertRefused(await create(`small-${i}`))
    assertRefused(
      await client.put(`${path}/${made.at(-1)}`, { metadata: { name: made.at(-1) }, data: { i: String(i) } }),
    )
    refused += 2
    assert.equal((await client.get(`${path}/${made.at(-1)}`)).status, 200)
    assert.equal((await client.get(`${path}?limit=2`)).status, 200)
    assert.equal((await client.get('/readyz')).status, 200)
    reads += 2
    if (made.length > 10) {
      const name = made.shift()!
      assert.equal((await client.delete(`${path}/${name}`)).status, 200)
      assert.equal((await watched.next()).value, name)
      deleted.push(name)
    }
  }
  const names = (await client.get(path)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
  assert.deepEqual(names.sort(), made.toSorted(), 'a refused write was done')

  await makeRoom(cluster.endpoints[0]!)
  const ms = await untilWritable(client)
  assert.ok(ms <= recoverMs, `nothing was written for ${ms} ms after there was room`)
  assert.equal((await create('after', large)).status, 201)
  assert.equal(await storeLine(), '[+]store ok')
  assert.match(server.output(), /the store accepts writes again/)
  assert.equal(server.process.pid, pid)
  assert.equal(server.process.exitCode, null)
  report(t, {
    'made until full': made.length + deleted.length,
    refused,
    reads,
    deleted: deleted.length,
    'ms until writable': Math.round(ms),
  })
})

function assertRefused({ status, body, text }: Answer): void {
  assert.equal(status, 507, text.slice(0, 500))
  assert.equal(body.kind, 'Status')
  assert.match(body.message, /store is full/)
}

async function* deletedNames(events: AsyncIterable<{ type: string; object: { metadata: { name: string } } }>) {
  for await (const { type, object } of events) if (type === 'DELETED') yield object.metadata.name
}

/** Frees space in etcd as its manual describes. */
async function makeRoom(endpoint: string): Promise<void> {
  const { header } = await call(endpoint, 'kv/range', { key: Buffer.from('/').toString('base64') })
  await call(endpoint, 'kv/compaction', { revision: header.revision, physical: true })
  await call(endpoint, 'maintenance/defragment', {})
  const { alarms } = await call(endpoint, 'maintenance/alarm', { action: 'GET' })
  assert.equal(alarms.length, 1)
  for (const alarm of alarms) await call(endpoint, 'maintenance/alarm', { ...alarm, action: 'DEACTIVATE' })
}

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any response from etcd's gateway
async function call(endpoint: string, name: string, body: object): Promise<any> {
  const answer = await fetch(`${endpoint}/v3/${name}`, { method: 'POST', body: JSON.stringify(body) })
  assert.equal(answer.status, 200, await answer.clone().text())
  return await answer.json()
}

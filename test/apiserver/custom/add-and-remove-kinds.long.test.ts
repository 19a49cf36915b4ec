/**
 * Tests that creating and removing many kinds leaks no memory, even if the kinds are in use, and that clients are
 * notified.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { queryObjects } from 'node:v8'
import { KeyedQueue } from '../../../src/apiserver/registry/writes/keyed-queue.ts'
import { KindCache } from '../../../src/storage/cache/kind-cache.ts'
import { heapInUse } from '../../support/heap.ts'
import type { HttpClient, WatchEvent } from '../../support/http-client.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { collectionOf, define, isGone, typeOf, undefine } from './definitions.ts'

let server: InProcess
let client: HttpClient
before(async () => {
  server = await startInProcess()
  client = server.client
})
after(() => server.stop())

const data = 'x'.repeat(5000)
const schema = { type: 'object', properties: { data: { type: 'string' } } }

async function comeAndGo(from: number, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => ({
    plural: `kinds${from + i}`,
    kind: `Kind${from + i}`,
    schema,
  }))
  for (let i = 0; i < count; i += 10)
    await Promise.all(
      names.slice(i, i + 10).map(async (wanted) => {
        const name = await define(client, wanted)
        for (const object of ['a', 'b']) {
          const made = await client.post(collectionOf(wanted), { ...typeOf(wanted), metadata: { name: object }, data })
          assert.equal(made.status, 201, made.text)
        }
        assert.equal((await client.get(collectionOf(wanted))).body.items.length, 2)
        await undefine(client, name)
      }),
    )
}

/** Returns the number of caches and queues in memory after garbage collection. */
async function held(): Promise<number[]> {
  await heapInUse()
  return [KindCache, KeyedQueue].map((type) => queryObjects(type, { format: 'count' }))
}

/** The counts are exact, so a few rounds suffice. With ORCH_LONG=1, the test runs many rounds. */
const kindCount = long ? 200 : 10

test(`defining and removing ${kindCount} custom kinds leaks no memory`, async () => {
  const before = await held()
  await comeAndGo(0, kindCount)
  assert.deepEqual(await held(), before)
  assert.ok(!(await client.get('/apis')).text.includes('stable.example.com'))
  assert.ok(!(await client.get('/openapi/v2')).text.includes('com.example.stable'))
})

test('if a custom kind is removed during a list, the list is either complete or fails, and watches end', async () => {
  const wanted = { plural: 'longs', kind: 'Long', schema }
  const name = await define(client, wanted)
  const path = collectionOf(wanted)
  const count = 500
  for (let i = 0; i < count; i += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, j) =>
        client.post(path, { ...typeOf(wanted), metadata: { name: `o${i + j}` }, data }),
      ),
    )
  const events: WatchEvent[] = []
  const watching = (async () => {
    for await (const event of client.watch(`${path}?watch=1`, AbortSignal.timeout(60_000))) events.push(event)
  })()
  const lists = Array.from({ length: 5 }, () => client.get(path))
  const deleting = client.delete(`/apis/apiextensions.orch.io/v1/customresourcedefinitions/${name}`)
  for (const list of await Promise.all(lists)) {
    assert.equal(list.status, 200)
    const seen = new Set(list.body.items.map((item: { metadata: { name: string } }) => item.metadata.name))
    assert.equal(seen.size, list.body.items.length)
  }
  await deleting
  await isGone(client, name)
  await watching
  assert.equal(events.filter(({ type }) => type === 'DELETED').length, count)
})

/** Tests that lists and watches format large objects in steps, with the same result as small objects. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { DocumentWorker } from '../../../src/api/codec/document-worker.ts'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { type Form, jsonForm, prettyForm, yamlForm } from '../../../src/apiserver/http/response/forms.ts'
import { listText } from '../../../src/apiserver/http/verbs/list-parts.ts'
import { TimeSlice } from '../../../src/base/concurrency/time-slice.ts'
import type { CachedObject } from '../../../src/storage/cache/cached-object.ts'
import type { WatchEvent } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import { watchFrames } from '../../support/protobuf-client.ts'
import { caOf } from '../../support/raw-http.ts'

const wide = (keys: number) => Object.fromEntries(Array.from({ length: keys }, (_, i) => [`key-${i}`, `line ${i}\n`]))
const forms: readonly (readonly [string, Form])[] = [
  ['JSON', jsonForm],
  ['indented JSON', prettyForm],
  ['YAML', yamlForm],
]
const emptyList = { kind: 'List', apiVersion: 'v1', items: [] }

for (const [name, form] of forms)
  test(`a large item of a list in ${name} is formatted in steps`, async () => {
    const item: JsonObject = { metadata: { name: 'a' }, data: wide(20_000) }
    const text = await form.openList(emptyList, 'items', new DocumentWorker())
    let steps = 0
    const counting = function* () {
      const work = text.itemSliced(item, undefined)
      for (let step = work.next(); ; step = work.next()) {
        if (step.done) return step.value
        steps++
        yield step.value
      }
    }
    assert.equal(await new TimeSlice().run(counting()), text.item(item, undefined))
    assert.ok(steps > 1000, `${steps} steps`)
  })

test('only the large objects of a list are formatted in steps', async () => {
  const objects = [70_000, 60_000].map((size) => ({ json: Buffer.alloc(size) }) as unknown as CachedObject)
  const chunks = await Array.fromAsync(
    listText({ objects } as unknown as Parameters<typeof listText>[0], {
      ...{ before: '[', between: ',', after: ']' },
      prepare: () => undefined,
      item: () => 'at once',
      *itemSliced() {
        yield
        return 'in steps'
      },
    }),
  )
  assert.equal(Buffer.concat(chunks).toString(), '[in steps,at once]')
})

const server = await serve({ after })
const client = server.client()
// Includes non-ASCII characters, so that the number of bytes differs from the number of characters.
const data = { ...wide(3_000), 'last.key': '\u{1f600}' }
await client.post(configMaps, { metadata: { name: 'large', annotations: { note: 'x'.repeat(70_000) } }, data })
const [stored] = (await client.get(`${configMaps}?fieldSelector=metadata.name%3Dlarge`)).body.items
const readList = async (accept: string, query = '') => {
  const { status, text } = await client.get(`${configMaps}?fieldSelector=metadata.name%3Dlarge&${query}`, { accept })
  assert.equal(status, 200, text.slice(0, 500))
  return text
}
const meta = (as: string) => `application/json;as=${as};g=meta.orch.io;v=v1`

test('lists return a large object completely in every format', async () => {
  assert.deepEqual(parse(await readList('application/yaml')).items, [stored])
  assert.deepEqual(JSON.parse(await readList('application/json', 'pretty=true')).items, [stored])
  const { rows } = JSON.parse(await readList(meta('Table'), 'includeObject=Object'))
  assert.deepEqual(rows[0].cells.slice(0, 2), ['large', 3_001])
  assert.deepEqual(rows[0].object.data, data)
  const [{ metadata }] = JSON.parse(await readList(meta('PartialObjectMetadataList'))).items
  assert.deepEqual(metadata, stored.metadata)
})

test('lists return the selected fields of a large object in every format', async () => {
  const query = 'fields=data,metadata.name'
  const expected = [{ metadata: { name: 'large' }, data }]
  assert.deepEqual(JSON.parse(await readList('application/json', query)).items, expected)
  assert.deepEqual(parse(await readList('application/yaml', query)).items, expected)
})

test('a large object can be read as a table and as partial metadata', async () => {
  const read = async (as: string) => (await client.get(`${configMaps}/large`, { accept: meta(as) })).body
  assert.equal((await read('Table')).rows[0].cells[0], 'large')
  assert.deepEqual((await read('PartialObjectMetadata')).metadata, stored.metadata)
})

const kinds = ['ADDED', 'MODIFIED', 'DELETED']
const counts = [3_001, 3_002, 3_002]

/** Creates an object, watches it from the start while it is changed and deleted, and returns the watch. */
async function changesOf<T>(name: string, watching: (path: string) => Promise<T>): Promise<T> {
  const metadata = { name }
  const { status, body } = await client.post(configMaps, { metadata, data })
  assert.equal(status, 201)
  const before = Number(body.metadata.resourceVersion) - 1
  const query = `watch=1&fieldSelector=metadata.name%3D${name}`
  const events = watching(`${configMaps}?${query}&resourceVersion=${before}`)
  await client.put(`${configMaps}/${name}`, { metadata, data: { ...data, added: 'x' } })
  await client.delete(`${configMaps}/${name}`)
  return await events
}

test('watches return each state of a large object as a table and as partial metadata', async () => {
  const changes = (name: string, as: string) =>
    changesOf(name, async (path) => {
      const end = new AbortController()
      const events: WatchEvent[] = []
      for await (const event of client.watch(path, end.signal, { accept: meta(as) }))
        if (events.push(event) === kinds.length) end.abort()
      return events
    })
  const tables = await changes('tables', 'Table')
  assert.deepEqual(
    tables.map(({ type }) => type),
    kinds,
  )
  assert.deepEqual(
    tables.map(({ object }) => object.rows[0].cells[1]),
    counts,
  )
  assert.deepEqual(
    tables.map(({ object }) => object.columnDefinitions.length > 0),
    [true, false, false],
  )
  const partial = await changes('partial', 'PartialObjectMetadata')
  assert.deepEqual(
    partial.map(({ type, object }) => [type, object.metadata.name]),
    kinds.map((kind) => [kind, 'partial']),
  )
})

test('watches in Protobuf return the initial state and each later state of a large object', async () => {
  const own = { port: server.port, ca: caOf(server) }
  const watched = { accept: vendorOf('orch').protobufMediaType, message: 'core.v1.ConfigMap' }
  const { events } = await changesOf('frames', (path) =>
    watchFrames(own, path, { ...watched, done: ({ length }) => length === kinds.length }),
  )
  assert.deepEqual(
    events.map(({ type }) => type),
    kinds,
  )
  assert.deepEqual(
    events.map(({ object }) => Object.keys(object.data).length),
    counts,
  )
  const initial = `${configMaps}?watch=1&fieldSelector=metadata.name%3Dlarge`
  const listed = await watchFrames(own, initial, { ...watched, done: ({ length }) => length === 1 })
  assert.deepEqual(listed.events[0].object.data, data)
})

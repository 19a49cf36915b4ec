/**
 * Tests lists of many chunks: every byte is correct, regardless of the protocol, the format and the reading speed.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import { caOf, openSocket } from '../../support/raw-http.ts'

const chunk = 64 * 1024

/**
 * Sizes of the objects, 5 MB in total: some around the chunk size, several much larger ones in a row, and many small
 * ones.
 */
const sizes = [
  ...[1, 900_000, 900_000, chunk - 600, chunk - 300, chunk, chunk + 300, 1, 900_000],
  ...Array.from({ length: 400 }, (_, i) => 1000 + i * 20),
]

const owner = endOfFile()

let server: Restartable
let objects: { readonly [field: string]: unknown }[]

before(async () => {
  server = await serve(owner)
  const client = server.client()
  const created = await Promise.all(
    sizes.map((size, i) => {
      const name = `object-${String(i).padStart(4, '0')}`
      // Repeat the index, so that every part of the list is unique.
      const text = `${i}.`.repeat(size).slice(0, size)
      return client.post(configMaps, { metadata: { name }, data: { text } })
    }),
  )
  assert.ok(created.every(({ status }) => status === 201))
  objects = created.map(({ body: { apiVersion, kind, ...rest } }) => rest)
})

async function readSlowly(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of body) {
    parts.push(part)
    await setImmediate()
  }
  return Buffer.concat(parts)
}

function assertWhole(json: string | Buffer): void {
  const { kind, items } = JSON.parse(String(json))
  assert.equal(kind, 'ConfigMapList')
  assert.deepEqual(items, objects)
}

test('a long list over HTTP/1.1 is complete', async () => {
  const headers = { authorization: 'Bearer admin-token' }
  const sent = request({ host: '127.0.0.1', port: server.port, path: configMaps, headers, ca: caOf(server) })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  assertWhole(await readSlowly(response))
})

test('several concurrent long lists over HTTP/2 are complete', async () => {
  const send = server.transport()
  const ask = async (headers = {}) => {
    const { signal } = new AbortController()
    const { body } = await send({ method: 'GET', path: configMaps, headers, body: undefined, signal })
    return await readSlowly(body)
  }
  const [plain, other, zipped] = await Promise.all([ask(), ask(), ask({ 'accept-encoding': 'gzip' })])
  assertWhole(plain!)
  assertWhole(other!)
  assertWhole(gunzipSync(zipped!))
})

test('a long list as a table is complete', async () => {
  const accept = 'application/json;as=Table;g=meta.orch.io;v=v1'
  const { body } = await server.client().get(configMaps, { accept })
  const metadataOf = (rows: { object: { metadata: object } }[]) => rows.map(({ object }) => object.metadata)
  assert.deepEqual(
    metadataOf(body.rows),
    objects.map(({ metadata }) => metadata),
  )
})

test('a long list is complete if its pages are slightly smaller or larger than a chunk', async () => {
  const client = server.client()
  const items: object[] = []
  let token = ''
  do {
    const { body } = await client.get(`${configMaps}?limit=9&continue=${token}`)
    items.push(...body.items)
    token = body.metadata.continue ?? ''
  } while (token !== '')
  assert.deepEqual(items, objects)
})

test('a client that disconnects during a long list does not affect other clients', async () => {
  const leaving = Array.from({ length: 5 }, async () => {
    const socket = await openSocket(server, 'http/1.1')
    socket.write(`GET ${configMaps} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer admin-token\r\n\r\n`)
    await once(socket, 'data')
    socket.destroy()
  })
  const staying = server.client().get(configMaps)
  await Promise.all(leaving)
  assertWhole((await staying).text)
})

test('long lists during concurrent writes contain the same objects as short pages', async () => {
  const client = server.client()
  const path = '/api/v1/namespaces/changing/configmaps'
  await client.post('/api/v1/namespaces', { metadata: { name: 'changing' } })
  const bodyOf = (i: number, text: string) => ({ metadata: { name: `object-${i}` }, data: { text: text.repeat(400) } })
  await Promise.all(Array.from({ length: 200 }, (_, i) => client.post(path, bodyOf(i, 'a'))))
  for (let round = 0; round < 6; round++) {
    const { body } = await client.get(path)
    const pages: object[] = []
    for (let token = ''; pages.length < body.items.length; ) {
      const page = (await client.get(`${path}?limit=40&continue=${token}`)).body
      pages.push(...page.items)
      token = page.metadata.continue ?? ''
    }
    assert.deepEqual(body.items, pages)
    await client.put(`${path}/object-${round * 30}`, bodyOf(round * 30, 'b'))
    await client.delete(`${path}/object-${round * 30 + 7}`)
    await client.post(path, bodyOf(1000 + round, 'c'))
  }
})

/**
 * Tests OpenAPI v3 as kube-apiserver has served it since Kubernetes 1.24: hashes, redirects, both encodings, defaults
 * and enums.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { encodeV3 } from '../../../src/apiserver/http/openapi/protobuf-v3.ts'
import { serve } from '../../support/in-process.ts'

const client = (await serve({ after }, ['--emulated-version=1.36'])).client('admin-token')
const place = '/openapi/v3/apis/scheduling.orch.io/v1'

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any document
type Loose = any
const index: Loose = JSON.parse((await client.get('/openapi/v3')).text)
const address: string = index.paths['apis/scheduling.orch.io/v1'].serverRelativeURL
const { body: document }: { body: Loose } = await client.get(place)

test('the OpenAPI v3 index is plain text for every method, and its path has no slash at the end', async () => {
  for (const method of ['GET', 'POST', 'HEAD']) {
    const { status, headers } = await client.send('/openapi/v3', { method })
    assert.deepEqual([status, headers['content-type']], [200, 'text/plain; charset=utf-8'], method)
  }
  assert.equal((await client.get('/openapi/v3/')).status, 404)
})

test('an OpenAPI v3 document may be cached forever if its URL contains the hash', async () => {
  const { headers } = await client.get(address)
  assert.deepEqual([headers['cache-control'], headers.vary], ['public, immutable', 'Accept'])
  assert.ok(Date.parse(headers.expires!) > Date.now() + 300 * 86_400_000)
  assert.equal((await client.get(address, { 'if-none-match': headers.etag! })).status, 304)
})

test('an OpenAPI v3 URL with a wrong hash redirects to the current URL, and an empty hash counts as missing', async () => {
  const { status, headers } = await client.get(`${place}?hash=0`)
  assert.deepEqual([status, headers.location], [301, address])
  const empty = await client.get(`${place}?hash=`)
  assert.deepEqual([empty.status, empty.headers['cache-control']], [200, 'no-cache, private'])
})

test('a request for an unknown OpenAPI v3 document returns a 404 with an empty body', async () => {
  for (const path of ['apis/none.example.com/v1', 'apis/apps/v9', 'api/v1/configmaps']) {
    const { status, text } = await client.get(`/openapi/v3/${path}`)
    assert.deepEqual([status, text], [404, ''], path)
  }
})

test('the Protobuf form of an OpenAPI document has the same paths and types as the JSON form', async () => {
  const accept = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'
  const { headers, bytes } = await client.get(place, { accept })
  assert.equal(headers['content-type'], accept.replace('@', '.'))
  const { openapi, info, paths, components } = document
  const parts = [
    { openapi, info },
    ...Object.entries<Loose>(paths).map(([name, value]) => ({ paths: { [name]: value } })),
    ...Object.entries<Loose>(components.schemas).map(([name, value]) => ({
      components: { schemas: { [name]: value } },
    })),
    { components: { securitySchemes: components.securitySchemes } },
  ]
  const encoded = parts.map(encodeV3)
  assert.equal(bytes.length, Buffer.concat(encoded).length)
  for (const name of [...Object.keys(paths), ...Object.keys(components.schemas)]) assert.ok(bytes.includes(name), name)
})

test('the fields of Protobuf OpenAPI documents have the same numbers as in Kubernetes', () => {
  const schema = { type: 'integer', default: 0, uniqueItems: true, allOf: [{ $ref: 'x' }] }
  const encoded = encodeV3({ components: { schemas: { a: schema } } })
  const inner = 'ca01 07 696e7465676572 8a02 09 09 0000000000000000 a001 01 d201 05 12 03 0a 01 78'.replaceAll(' ', '')
  const size = inner.length / 2
  const head = [0x2a, size + 11, 0x0a, size + 9, 0x0a, size + 7, 0x0a, 1, 0x61, 0x12, size + 2, 0x0a, size]
  assert.equal(encoded.toString('hex'), Buffer.from(head).toString('hex') + inner)
})

test('OpenAPI v3 definitions have the same names, defaults and enums as in Kubernetes', () => {
  const { PriorityClass, PriorityClassList } = Object.fromEntries(
    Object.entries<Loose>(document.components.schemas).map(([name, schema]) => [name.split('.').at(-1), schema]),
  )
  assert.ok(document.components.schemas['io.k8s.api.scheduling.v1.PriorityClass'])
  const { value, preemptionPolicy, metadata } = PriorityClass.properties
  assert.deepEqual([value.default, preemptionPolicy.default, metadata.default], [0, undefined, {}])
  assert.deepEqual(preemptionPolicy.enum, ['Never', 'PreemptLowerPriority'])
  assert.equal(PriorityClass.required, undefined)
  assert.deepEqual(PriorityClassList.properties.items.items.default, {})
})

test('in some versions, OpenAPI lists a parameter only once if all operations of a path share it', async () => {
  const path = '/apis/scheduling.orch.io/v1/priorityclasses'
  const namesOf = (parameters: Loose[]) => parameters.map(({ name }) => name)
  const { post, parameters, get } = document.paths[path]
  assert.deepEqual(namesOf(post.parameters), ['dryRun', 'fieldManager', 'fieldValidation'])
  assert.deepEqual(namesOf(parameters), ['pretty'])
  assert.deepEqual([Object.keys(post.requestBody.content), post.requestBody.required], [['*/*'], true])
  assert.ok(namesOf(get.parameters).includes('shardSelector'))
  const older = (await serve({ after }, ['--emulated-version=1.28'])).client('admin-token')
  const { body }: { body: Loose } = await older.get(place)
  assert.ok(!namesOf(body.paths[path].get.parameters).includes('shardSelector'))
  assert.equal(body.paths[path].post.requestBody.required, undefined)
  const schema = body.components.schemas['io.k8s.api.scheduling.v1.PriorityClass']
  assert.deepEqual(schema.required, ['value'])
})

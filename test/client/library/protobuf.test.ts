/**
 * Tests `connect({ form: 'protobuf' })`: the client returns the same objects as with JSON, and rejects invalid
 * encodings.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { ProtobufDocuments } from '../../../src/api/codec/protobuf/documents.ts'
import { allKinds } from '../../../src/api/kinds/all.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { profileNames, vendorOf } from '../../../src/api/model/vendor.ts'
import {
  ConfigMap,
  connect,
  isNotFound,
  Lease,
  type Transport,
  TransportError,
} from '../../../src/client/library/client.ts'
import { fromTable, type SchemaTable, toTable } from '../../../src/client/library/schema-table.ts'
import { serve } from '../../support/in-process.ts'
import { manifestNames, manifestObject } from '../../support/manifests.ts'

const inDefault = (name: string) => ({ namespace: 'default', name })

for (const profile of profileNames)
  test(`objects are transferred in Protobuf under the names of the profile ${profile}`, async (t) => {
    const server = await serve(t, [`--profile=${profile}`])
    const forms: string[] = []
    const send = server.transport()
    const noted: Transport = async (request) => {
      const response = await send(request)
      forms.push(`${request.method} ${response.headers['content-type']}`)
      return response
    }
    const client = await connect({ transport: noted, form: 'protobuf' })
    const json = await connect({ transport: send })
    const created = await client.create(ConfigMap, { metadata: inDefault('a'), data: { k: 'v' } })
    assert.deepEqual(await json.get(ConfigMap, inDefault('a')), created)
    const lease = await client.create(Lease, { metadata: inDefault('l'), spec: { leaseDurationSeconds: 5 } })
    assert.deepEqual(await json.get(Lease, inDefault('l')), lease)
    assert.deepEqual((await client.list(ConfigMap)).items, (await json.list(ConfigMap)).items)
    for await (const event of client.watch(ConfigMap, { namespace: 'default', resourceVersion: '0' })) {
      assert.ok(event.type === 'ADDED' && isDeepStrictEqual(event.object, created))
      break
    }
    await assert.rejects(client.get(ConfigMap, inDefault('none')), isNotFound)
    const type = vendorOf(profile).protobufMediaType
    const [first, ...others] = forms
    assert.equal(first, 'GET application/json')
    assert.ok(
      others.every((form) => form.includes(type) || form.startsWith('GET application/json')),
      others.join('\n'),
    )
    assert.ok(others.filter((form) => form.includes(type)).length >= 5)
  })

test('a response without the Protobuf prefix is rejected', async (t) => {
  const server = await serve(t)
  const send = server.transport()
  const foul: Transport = async (request) => {
    const response = await send(request)
    if (!response.headers['content-type']?.includes('protobuf')) return response
    return { ...response, body: spoilt(response.body) }
  }
  const client = await connect({ transport: foul, form: 'protobuf' })
  const isRefused = (error: unknown) => error instanceof TransportError && /6b 38 73 00/.test(error.message)
  await assert.rejects(client.list(ConfigMap), isRefused)
  await assert.rejects(client.get(ConfigMap, inDefault('none')), isRefused)
})

async function* spoilt(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let remaining = 4
  for await (const chunk of chunks) {
    const copy = chunk.slice()
    copy.fill(0, 0, Math.min(remaining, copy.length))
    remaining -= Math.min(remaining, copy.length)
    yield copy
  }
}

test('the bundled Protobuf table encodes and decodes every kind in the same way as the definition of the kind', () => {
  const table = JSON.parse(JSON.stringify(toTable(allKinds))) as SchemaTable
  assert.ok(!JSON.stringify(table).includes('"doc"'))
  const vendor = vendorOf('kubernetes')
  const whole = new ProtobufDocuments(vendor, allKinds)
  const fromData = new ProtobufDocuments(vendor, fromTable(table))
  let compared = 0
  for (const manifest of manifestNames.map((name) => asJson(manifestObject(name, 'kubernetes')))) {
    const bytes = whole.write(manifest)
    if (bytes === undefined) continue
    compared++
    assert.deepEqual(fromData.write(manifest), bytes)
    assert.deepEqual(fromData.read(bytes), whole.read(bytes))
  }
  assert.ok(compared > 40, `${compared}`)
})

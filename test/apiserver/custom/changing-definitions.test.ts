/**
 * Tests a definition that gains a field while its objects are being written. Once the change has been acknowledged, no
 * write silently drops the field, not even a write that was already in flight.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import {
  collectionOf,
  type DefinitionOptions,
  define,
  definitionOf,
  definitions,
  typeOf,
  undefine,
} from './definitions.ts'

let server: InProcess
let client: HttpClient
before(async () => {
  server = await startInProcess()
  client = server.client
})
after(() => server.stop())

const mergePatch = 'application/merge-patch+json'

/** Returns a schema with these fields in the spec. */
function schemaOf(fields: readonly string[]): JsonObject {
  const properties = Object.fromEntries(fields.map((name) => [name, { type: 'string' }]))
  const spec = { type: 'object', properties }
  return { type: 'object', properties: { spec, status: spec } }
}

const version = { subresources: { status: {} } }

async function gain(name: string, wanted: DefinitionOptions, fields: readonly string[]): Promise<void> {
  const { versions } = definitionOf({ ...wanted, version, schema: schemaOf(fields) }).spec
  const changed = await client.send(`${definitions}/${name}`, {
    method: 'PATCH',
    headers: { 'content-type': mergePatch },
    body: { spec: { versions } },
  })
  assert.equal(changed.status, 200, changed.text)
}

type Write = (path: string, spec: JsonObject) => Promise<Answer>

async function patch(path: string, type: string, body: JsonObject | JsonObject[]): Promise<Answer> {
  return await client.send(path, { method: 'PATCH', headers: { 'content-type': type }, body })
}

const gaining = { plural: 'gainings', kind: 'Gaining' }

const writes: { readonly [writeMethod: string]: Write } = {
  'a create': (path, spec) => client.post(path, { ...typeOf(gaining), metadata: { generateName: 'new-' }, spec }),
  'an update': async (path, spec) => {
    const { body } = await client.get(`${path}/a`)
    return await client.put(`${path}/a`, { ...body, spec })
  },
  'a merge patch': (path, spec) => patch(`${path}/a`, mergePatch, { spec }),
  'a JSON patch': (path, spec) =>
    patch(`${path}/a`, 'application/json-patch+json', [{ op: 'replace', path: '/spec', value: spec }]),
  'an apply': (path, spec) => {
    const config = { ...typeOf(gaining), metadata: { name: 'a' }, spec }
    return patch(`${path}/a?fieldManager=me&force=true`, 'application/apply-patch+yaml', config)
  },
  'a dry run': (path, spec) => patch(`${path}/a?dryRun=All`, mergePatch, { spec }),
  'a strict create': (path, spec) =>
    client.post(`${path}?fieldValidation=Strict`, { ...typeOf(gaining), metadata: { generateName: 'new-' }, spec }),
}

test('a write that starts after an acknowledged schema change keeps the field that the change added', async () => {
  const wanted = gaining
  const fields = ['first']
  const name = await define(client, { ...wanted, version, schema: schemaOf(fields) })
  const path = collectionOf(wanted)
  assert.equal(
    (await client.post(path, { ...typeOf(wanted), metadata: { name: 'a' }, spec: { first: 'x' } })).status,
    201,
  )
  for (let round = 0; round < 3; round++)
    for (const [writeMethod, write] of Object.entries(writes)) {
      const field = `field${fields.length}`
      fields.push(field)
      await gain(name, wanted, fields)
      const answer = await write(path, { [field]: 'kept' })
      assert.ok(answer.status < 300, `${writeMethod}: ${answer.text}`)
      assert.equal(answer.body.spec[field], 'kept', `${writeMethod} lost the new field: ${answer.text}`)
    }
  await undefine(client, name)
})

/** Sends the head of a request, and returns a function that sends the body and completes the request. */
async function sendSlowly(
  method: string,
  path: string,
  type: string,
  body: JsonObject,
): Promise<() => Promise<JsonObject>> {
  const text = JSON.stringify(body)
  const headers = {
    authorization: 'Bearer admin-token',
    'content-type': type,
    'content-length': Buffer.byteLength(text),
  }
  const sending = request({ host: '127.0.0.1', port: server.port, ca: server.ca, method, path, headers })
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>
  await new Promise((resolve) => sending.write(text.slice(0, 10), resolve))
  return async () => {
    sending.end(text.slice(10))
    const [response] = await answered
    let answer = ''
    for await (const chunk of response.setEncoding('utf8')) answer += chunk
    return JSON.parse(answer)
  }
}

const slowWrites: readonly (readonly [writeMethod: string, method: string, place: string, type: string])[] = [
  ['a create', 'POST', '', 'application/json'],
  ['an update', 'PUT', '/a', 'application/json'],
  ['a merge patch', 'PATCH', '/a', mergePatch],
  ['an apply', 'PATCH', '/a?fieldManager=me&force=true', 'application/apply-patch+yaml'],
  ['an update of the status', 'PUT', '/a/status', 'application/json'],
]

for (const [i, [writeMethod, method, place, type]] of slowWrites.entries())
  test(`${writeMethod} whose body arrives after a schema change keeps the new field and all other values`, async () => {
    const wanted = { plural: `slows${i}`, kind: `Slow${i}` }
    const name = await define(client, { ...wanted, version, schema: schemaOf(['first']) })
    const path = collectionOf(wanted)
    const made = await client.post(path, { ...typeOf(wanted), metadata: { name: 'a' }, spec: { first: 'x' } })
    const { resourceVersion } = made.body.metadata
    const part = place.endsWith('status') ? 'status' : 'spec'
    const finish = await sendSlowly(method, `${path}${place}`, type, {
      ...typeOf(wanted),
      metadata: { name: method === 'POST' ? 'b' : 'a', ...(method === 'PUT' && { resourceVersion }) },
      [part]: { second: 'kept' },
    })
    // The server dispatches requests in the order in which they were sent.
    await client.get(path)
    await gain(name, wanted, ['first', 'second', 'third'])
    const seen = await client.post(path, {
      ...typeOf(wanted),
      metadata: { name: 'seen' },
      spec: { second: 'is served' },
    })
    assert.equal(seen.body.spec.second, 'is served')
    if (method === 'PATCH') await patch(`${path}/a`, mergePatch, { spec: { third: 'of another' } })
    const answer = (await finish()) as { spec?: JsonObject; status?: JsonObject }
    assert.equal(answer[part]?.second, 'kept', JSON.stringify(answer))
    const stored = await client.get(`${path}/${method === 'POST' ? 'b' : 'a'}`)
    assert.equal(stored.body[part].second, 'kept', stored.text)
    if (method === 'PATCH') assert.equal(stored.body.spec.third, 'of another', stored.text)
    await undefine(client, name)
  })

/**
 * Tests that every write method performs the same checks. A document can be sent by create, PUT, each patch type or
 * apply, in JSON or YAML. The server rejects the document unless it is an object of the right kind in well-formed text.
 * All stored objects are then read in every format: after each method or, in the long variant, after each write.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { configMaps } from '../../support/paths.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const existing = `${configMaps}/existing`
const json = 'application/json'
const yaml = 'application/yaml'
const apply = 'application/apply-patch+yaml'
const patch = (form: string) => `application/${form}-patch+json`

interface Way {
  readonly method: string
  readonly path: string
  readonly type: string
}

const whole: { readonly [method: string]: Way } = {
  'create in JSON': { method: 'POST', path: configMaps, type: json },
  'create in YAML': { method: 'POST', path: configMaps, type: yaml },
  'update in JSON': { method: 'PUT', path: existing, type: json },
  'update in YAML': { method: 'PUT', path: existing, type: yaml },
  'merge patch': { method: 'PATCH', path: existing, type: patch('merge') },
  'strategic merge patch': { method: 'PATCH', path: existing, type: patch('strategic-merge') },
  'JSON patch': { method: 'PATCH', path: existing, type: patch('json') },
  'apply to an object': { method: 'PATCH', path: `${existing}?fieldManager=m&force=true`, type: apply },
  'apply that creates': { method: 'PATCH', path: `${configMaps}/fresh?fieldManager=m`, type: apply },
  'apply to a namespace': { method: 'PATCH', path: '/api/v1/namespaces/default?fieldManager=m', type: apply },
  'apply to a status': { method: 'PATCH', path: '/api/v1/namespaces/default/status?fieldManager=m', type: apply },
  'update of a status': { method: 'PUT', path: '/api/v1/namespaces/default/status', type: json },
  'patch of a status': { method: 'PATCH', path: '/api/v1/namespaces/default/status', type: patch('merge') },
}

/** Returns the name that the sent object must have for this method. */
function nameFor({ path }: Way): string {
  return (
    /\/(existing|fresh)/.exec(path)?.[1] ??
    (path.startsWith('/api/v1/namespaces/default/configmaps') ? 'made' : 'default')
  )
}

/**
 * Sends a write. `members` is the JSON text of an object without its braces, and `operations` is the same as a JSON
 * patch.
 */
function send(client: HttpClient, way: Way, { members, operations }: Sent): Promise<Answer> {
  const body = way.type === patch('json') ? operations : `{${members},"metadata":{"name":"${nameFor(way)}"}}`
  return client.send(way.path, { method: way.method, raw: body, headers: { 'content-type': way.type } })
}

interface Sent {
  readonly members: string
  readonly operations: string
}

const set = (path: string, value: string) => `[{"op":"add","path":"${path}","value":${value}}]`

const wrongTypes: { readonly [name: string]: Sent } = {
  'a kind of null': { members: '"apiVersion":"v1","kind":null', operations: set('/kind', 'null') },
  'an empty kind': { members: '"apiVersion":"v1","kind":""', operations: set('/kind', '""') },
  'another kind': { members: '"apiVersion":"v1","kind":"Secret"', operations: set('/kind', '"Secret"') },
  'a number for a kind': { members: '"apiVersion":"v1","kind":1', operations: set('/kind', '1') },
  'an object for a kind': { members: '"apiVersion":"v1","kind":{"a":1}', operations: set('/kind', '{"a":1}') },
  'a version of null': { members: '"apiVersion":null,"kind":"KIND"', operations: set('/apiVersion', 'null') },
  'another version': { members: '"apiVersion":"v2","kind":"KIND"', operations: set('/apiVersion', '"v2"') },
  'a list for a version': { members: '"apiVersion":["v1"],"kind":"KIND"', operations: set('/apiVersion', '["v1"]') },
  'no kind': { members: '"apiVersion":"v1"', operations: '[{"op":"remove","path":"/kind"}]' },
  'no version': { members: '"kind":"KIND"', operations: '[{"op":"remove","path":"/apiVersion"}]' },
}

/**
 * If apiVersion or kind is missing, the path determines the type. A merge patch without these members does not change
 * them.
 */
const mayBeLeftOut = /^(?:no |a kind of null|an empty kind|a version of null)/

const half = '"\\ud800"'
const illFormed: { readonly [name: string]: Sent } = {
  'a lone high surrogate in a value': { members: `"data":{"a":${half}}`, operations: set('/data', `{"a":${half}}`) },
  'a lone low surrogate': { members: '"data":{"a":"x\\udc00"}', operations: set('/data', '{"a":"x\\udc00"}') },
  'a lone surrogate in a key': { members: `"data":{${half}:"a"}`, operations: set('/data', `{${half}:"a"}`) },
  'a lone surrogate in an unknown field': { members: `"x":[${half}]`, operations: set('/x', `[${half}]`) },
  'surrogates in the wrong order': {
    members: '"data":{"a":"\\udc00\\ud800"}',
    operations: set('/data', '{"a":"\\udc00\\ud800"}'),
  },
}

const forms = [
  json,
  yaml,
  `${json};as=Table;v=v1;g=meta.orch.io`,
  `${json};as=PartialObjectMetadataList;v=v1;g=meta.orch.io`,
]

/** Reads all stored objects in every format. */
async function assertReadable(client: HttpClient): Promise<void> {
  for (const path of ['/api/v1/configmaps', '/api/v1/namespaces'])
    for (const accept of forms)
      for (const query of ['', '?pretty=true']) {
        const { status, text } = await client.get(`${path}${query}`, { accept })
        assert.equal(status, 200, `${path}${query} as ${accept}: ${text.slice(0, 300)}`)
      }
}

test('every write method rejects an object whose kind does not match the path', { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  const client = server.client()
  const assertAlive = survivalCheck(server)
  await client.post(configMaps, { metadata: { name: 'existing' } })
  for (const [writeMethod, way] of Object.entries(whole)) {
    for (const [fault, { members, operations }] of Object.entries(wrongTypes))
      await t.test(`the server rejects ${writeMethod} with the wrong kind: ${fault}`, async () => {
        const kind = nameFor(way) === 'default' ? 'Namespace' : 'ConfigMap'
        const { status, text } = await send(client, way, { members: members.replace('KIND', kind), operations })
        const lenient = mayBeLeftOut.test(fault) && way.type !== apply && way.type !== patch('json')
        assert.ok(
          lenient ? status < 300 || [400, 409, 422].includes(status) : [400, 422].includes(status),
          `${status} ${text}`,
        )
        if (status < 300) assert.deepEqual([JSON.parse(text).kind, JSON.parse(text).apiVersion], [kind, 'v1'])
        await client.delete(`${configMaps}/made`)
        if (long) await assertReadable(client)
        await assertAlive()
      })
    await assertReadable(client)
  }
  assert.equal((await client.get(`${configMaps}/fresh`)).status, 404)
})

test('every write method rejects text with unpaired surrogates', { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  const client = server.client()
  const assertAlive = survivalCheck(server)
  await client.post(configMaps, { metadata: { name: 'existing' } })
  for (const [writeMethod, way] of Object.entries(whole)) {
    for (const [fault, { members, operations }] of Object.entries(illFormed))
      await t.test(`the server rejects ${writeMethod} with ill-formed text: ${fault}`, async () => {
        const kind = nameFor(way) === 'default' ? 'Namespace' : 'ConfigMap'
        const typed = `"apiVersion":"v1","kind":"${kind}",${members}`
        const { status, text } = await send(client, way, { members: typed, operations })
        assert.equal(status, 400, text)
        assert.match(text, /surrogate/)
        if (long) await assertReadable(client)
        await assertAlive()
      })
    await assertReadable(client)
  }
  for (const text of [`data: {a: "\\ud800"}`, `data: {a: "\\U0000DC00"}`, `"\\ud83d": x`, `? "\\ud800"\n: 1`])
    await t.test(`YAML with ill-formed text is rejected: ${text}`, async () => {
      const body = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\n${text}\n`
      for (const [type, path] of [
        [yaml, configMaps],
        [apply, `${configMaps}/made?fieldManager=m`],
      ] as const) {
        const method = type === yaml ? 'POST' : 'PATCH'
        const answer = await client.send(path, { method, raw: body, headers: { 'content-type': type } })
        assert.equal(answer.status, 400, answer.text)
        await assertReadable(client)
      }
    })
  await t.test('a request body with complete surrogate pairs is accepted', async () => {
    const sent = { members: '"data":{"a":"\\ud83d\\ude00"}', operations: set('/data', '{"a":"\\ud83d\\ude00"}') }
    for (const name of ['create in JSON', 'create in YAML', 'merge patch', 'JSON patch'] as const) {
      const { status, body } = await send(client, whole[name]!, sent)
      assert.deepEqual([status < 300, body.data], [true, { a: '😀' }])
      await client.delete(`${configMaps}/made`)
    }
  })
})

test('a patch cannot nest an object more deeply than a request body can', async (t) => {
  const server = await serve(t)
  const client = server.client()
  await client.post(configMaps, { metadata: { name: 'existing' }, data: { a: '1' } })
  const fields = '/metadata/managedFields/0/fieldsV1/f:data'
  const copies = JSON.stringify(
    Array.from({ length: 100 }, () => ({ op: 'copy', from: fields, path: `${fields}/f:x` })),
  )
  const codes: number[] = []
  for (let i = 0; i < 8; i++) {
    for (const query of ['?dryRun=All', '']) {
      const sent = { method: 'PATCH', raw: copies, headers: { 'content-type': patch('json') } }
      codes.push((await client.send(existing + query, sent)).status)
    }
    await assertReadable(client)
    const { body } = await client.get(existing)
    assert.equal((await client.put(existing, body)).status, 200)
  }
  for (const code of codes) assert.ok([200, 400, 422].includes(code), codes.join())
  await survivalCheck(server)()
})

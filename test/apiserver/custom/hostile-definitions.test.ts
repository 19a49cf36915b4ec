/**
 * Tests hostile definitions: deep and huge schemas, catastrophic patterns, rules whose costs multiply, and invalid
 * names. Each definition is either rejected or limited in its cost, and blocks other requests no longer than an
 * ordinary request does. The tests measure the CPU time of the server's thread.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { assertBrief } from '../../support/effort.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import { collectionOf, define, definitionOf, definitions, typeOf, undefine } from './definitions.ts'

/** The goal is 50 ms. The limit is higher because the thread's CPU time includes compilation and garbage collection. */
const maxMs = 350

let server: InProcess
let client: HttpClient
before(async () => {
  server = await startInProcess()
  client = server.client
  // Run the code once now, so that the measurements do not include loading and compiling it.
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^a$' } } }
  await undefine(client, await define(client, { schema }))
})
after(() => server.stop())

function about(property: Json): JsonObject {
  return { type: 'object', properties: { a: property } }
}

function nest(depth: number): JsonObject {
  return depth === 0 ? { type: 'string' } : about(nest(depth - 1))
}

function many(count: number, property: Json): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, property])),
  }
}

async function sendDefinition(schema: JsonObject): Promise<Answer> {
  return await client.post(`${definitions}?dryRun=All`, definitionOf({ schema }))
}

async function bounded<T>(run: () => Promise<T>): Promise<T> {
  return (await assertBrief(maxMs, run)).result
}

const refused: readonly (readonly [string, JsonObject])[] = [
  ['a schema with 70 levels', nest(70)],
  ['a schema with 25,000 nodes', many(25_000, { type: 'string' })],
  ['an invalid pattern', about({ type: 'string', pattern: '(' })],
  ['a pattern with a back-reference', about({ type: 'string', pattern: '(a)\\1' })],
  ['a pattern of 5,000 characters', about({ type: 'string', pattern: 'a'.repeat(5000) })],
  ['a pattern that compiles to 580,000 steps', about({ type: 'string', pattern: 'x{1000}'.repeat(580) })],
  ['a pattern with nested repetitions', about({ type: 'string', pattern: '(x{30}){30}(?:y{0,999}|z)'.repeat(60) })],
  ['a pattern with Unicode classes', about({ type: 'string', pattern: `(?i)[${'\\pL\\PL'.repeat(600)}]` })],
  [
    'a pattern with case-insensitive ranges',
    about({ type: 'string', pattern: `(?i)[${'\\x{100}-\\x{10ffff}'.repeat(200)}]` }),
  ],
  ['patterns whose total size is too large', about(manyPatterns(200))],
  [
    'a default that does not match its pattern',
    about({ type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(40)}b` }),
  ],
]

function manyPatterns(count: number): JsonObject {
  const properties = Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string', pattern: `(x{0,900}${i})` }])
  return { type: 'object', properties: Object.fromEntries(properties) }
}

for (const [what, schema] of refused)
  test(`a definition with ${what} is rejected without blocking other requests`, async () => {
    const answer = await bounded(() => sendDefinition(schema))
    assert.equal(answer.status, 422, answer.text.slice(0, 500))
  })

test('a definition with a schema of the maximum size is accepted without blocking other requests', async () => {
  const schema = many(9000, { type: 'string', maxLength: 10, default: 'x' })
  const answer = await bounded(() => sendDefinition(schema))
  assert.equal(answer.status, 201, answer.text.slice(0, 500))
})

test('schema patterns that are prone to backtracking match quickly, and strings that are too long for them are rejected', async () => {
  const properties = {
    simple: { type: 'string', pattern: '^[a-z]+$' },
    catastrophe: { type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' },
    large: { type: 'string', pattern: '^(a?){400}a{400}$' },
    list: { type: 'array', items: { type: 'string', pattern: '^(a|aa)+$' } },
    costly: { type: 'array', items: { type: 'string', pattern: '^(a?){400}a{400}$' } },
  }
  const name = await define(client, { schema: { type: 'object', properties } })
  const path = `${collectionOf()}?dryRun=All`
  const send = (fields: JsonObject) =>
    bounded(() => client.post(path, { ...typeOf(), metadata: { name: 'x' }, ...fields }))
  assert.equal((await send({ simple: 'a'.repeat(100_000) })).status, 201)
  assert.equal((await send({ simple: 'a'.repeat(1_000_000) })).status, 422)
  assert.equal((await send({ catastrophe: 'a'.repeat(30_000) })).status, 422)
  assert.equal((await send({ large: 'a'.repeat(1000) })).status, 422)
  assert.equal((await send({ list: Array(2000).fill('a'.repeat(20)) })).status, 201)
  const costly = await send({ costly: Array(2000).fill('a'.repeat(500)) })
  assert.equal(costly.status, 422)
  await undefine(client, name)
})

test('validation of a schema with exponentially many alternatives is aborted', async () => {
  const anyOf = Array.from({ length: 3000 }, (_, i) => ({ properties: { a: { enum: [i] }, b: { minLength: i + 1 } } }))
  const items = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'string' } }, anyOf }
  const schema = { type: 'object', properties: { list: { type: 'array', items } } }
  const name = await define(client, { schema })
  const list = Array.from({ length: 20_000 }, () => ({ a: -1, b: '' }))
  const answer = await bounded(() => client.post(collectionOf(), { ...typeOf(), metadata: { name: 'x' }, list }))
  assert.equal(answer.status, 422)
  assert.match(answer.text, /takes too long/)
  await undefine(client, name)
})

test('schema fields with the names of JavaScript properties are ordinary fields', async () => {
  const odd = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const spec = {
    type: 'object',
    properties: Object.fromEntries(odd.map((name) => [name, { type: 'string', default: `default ${name}` }])),
  }
  const hostileDefinition = {
    plural: 'constructor',
    kind: 'Constructor',
    group: 'prototype.example.com',
    shortNames: ['valueof'],
    schema: { type: 'object', properties: { spec } },
    version: { additionalPrinterColumns: [{ name: '__proto__', type: 'string', jsonPath: '.spec.__proto__' }] },
  }
  // Send the definition as text, because __proto__ is not a key in an object literal.
  const raw = JSON.stringify(definitionOf(hostileDefinition))
  assert.ok(raw.includes('"__proto__":{"type":"string"'))
  const made = await client.send(definitions, { method: 'POST', raw })
  assert.equal(made.status, 201, made.text)
  const path = collectionOf(hostileDefinition)
  const created = await client.send(path, {
    method: 'POST',
    raw: `${JSON.stringify(typeOf(hostileDefinition)).slice(0, -1)},"metadata":{"name":"a"},"spec":{"__proto__":"mine","constructor":"too"},"__proto__":{"polluted":true}}`,
  })
  assert.equal(created.status, 201, created.text)
  assert.match(created.text, /"__proto__":"mine"/)
  assert.match(created.text, /"toString":"default toString"/)
  assert.doesNotMatch(created.text, /polluted/)
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
  const table = await client.get(path, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
  assert.deepEqual(table.body.rows[0].cells, ['a', 'mine'])
  await undefine(client, 'constructor.prototype.example.com')
})

test('custom objects stored under an older schema can be read, listed and deleted', async () => {
  const name = await define(client, { schema: { type: 'object', 'x-orch-preserve-unknown-fields': true } })
  const path = collectionOf()
  const body = { ...typeOf(), metadata: { name: 'a' }, spec: { size: 'large', obj: { metadata: 'none' } } }
  assert.equal((await client.post(path, body)).status, 201)
  const obj = { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true }
  const spec = { type: 'object', properties: { size: { type: 'integer' }, obj } }
  const versions = definitionOf({ schema: { type: 'object', properties: { spec } } }).spec.versions
  const watching = client.watch(`${path}?watch=1&resourceVersion=0`, AbortSignal.timeout(120_000))
  await watching.next()
  const changed = await client.send(`${definitions}/${name}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { versions } },
  })
  assert.equal(changed.status, 200, changed.text)
  assert.equal((await watching.next()).done, true)
  for (const answer of [await client.get(`${path}/a`), await client.get(path)])
    assert.equal(answer.status, 200, answer.text)
  await undefine(client, name)
})

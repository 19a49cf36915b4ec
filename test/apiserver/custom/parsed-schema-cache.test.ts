/** Tests that a schema is parsed only once for both validation and use, and that identical nodes are shared. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import type { ObjectSchema } from '../../../src/api/schema/schema.ts'
import { ParsedSchemaCache } from '../../../src/apiserver/custom/definitions/parsed-schema-cache.ts'
import { readStructuralSchema } from '../../../src/apiserver/custom/schema/structural-schema.ts'

const vendor = vendorOf('orch')
const schema = (description: string): Json => ({
  type: 'object',
  properties: {
    a: { type: 'string', description },
    b: { type: 'string' },
    limited: { type: 'string', maxLength: 3 },
    nullable: { type: 'string', nullable: true },
    date: { type: 'string', format: 'date' },
  },
})

test('a schema that was parsed for validation is reused only once, and only for the same text', async () => {
  const judged = await readStructuralSchema(schema('one'), vendor, { path: '' })
  const other = await readStructuralSchema(schema('two'), vendor, { path: '', stored: true })
  const served = await readStructuralSchema(schema('one'), vendor, { path: '', stored: true })
  const again = await readStructuralSchema(schema('one'), vendor, { path: '', stored: true })
  assert.notEqual(other, judged)
  assert.equal(served, judged)
  assert.notEqual(again, judged)
})

test('unused parsed schemas are evicted from the cache', () => {
  const ahead = new ParsedSchemaCache<number>()
  const text = (i: number) => `${i}${'x'.repeat(300_000)}`
  for (let i = 0; i < 5; i++) ahead.put(text(i), i)
  ahead.put(text(4), 40)
  const left = [0, 1, 2, 3, 4].map((i) => ahead.take(text(i)))
  assert.deepEqual(left, [undefined, undefined, 2, 3, 40])
})

test('schema nodes that specify only a type are shared among all schemas', async () => {
  const [one, two] = await Promise.all(['one', 'two'].map(fieldsOf))
  assert.equal(one!.a, one!.b)
  assert.equal(one!.a, two!.b)
  assert.equal(one!.nullable, two!.nullable)
  assert.notEqual(one!.a!.schema, one!.nullable!.schema)
  for (const name of ['limited', 'date']) assert.notEqual(one![name]!.schema, two![name]!.schema)
})

async function fieldsOf(description: string): Promise<ObjectSchema['fields']> {
  const read = await readStructuralSchema(schema(description), vendor, { path: '' })
  assert.ok(read.outcome === 'schema')
  return read.schema.fields
}

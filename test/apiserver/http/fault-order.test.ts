/** Tests the order in which the server reports unknown and duplicate fields of a request body. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inDocumentOrder } from '../../../src/apiserver/http/request/fault-order.ts'

const fault = (kind: string) => (path: string) => ({ path, message: `${kind} ${path}` })

function order(document: object, unknown: readonly string[], duplicates: readonly string[]): string[] {
  const json = JSON.parse(JSON.stringify(document))
  return inDocumentOrder(json, unknown.map(fault('unknown')), duplicates.map(fault('duplicate')))
}

test('unknown and duplicate fields are reported in document order', () => {
  const document = { metadata: { name: 'a', bogus: 1 }, odd: [{ a: 1 }], data: { k: '1' } }
  assert.deepEqual(order(document, ['metadata.bogus', 'odd'], ['metadata.name', 'odd[0].a', 'data']), [
    'duplicate metadata.name',
    'unknown metadata.bogus',
    'unknown odd',
    'duplicate data',
  ])
})

test('unknown and duplicate fields are reported in the order of list items, even if keys contain dots', () => {
  const document = { spec: { items: [{ x: 1 }, { 'a.b': 1, c: 2 }, { x: 1 }], last: 1 } }
  const unknown = ['spec.items[2].x', 'spec.items[1].c', 'spec.missing']
  assert.deepEqual(order(document, unknown, ['spec.last', 'spec.items[1].a.b', 'spec.items[0].x']), [
    'unknown spec.missing',
    'duplicate spec.items[0].x',
    'duplicate spec.items[1].a.b',
    'unknown spec.items[1].c',
    'unknown spec.items[2].x',
    'duplicate spec.last',
  ])
  assert.deepEqual(order({ __proto__: 1 }, ['constructor'], []), ['unknown constructor'])
})

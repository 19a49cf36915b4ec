/** Tests that the metadata of an object can be found in its JSON text without parsing the text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metadataText } from '../../../src/api/codec/metadata-text.ts'

const found = (text: string) => metadataText(Buffer.from(text))?.toString()

test('object metadata is found after kind and apiVersion in any order', () => {
  const metadata = '{"name":"a","uid":"1"}'
  assert.equal(found(`{"kind":"Pod","apiVersion":"v1","metadata":${metadata},"spec":{}}\n`), metadata)
  assert.equal(found(`{"apiVersion":"v1","kind":"Pod","metadata":${metadata}}\n`), metadata)
})

test('braces, quotes and backslashes in strings do not end the metadata prematurely', () => {
  const metadata = JSON.stringify({
    name: 'a',
    annotations: { 'a}': '}}"\\', metadata: '"metadata":{', 'ü"{': '\\"}' },
    managedFields: [{ fieldsV1: { 'f:spec': { 'k:{"name":"x"}': {} } } }],
  })
  assert.equal(found(`{"kind":"Pod","apiVersion":"v1","metadata":${metadata},"spec":{"metadata":{}}}\n`), metadata)
})

test('metadata is not found if other members precede it or if the text is truncated', () => {
  assert.equal(found('{"kind":"Pod","apiVersion":"v1","data":{"metadata":{"name":"a"}},"metadata":{}}'), undefined)
  assert.equal(found('{"kind":"Pod","apiVersion":"v1","spec":"x","metadata":{"name":"a"}}'), undefined)
  assert.equal(found('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a'), undefined)
  assert.equal(found('{"kind":"Pod","apiVersion":"v1"}'), undefined)
})

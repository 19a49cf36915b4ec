/** Tests that the metadata of an object is found in its JSON text without parsing it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metadataText } from '../../../src/api/codec/metadata-text.ts'

const found = (text: string) => metadataText(Buffer.from(text))?.toString()

test('object metadata is found after kind and apiVersion in any order', () => {
  const metadata = '{"name":"a","uid":"1"}'
  assert.equal(found(`{"kind":"Pod","apiVersion":"v1","metadata":${metadata},"spec":{}}\n`), metadata)
  assert.equal(found(`{"apiVersion":"v1","kind":"Pod","metadata":${metadata}}\n`), metadata)
})

test('braces, quotes and backslashes in strings do not end the object metadata', () => {
  const metadata = JSON.stringify({
    name: 'a',
    annotations: { 'a}': '}}"\\', metadata: '"metadata":{', 'ü"{': '\\"}' },
    managedFields: [{ fieldsV1: { 'f:spec': { 'k:{"name":"x"}': {} } } }],
  })
  assert.equal(found(`{"kind":"Pod","apiVersion":"v1","metadata":${metadata},"spec":{"metadata":{}}}\n`), metadata)
})

test('no metadata is found if other members precede the metadata or the text is truncated', () => {
  assert.equal(found('{"kind":"Pod","apiVersion":"v1","data":{"metadata":{"name":"a"}},"metadata":{}}'), undefined)
  assert.equal(found('{"kind":"Pod","apiVersion":"v1","spec":"x","metadata":{"name":"a"}}'), undefined)
  assert.equal(found('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a'), undefined)
  assert.equal(found('{"kind":"Pod","apiVersion":"v1"}'), undefined)
})

/** What cannot be read back is never made into bytes, whoever writes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOwnJson } from '../../src/codec/json.ts'
import { encodeStored, storedJson } from '../../src/codec/stored.ts'
import type { ApiObject } from '../../src/model/object.ts'

function objectWith(members: object, metadata: object = {}): ApiObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', uid: 'u', ...metadata }, ...members } as ApiObject
}

function nested(levels: number): unknown {
  let value: unknown = 'x'
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

const refused: { readonly [name: string]: ApiObject } = {
  'no kind': objectWith({ kind: undefined }),
  'no version': objectWith({ apiVersion: undefined }),
  'no uid': objectWith({}, { uid: undefined }),
  'half a pair': objectWith({ data: { a: '\ud800' } }),
  'half a pair where keys are out of order': objectWith({ data: { b: '', a: ['x\udfff'] } }),
  'half a pair in a key': objectWith({ data: { '\udc00': '' } }),
  'half a pair in a key of the top': objectWith({ '\ud83d': '' }),
  'half a pair in a label': objectWith({}, { labels: { a: '\ud83d' } }),
  'no number': objectWith({ data: { a: Number.NaN } }),
  'a number without end': objectWith({ data: { b: 1, a: Number.POSITIVE_INFINITY } }),
  'nothing in a list': objectWith({ data: ['a', undefined] }),
  'nesting to 513': objectWith({ data: nested(512) }),
  'nesting to 513 in metadata': objectWith({}, { managedFields: nested(511) }),
}

for (const [name, object] of Object.entries(refused))
  test(`${name} is not stored`, () => void assert.throws(() => encodeStored('a key', object, {})))

const kept: { readonly [name: string]: ApiObject } = {
  'a whole pair': objectWith({ data: { '😀': '😀' } }),
  'text that looks like half a pair': objectWith({ data: { a: '\\ud800' } }),
  'nesting to 512': objectWith({ data: nested(511) }),
  'nesting to 512 in metadata': objectWith({}, { managedFields: nested(510) }),
  'an integer beyond a double': objectWith({ data: { b: 1, a: 9007199254740993n } }),
  'keys out of order': objectWith({ z: 1, data: { b: '2', a: '1', 10: 'x', 9: 'y' } }),
}

for (const [name, object] of Object.entries(kept))
  test(`${name} is read back as it was`, () => {
    const { json } = storedJson(encodeStored('a key', object, {}), '7', Buffer.alloc)
    const metadata = { ...object.metadata, resourceVersion: '7' }
    assert.deepEqual(parseOwnJson(json), { ...object, metadata })
  })

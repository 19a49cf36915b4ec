/** Tests that an object is not encoded unless it can be read back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOwnJson } from '../../../src/api/codec/json.ts'
import { encodeStored, type Header, storedJson } from '../../../src/api/codec/stored.ts'
import { configMap } from '../../../src/api/kinds/core/config-map.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { CachedObject } from '../../../src/storage/cache/cached-object.ts'
import { CacheEvent, jsonEvents } from '../../../src/storage/cache/event.ts'

function objectWith(members: object, metadata: object = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'a', uid: 'u', creationTimestamp: 't', ...metadata },
    ...members,
  } as ApiObject
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
  'no creation timestamp': objectWith({}, { creationTimestamp: undefined }),
  'half a surrogate pair': objectWith({ data: { a: '\ud800' } }),
  'half a surrogate pair below unsorted keys': objectWith({ data: { b: '', a: ['x\udfff'] } }),
  'half a surrogate pair in a key': objectWith({ data: { '\udc00': '' } }),
  'half a surrogate pair in a top-level key': objectWith({ '\ud83d': '' }),
  'half a surrogate pair in a label': objectWith({}, { labels: { a: '\ud83d' } }),
  NaN: objectWith({ data: { a: Number.NaN } }),
  infinity: objectWith({ data: { b: 1, a: Number.POSITIVE_INFINITY } }),
  'an undefined list element': objectWith({ data: ['a', undefined] }),
  'nesting to 513': objectWith({ data: nested(512) }),
  '513 levels of nesting in metadata': objectWith({}, { managedFields: nested(511) }),
}

/** The member orders of user-defined kinds and of the server's own kinds. */
const orders = { 'in byte order': undefined, 'by fields': configMap.schema }

for (const [memberOrder, order] of Object.entries(orders))
  for (const [name, object] of Object.entries(refused))
    test(`an object with ${name} cannot be stored ${memberOrder}`, () => {
      assert.throws(() => encodeStored('a key', { object, order, header: {} }))
    })

const storedObjects: { readonly [name: string]: ApiObject } = {
  'a complete surrogate pair': objectWith({ data: { '😀': '😀' } }),
  'text that looks like half a surrogate pair': objectWith({ data: { a: '\\ud800' } }),
  'nesting to 512': objectWith({ data: nested(511) }),
  '512 levels of nesting in metadata': objectWith({}, { managedFields: nested(510) }),
  'an integer that a double cannot represent': objectWith({ data: { b: 1, a: 9007199254740993n } }),
  'unsorted keys': objectWith({ z: 1, data: { b: '2', a: '1', 10: 'x', 9: 'y' } }),
}

for (const [memberOrder, order] of Object.entries(orders))
  for (const [name, object] of Object.entries(storedObjects))
    test(`an object with ${name} survives a round trip when stored ${memberOrder}`, () => {
      const { json } = storedJson(encodeStored('a key', { object, order, header: {} }), '7', Buffer.alloc)
      const metadata = { ...object.metadata, resourceVersion: '7' }
      assert.deepEqual(parseOwnJson(json), { ...object, metadata })
    })

const unordered = {
  data: { b: '1', a: '2', 10: 'x', 9: 'y' },
  metadata: {
    managedFields: [{ fieldsV1: { 'f:b': {}, 'f:a': {} }, manager: 'm' }],
    labels: { b: '1', a: '2' },
    creationTimestamp: 't',
    uid: 'u',
    generation: 2,
    name: 'n',
    ownerReferences: [{ uid: 'o', name: 'p', kind: 'K', apiVersion: 'v1' }],
  },
  apiVersion: 'v1',
  immutable: true,
  kind: 'ConfigMap',
} as unknown as ApiObject

function textOf(value: Buffer): string {
  return storedJson(value, '7', Buffer.alloc).json.toString()
}

test('stored objects contain fields in schema order, and map keys and free-form members in byte order', () => {
  assert.equal(
    textOf(encodeStored('a key', { object: unordered, order: configMap.schema, header: {} })),
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"7","generation":2,' +
      '"creationTimestamp":"t","labels":{"a":"2","b":"1"},' +
      '"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"p","uid":"o"}],' +
      '"managedFields":[{"manager":"m","fieldsV1":{"f:a":{},"f:b":{}}}]},' +
      '"immutable":true,"data":{"10":"x","9":"y","a":"2","b":"1"}}\n',
  )
})

test('objects that are stored without a schema contain all members in byte order', () => {
  assert.equal(
    textOf(encodeStored('a key', { object: unordered, order: undefined, header: {} })),
    '{"apiVersion":"v1","data":{"10":"x","9":"y","a":"2","b":"1"},"immutable":true,"kind":"ConfigMap",' +
      '"metadata":{"creationTimestamp":"t","generation":2,"labels":{"a":"2","b":"1"},' +
      '"managedFields":[{"fieldsV1":{"f:a":{},"f:b":{}},"manager":"m"}],"name":"n",' +
      '"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"p","uid":"o"}],"resourceVersion":"7","uid":"u"}}\n',
  )
})

test('members that are not in the schema are stored after the members of the schema', () => {
  const object = { ...unordered, zeta: 1, alpha: 2 } as ApiObject
  const text = textOf(encodeStored('a key', { object, order: configMap.schema, header: {} }))
  assert.ok(text.endsWith('"b":"1"},"alpha":2,"zeta":1}\n'), text)
})

test('stored objects and their events do not keep larger buffers in memory', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'a', creationTimestamp: 't' } }
  const stored = encodeStored('a key', { object: object as ApiObject, order: undefined, header: {} })
  assert.equal(stored.buffer.byteLength, stored.length)
  const held = new CachedObject('a key', 0, 7, {} as Header, storedJson(stored, '7', Buffer.allocUnsafeSlow))
  const event = new CacheEvent(held, undefined, false).bytes(jsonEvents, 'ADDED')
  assert.ok(event.includes('"type":"ADDED"'))
  assert.equal(event.buffer.byteLength, event.length)
})

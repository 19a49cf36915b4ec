/**
 * Tests that Protobuf matches the schema: every field number and wire type matches the recorded one, every value that a
 * schema allows survives a round trip, the rules of the wire format hold, and malformed messages are rejected with the
 * name of the field.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open, seal } from '../../../src/api/codec/protobuf/envelope.ts'
import { readMessage } from '../../../src/api/codec/protobuf/read.ts'
import { writeMessage, writeSliced } from '../../../src/api/codec/protobuf/write.ts'
import { type Json, type JsonObject, sameJson } from '../../../src/api/json/json.ts'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { ApiError } from '../../../src/api/model/api-error.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { decode } from '../../../src/api/schema/decode.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import * as metaTypes from '../../../src/api/schema/meta-types.ts'
import { partialObjectMetadata, partialObjectMetadataList } from '../../../src/api/schema/partial-metadata.ts'
import {
  type Alternatives,
  type Field,
  type Fields,
  field,
  inlined,
  type ObjectSchema,
  type Schema,
  s,
} from '../../../src/api/schema/schema.ts'
import { WireError, WireWriter } from '../../../src/wire/protobuf/protobuf-wire.ts'
import { rounds } from '../../fuzz/scale.ts'
import { type FieldType, facts, fieldsOf } from '../../support/protobuf-facts.ts'
import { makeObject, makingFrom } from '../kinds/random-object.ts'
import { validValues } from '../kinds/valid-values.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const vendor = vendorOf('orch')

test('every Protobuf field has the recorded number and wire type', () => {
  const seen = new Set<string>()
  let fields = 0
  const compare = (schema: Schema, home: string, known?: string) => {
    if (schema.type === 'list') return compare(schema.items, home)
    if (schema.type === 'map') return compare(schema.values, home)
    if (schema.type === 'any' && schema.described !== undefined) return compare(schema.described(vendor), home)
    if (schema.type === 'any' && schema.alternatives !== undefined)
      compareForms(`${home}.${schema.name}`, schema.alternatives)
    if (schema.type !== 'object') return
    const name = known ?? (schema.name!.includes('.') ? schema.name! : `${home}.${schema.name}`)
    if (seen.has(name)) return
    seen.add(name)
    const recorded = recordedFields(name)
    const ours = Object.entries(schema.fields).filter(([, { tag }]) => tag !== 0)
    assert.deepEqual(ours.map(([key]) => key).sort(), [...recorded.keys()].sort(), name)
    for (const [key, { tag, within, schema: inner }] of ours) {
      const fact = recorded.get(key)!
      assert.deepEqual({ tag, within, type: wireOf(inner, home) }, fact, `${name}.${key}`)
      fields++
      compare(inner, name.slice(0, name.lastIndexOf('.')))
    }
  }
  for (const kind of allKinds) {
    compare(kind.schema, homeOf(kind))
    if (!kind.lifecycle.virtual) compare(metaTypes.listOf(kind), homeOf(kind))
    for (const { as } of Object.values(kind.views.subresources ?? {}))
      if (as !== undefined) compare(as.kind.schema, homeOf(as.kind))
  }
  for (const schema of Object.values(metaTypes))
    if (typeof schema !== 'function' && schema.type === 'object') compare(schema as ObjectSchema, '')
  compare(partialObjectMetadata, '', 'meta.v1.PartialObjectMetadata')
  console.error(`protobuf: ${seen.size} types and ${fields} fields compared by number and wire type`)
  assert.ok(seen.size > 100 && fields > 500)
})

/** Checks that the alternative types of a value and their field numbers match the recorded ones. */
function compareForms(name: string, { boolean, list, object }: Alternatives): void {
  const ours = [
    ...(boolean === undefined ? [] : [[boolean, 'bool']]),
    ...(list === undefined ? [] : [[list.tag, `list of ${wireOf(list.items, name)}`]]),
    [object.tag, wireOf(object.schema, name)],
  ].sort()
  assert.deepEqual(
    fieldsOf(name).map(({ number, type }) => [number, wireText(type)]),
    ours,
    name,
  )
}

function homeOf({ group, version }: Kind): string {
  return `${group.split('.')[0]}.${version}`
}

interface Recorded {
  readonly tag: number
  readonly within: readonly number[] | undefined
  readonly type: string
}

/** Returns the recorded fields. The fields of inlined messages are included, as in JSON. */
function recordedFields(name: string): Map<string, Recorded> {
  const result = new Map<string, Recorded>()
  for (const { name: key, number, type, inlined: isInlined } of fieldsOf(name)) {
    if (!isInlined) result.set(key, { tag: number, within: undefined, type: wireText(type) })
    else
      for (const inner of fieldsOf(type.message!))
        result.set(inner.name, { tag: inner.number, within: [number], type: wireText(inner.type) })
  }
  return result
}

/** Describes a wire type in words. Messages are described by the last part of their name. */
function wireText({ kind, message, shape, wrapped }: FieldType): string {
  const value = message?.replace(/^.*\./, '') ?? kind
  const list = wrapped ? `wrapped ${value}` : value
  return shape === 'one' ? value : `${shape} of ${list}`
}

function wireOf(schema: Schema, home: string): string {
  switch (schema.type) {
    case 'boolean':
      return 'bool'
    case 'integer':
      return `int${schema.bits}`
    case 'number':
      return 'double'
    case 'string':
    case 'bytes':
      return schema.type
    case 'time':
      return schema.micro ? 'MicroTime' : 'Time'
    case 'quantity':
      return 'Quantity'
    case 'intOrString':
      return 'IntOrString'
    case 'any':
    case 'object':
      return schema.name!.replace(/^.*\./, '')
    case 'map':
      return schema.values.type === 'list'
        ? `map of wrapped ${wireOf(schema.values.items, home)}`
        : `map of ${wireOf(schema.values, home)}`
    case 'list':
      return `list of ${schema.wrapped ? 'wrapped ' : ''}${wireOf(schema.items, home)}`
    default:
      return schema satisfies never
  }
}

/**
 * Whether a value with this schema can be encoded as a message, that is, whether the fields at all levels have numbers.
 * Ignores apiVersion and kind, which are encoded only in the envelope.
 */
function isMessage(schema: Schema, seen: Set<Schema>): boolean {
  if (seen.has(schema)) return true
  seen.add(schema)
  if (schema.type === 'list') return isMessage(schema.items, seen)
  if (schema.type === 'map') return isMessage(schema.values, seen)
  if (schema.type !== 'object') return true
  const isNumbered = ([name, field]: [string, Field]) =>
    field.tag === 0 ? name === 'apiVersion' || name === 'kind' : isMessage(field.schema, seen)
  return !schema.open && Object.entries(schema.fields).every(isNumbered)
}

test('every kind has a Protobuf message, and free-form JSON is encoded as bytes', () => {
  assert.deepEqual(
    allKinds.filter(({ schema }) => !isMessage(schema, new Set())).map(({ kind }) => kind),
    [],
  )
  for (const name of ['meta.v1.FieldsV1', 'runtime.RawExtension', 'apiextensions.v1.JSON'])
    assert.deepEqual(Object.values(facts[name]!.inlined!), [{ tag: 1, type: 'bytes' }])
})

test('random objects of every kind survive a Protobuf round trip', () => {
  const kinds = new Set([...allKinds, ...kindsOfVersion('1.36')])
  const each = Math.ceil(rounds(2_500, 200_000) / kinds.size)
  for (const { schema, kind } of kinds) {
    for (let i = 0; i < each; i++) {
      const object = normal(schema, makeObject(schema, makingFrom(i), validValues))
      const read = normal(schema, readMessage(schema, writeMessage(schema, object, { vendor }), vendor))
      if (!sameJson(read, object)) assert.deepEqual(read, object, `${kind} ${i}`)
    }
  }
  console.error(`protobuf: ${each * kinds.size} random objects there and back, 0 differences`)
})

/**
 * Returns the value as the server decodes it, with defaults. Omits apiVersion and kind, which are encoded only in the
 * envelope.
 */
function normal(schema: ObjectSchema, value: JsonObject): JsonObject {
  return withoutTypes(schema, decode(schema, value).value) as JsonObject
}

function withoutTypes(schema: Schema, value: Json): Json {
  if (schema.type === 'list') return (value as Json[]).map((item) => withoutTypes(schema.items, item))
  if (schema.type !== 'object') return value
  const members = Object.entries(value as JsonObject).filter(([name]) => schema.fields[name]!.tag !== 0)
  return Object.fromEntries(members.map(([name, item]) => [name, withoutTypes(schema.fields[name]!.schema, item!)]))
}

/** A schema that uses every schema feature. */
const inner = s.object({ a: field(1, s.string()), b: field(2, s.int32(), { zeroValue: 'keep' }) })
const fields: Fields = {
  text: field(1, s.string(), { zeroValue: 'keep' }),
  flag: field(2, s.boolean(), { zeroValue: 'keep' }),
  small: field(3, s.int32(), { zeroValue: 'keep' }),
  large: field(4, s.int64(), { zeroValue: 'keep' }),
  number: field(5, s.number(), { zeroValue: 'keep' }),
  bytes: field(6, s.bytes()),
  time: field(7, s.time()),
  micro: field(8, s.microTime()),
  quantity: field(9, s.quantity()),
  port: field(10, s.intOrString(), { zeroValue: 'keep' }),
  any: field(11, s.any(), { zeroValue: 'keep' }),
  texts: field(12, s.map(s.string())),
  lists: field(13, s.map(s.list(s.string()))),
  objects: field(14, s.list(inner)),
  larges: field(15, s.list(s.int64())),
  wrapped: field(16, s.list(s.string(), { wrapped: true })),
  one: field(17, inner),
  quantities: field(18, s.map(s.quantity())),
  times: field(19, s.map(s.time())),
  ...inlined(20, {
    flat: field(1, s.string()),
    other: field(2, inner),
    ...inlined(3, { deep: field(1, s.list(s.string())), ...inlined(2, { deepest: field(1, s.string()) }) }),
  }),
  high: field(300, s.string()),
}
const everything = s.object(fields)

const extremes: { readonly [name: string]: readonly Json[] } = {
  text: ['', 'a', '\u0000', 'é', '😀', 'x'.repeat(200), '\ufffd'],
  flag: [true, false],
  small: [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)],
  large: [0, -1, 2 ** 32, 2 ** 53 - 1, -(2 ** 53) + 1, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)],
  number: [0, 0.1, -1.5, 1e300, 5e-324],
  bytes: ['AA==', '//79', Buffer.alloc(300, 7).toString('base64')],
  time: ['1970-01-01T00:00:00Z', '1969-12-31T23:59:59Z', '9999-12-31T23:59:59Z', '2026-02-28T01:02:03Z'],
  micro: ['2026-02-28T01:02:03.000001Z', '1969-12-31T23:59:59.999999Z', '1970-01-01T00:00:00.000000Z'],
  quantity: ['0', '100m', '5Gi'],
  port: [0, 8080, -1, '', '80', 'web'],
  any: [{}, { a: [1, null, 'x', 2n ** 60n], __proto__x: 1 }, [1, 2], 'text', 7, false],
  texts: [{ a: '' }, { ['__proto__']: 'x', constructor: 'y', '10': 'z', '9': 'w', '': 'v' }],
  lists: [{ a: ['x', ''], b: [] }],
  objects: [[{ a: 'x', b: 0 }, {}, { b: -1 }]],
  larges: [[0, -1, 2n ** 62n, 5]],
  wrapped: [['a', '']],
  one: [{}, { a: 'x' }],
  quantities: [{ cpu: '1', memory: '0' }],
  times: [{ pod: '2026-02-28T01:02:03Z' }],
  flat: ['x'],
  other: [{ a: 'y', b: 0 }],
  deep: [['x', 'y']],
  deepest: ['x'],
  high: ['x'],
}

test('extreme values of every schema feature survive a Protobuf round trip', () => {
  assert.deepEqual(Object.keys(extremes).sort(), Object.keys(fields).sort())
  let tried = 0
  for (const [name, values] of Object.entries(extremes))
    for (const value of values) {
      const object = { [name]: value }
      assert.deepEqual(normal(everything, readMessage(everything, writeMessage(everything, object))), object)
      tried++
    }
  const all = Object.fromEntries(Object.entries(extremes).map(([name, [first]]) => [name, first!]))
  assert.deepEqual(normal(everything, readMessage(everything, writeMessage(everything, all))), all)
  assert.ok(tried > 50)
})

test('the Protobuf encoder omits a zero value only if the definition of the field allows it', () => {
  const hex = (schema: ObjectSchema, value: JsonObject) => writeMessage(schema, value).toString('hex')
  const plain = s.object({ a: field(1, s.string()), b: field(2, s.int32()), c: field(3, s.boolean()) })
  assert.equal(hex(plain, {}), '0a0010001800')
  const told = s.object({
    a: field(1, s.string(), { zeroValue: 'keep' }),
    b: field(2, s.int32(), { zeroValue: 'keep' }),
  })
  assert.equal(hex(told, {}), '')
  assert.equal(hex(told, { a: '', b: 0 }), '0a001000')
  const outer = s.object({ always: field(1, plain, { zeroValue: 'write' }), perhaps: field(2, plain) })
  assert.equal(hex(outer, {}), '0a060a0010001800')
  assert.equal(hex(s.object(inlined(1, { a: field(1, inner) })), {}), '0a00')
  assert.equal(hex(s.object({ a: field(1, s.list(s.int64())), b: field(2, s.map(s.string())) }), { a: [], b: {} }), '')
})

function written(write: (writer: WireWriter) => void): Buffer {
  const writer = new WireWriter()
  write(writer)
  return writer.finish()
}

test('a quantity without a string field decodes to zero, and an empty string is rejected as in JSON', () => {
  const none = written((w) => w.message(9, () => {}))
  assert.deepEqual(normal(everything, readMessage(everything, none)), { quantity: '0' })
  const empty = written((w) => w.message(9, (quantity) => quantity.string(1, '')))
  assert.throws(() => normal(everything, readMessage(everything, empty)), /"" is not a quantity/)
  assert.throws(() => normal(everything, { quantity: '' }), /"" is not a quantity/)
})

test('decoding skips unknown fields, keeps the last value of a repeated scalar and merges repeated messages', () => {
  const bytes = written((w) => {
    w.string(1, 'first')
    w.string(999, 'unknown')
    w.fixed32(998, 7)
    w.double(997, 7)
    w.integer(996, 7)
    w.message(17, (one) => one.string(1, 'x'))
    w.string(1, 'last')
    w.message(17, (one) => one.integer(2, 5))
    w.message(20, (flat) => flat.string(1, 'f'))
    w.message(20, (flat) => flat.message(2, (other) => other.string(1, 'o')))
    w.message(12, (entry) => entry.string(2, 'value before its key'))
  })
  assert.deepEqual(readMessage(everything, bytes), {
    text: 'last',
    one: { a: 'x', b: 5 },
    flat: 'f',
    other: { a: 'o' },
    texts: { '': 'value before its key' },
  })
})

test('repeated integers may be packed or unpacked, and map entries may have their key and value in any order', () => {
  const packed = written((w) => {
    w.integer(15, 1)
    w.bytes(15, Buffer.from([2, 0x80, 1]))
    w.message(12, (entry) => {
      entry.string(2, 'first')
      entry.string(1, 'key')
      entry.string(2, 'last')
    })
    w.message(13, (entry) => entry.string(1, 'no value'))
    w.message(18, (entry) => entry.string(1, 'none'))
  })
  const read = normal(everything, readMessage(everything, packed))
  assert.deepEqual(read, {
    larges: [1, 2, 128],
    texts: { key: 'last' },
    lists: { 'no value': [] },
    quantities: { none: '0' },
  })
})

test('times are truncated to the precision of their field, and an empty time counts as unset', () => {
  const time = (number: number, seconds: number, nanos: number) =>
    written((w) =>
      w.message(number, (t) => {
        t.integer(1, seconds)
        t.integer(2, nanos)
      }),
    )
  assert.deepEqual(readMessage(everything, time(7, 5, 999_999_999)), { time: '1970-01-01T00:00:05Z' })
  assert.deepEqual(readMessage(everything, time(8, 5, 1999)), { micro: '1970-01-01T00:00:05.000001Z' })
  assert.deepEqual(readMessage(everything, time(8, -1, 0)), { micro: '1969-12-31T23:59:59.000000Z' })
  assert.deepEqual(
    readMessage(
      everything,
      written((w) => w.message(7, () => {})),
    ),
    {},
  )
  for (const [seconds, nanos] of [
    [253_402_300_800, 0],
    [-62_135_596_801, 0],
    [0, -1],
    [0, 1_000_000_000],
  ] as const)
    assert.throws(() => readMessage(everything, time(7, seconds, nanos)), /time: the time is out of range/)
})

const malformed: { readonly [what: string]: readonly [bytes: string, message: RegExp] } = {
  'a varint for a string': ['0801', /^text: field 1 has wire type 0, not 2$/],
  'a string for a bool': ['12 0161', /^flag: field 2 has wire type 2, not 0$/],
  'fixed bits for an integer': ['1d 01000000', /^small: field 3 has wire type 5/],
  'a varint for a message': ['880101', /^one: field 17 has wire type 0/],
  'a wrong type in a nested message': ['72020801', /^objects\.a: field 1 has wire type 0/],
  'text that is not UTF-8': ['0a02c328', /^text: field 1 is not UTF-8$/],
  'a key that is not UTF-8': ['62040a02c328', /^texts: field 1 is not UTF-8$/],
  'a group': ['9b06 9c06', /^field 99 is a group, which is not supported$/],
  'a group in a message': ['72 02 1b1c', /^objects: field 3 is a group, which is not supported$/],
  'the end of a group': ['9c06', /^field 99 is a group/],
  'a length beyond the end': ['0a7f61', /^text: a length prefix extends past the end of the message$/],
  'a length of 2^31-1': ['0affffffff07', /^text: a length prefix extends past the end of the message$/],
  'a negative length': ['0affffffffffffffffff01', /^text: a length prefix extends past the end of the message$/],
  'a message longer than its container': [
    '72020a05',
    /^objects\.a: a length prefix extends past the end of the message$/,
  ],
  'a truncated varint': ['1880', /^small: a varint extends past the end of the message$/],
  'a truncated tag': ['80', /^a varint extends past the end of the message$/],
  'field 0': ['0001', /^invalid field number 0$/],
  'neither number nor string': ['52020802', /^port: must be a number or a string$/],
  'invalid JSON': ['5a030a017b', /^any: the body is not valid JSON/],
}

test('a malformed Protobuf message is rejected, and the error names the field', () => {
  for (const [what, [bytes, message]] of Object.entries(malformed)) {
    const read = () => readMessage(everything, Buffer.from(bytes.replaceAll(' ', ''), 'hex'))
    assert.throws(read, (error) => error instanceof WireError && message.test(error.message), what)
  }
})

test('a Protobuf message may have as many values and nesting levels as a JSON body', () => {
  const many = (count: number) => Buffer.concat(Array(count).fill(Buffer.from('7200', 'hex')))
  assert.equal((readMessage(everything, many(100_000)).objects as Json[]).length, 100_000)
  const isTooMany = (error: unknown) => error instanceof ApiError && error.code === 413
  assert.throws(() => readMessage(everything, many(100_001)), isTooMany)
  assert.throws(
    () =>
      readMessage(
        everything,
        written((w) => w.bytes(15, Buffer.alloc(100_001))),
      ),
    isTooMany,
  )
  assert.throws(
    () =>
      readMessage(
        everything,
        written((w) => w.bytes(16, Buffer.alloc(200_002, '0a00', 'hex'))),
      ),
    isTooMany,
  )

  const self: { [name: string]: Fields[string] } = {}
  const nested: ObjectSchema = s.object(self)
  self.in = field(1, nested)
  const nest = (depth: number): JsonObject => (depth === 0 ? {} : { in: nest(depth - 1) })
  assert.deepEqual(readMessage(nested, writeMessage(nested, nest(512))), nest(512))
  assert.throws(
    () => readMessage(nested, writeMessage(nested, nest(513))),
    /messages are nested more than 512 levels deep/,
  )
  assert.throws(() => readMessage(nested, Buffer.from('0a'.repeat(100_000), 'hex')), WireError)
})

test('the envelope of a Protobuf document contains the type of the object, and a document without an envelope is rejected', () => {
  const type = { apiVersion: 'v1', kind: 'Thing' }
  const sealed = seal(type, Buffer.from('0a0161', 'hex'))
  const envelope = open(sealed)
  assert.deepEqual(
    { ...envelope, message: Buffer.from(envelope.message).toString('hex') },
    { ...type, message: '0a0161' },
  )
  for (const [bytes, message] of [
    ['', /^the message is empty$/],
    ['6b3873', /^the prefix 6b 38 73 00 is missing$/],
    ['783873000a00', /^the prefix 6b 38 73 00 is missing$/],
    ['6b387300 1a0467 7a6970', /^contentEncoding "gzip" is not accepted$/],
    ['6b387300 2204 6a736f6e', /^contentType "json" is not accepted$/],
    ['6b387300 1005', /^field 2 has wire type 0/],
    ['6b387300 0b0c', /^field 1 has wire type 3/],
    ['6b387300 2b2c', /^field 5 is a group/],
    ['6b387300 12ff', /varint extends past the end of the message/],
  ] as const)
    assert.throws(() => open(Buffer.from(bytes.replaceAll(' ', ''), 'hex')), { name: 'WireError', message }, bytes)
})

test('v1 and v1beta1 lists of partial metadata use different Protobuf field numbers', () => {
  const numbers = (version: 'v1' | 'v1beta1') =>
    Object.entries(partialObjectMetadataList(version).fields).map(([name, { tag }]) => `${name} ${tag}`)
  assert.deepEqual(numbers('v1').slice(2), ['metadata 1', 'items 2'])
  assert.deepEqual(numbers('v1beta1').slice(2), ['metadata 2', 'items 1'])
})

test('encoding an OpenAPI schema as Protobuf omits only the parts that the message type cannot represent', () => {
  const { schema } = allKinds.find(({ kind }) => kind === 'CustomResourceDefinition')!
  const definition = (openAPIV3Schema: Json) => ({
    spec: { versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }] },
  })
  const keptOf = (sent: Json, whose = vendor) => {
    const read = readMessage(schema, writeMessage(schema, definition(sent) as JsonObject, { vendor: whose }), whose)
    return ((read.spec as JsonObject).versions as { schema: JsonObject }[])[0]!.schema.openAPIV3Schema
  }
  const kept = {
    type: 'object',
    description: 'd',
    maximum: 0,
    maxLength: 0,
    enum: [null, 1, 'a', { b: [true] }],
    default: { a: null },
    example: 0,
    items: { type: 'string' },
    additionalProperties: false,
    dependencies: { a: ['b', 'c'], d: { type: 'string' } },
    properties: { ['__proto__']: { items: [{ type: 'string' }, {}] }, b: { additionalProperties: { not: {} } } },
    'x-orch-preserve-unknown-fields': false,
    'x-orch-list-map-keys': ['k'],
    'x-orch-validations': [{ rule: 'self > 1', message: 'm' }],
  }
  assert.deepEqual(keptOf(JSON.parse(JSON.stringify(kept))), JSON.parse(JSON.stringify(kept)))
  const unfit = { title: 5, maxItems: 1e300, required: ['a', 7], allOf: 'x', externalDocs: { url: 1 }, other: 'o' }
  assert.deepEqual(keptOf({ type: 'object', ...unfit }), { type: 'object', required: ['a'], externalDocs: {} })
  assert.deepEqual(keptOf('text'), {})
  assert.deepEqual(keptOf({ 'x-kubernetes-map-type': 'atomic' }), {})
  const words = { 'x-kubernetes-map-type': 'atomic' }
  assert.deepEqual(keptOf(words, vendorOf('kubernetes')), words)
})

test('OpenAPI schema messages may be nested as deeply as any other Protobuf message', () => {
  const { schema } = allKinds.find(({ kind }) => kind === 'CustomResourceDefinition')!
  const nest = (depth: number): JsonObject => (depth === 0 ? {} : { not: nest(depth - 1) })
  const written = (depth: number) =>
    writeMessage(schema, { spec: { versions: [{ schema: { openAPIV3Schema: nest(depth) } }] } }, { vendor })
  assert.doesNotThrow(() => readMessage(schema, written(500), vendor))
  assert.throws(() => readMessage(schema, written(600), vendor), /messages are nested more than 512 levels deep/)
})

test('large JSON in a Protobuf message is encoded in steps that yield to other tasks', () => {
  const schema = s.object({ fields: field(1, s.any()) }) as ObjectSchema
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-${i}`, {}]))
  const work = writeSliced(schema, { fields: wide })
  let steps = 0
  let step = work.next()
  for (; !step.done; step = work.next()) steps++
  assert.ok(steps > 1000, `${steps} steps`)
  assert.deepEqual(readMessage(schema, step.value, vendor), { fields: wide })
})

/**
 * An independent Protobuf codec, written as simply as possible from the recorded facts alone, without imports from
 * `src/`. It converts JSON documents to Protobuf and back.
 */
import { type FieldType, fieldsOf, type MessageField } from './protobuf-facts.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any document
type Loose = any

const prefix = Buffer.from([0x6b, 0x38, 0x73, 0x00])

/** Decodes the message of this type in a document's envelope. Absent fields are omitted. */
export function readDocument(bytes: Buffer, message: string): Loose {
  const { type, raw } = readEnvelope(bytes)
  return { ...type, ...readMessage(message, raw) }
}

export interface Envelope {
  readonly type: { readonly apiVersion: string; readonly kind: string }
  readonly raw: Buffer
}

export function readEnvelope(bytes: Buffer): Envelope {
  if (!bytes.subarray(0, 4).equals(prefix)) throw new Error(`another prefix: ${bytes.subarray(0, 8).toString('hex')}`)
  const { typeMeta, raw, contentEncoding, contentType } = readMessage('runtime.Unknown', bytes.subarray(4))
  if (contentEncoding !== '' || contentType !== '') throw new Error('an envelope that says more than it should')
  return { type: typeMeta, raw: Buffer.from(raw ?? '', 'base64') }
}

export function writeDocument(document: Loose, message: string): Buffer {
  const { apiVersion = '', kind = '' } = document
  const raw = writeMessage(message, document).toString('base64')
  return Buffer.concat([prefix, writeMessage('runtime.Unknown', { typeMeta: { apiVersion, kind }, raw })])
}

/** Decodes the frames of a watch. Each frame consists of a length, and an event with a document. */
export function readFrames(bytes: Buffer): { readonly events: Loose[]; readonly rest: Buffer } {
  const events: Loose[] = []
  let at = 0
  while (at + 4 <= bytes.length && at + 4 + bytes.readUInt32BE(at) <= bytes.length) {
    const end = at + 4 + bytes.readUInt32BE(at)
    const { type, object } = readEvent(bytes.subarray(at + 4, end))
    events.push({ type, object })
    at = end
  }
  return { events, rest: bytes.subarray(at) }
}

function readEvent(bytes: Buffer): { readonly type: string; readonly object: Buffer } {
  let type = ''
  let object: Buffer = Buffer.alloc(0)
  for (const { number, value } of wireFields(bytes)) {
    if (number === 1) type = (value as Buffer).toString('utf8')
    if (number === 2) for (const inner of wireFields(value as Buffer)) object = inner.value as Buffer
  }
  return { type, object }
}

export function readMessage(message: string, bytes: Buffer): Loose {
  const object: Loose = {}
  readInto(object, message, bytes)
  return object
}

function readInto(object: Loose, message: string, bytes: Buffer): void {
  const fields = new Map(fieldsOf(message).map((field) => [field.number, field]))
  for (const { number, value, wireType } of wireFields(bytes)) {
    const field = fields.get(number)
    if (field === undefined) throw new Error(`${message} has no field ${number}`)
    if (wireType !== wireTypeOf(field.type)) throw new Error(`${message}.${field.name} has wire type ${wireType}`)
    readField(object, field, value)
  }
}

function wireTypeOf({ kind, shape }: FieldType): number {
  if (shape === 'map' || kind === 'string' || kind === 'bytes' || kind === 'message') return 2
  return kind === 'double' ? 1 : 0
}

function readField(object: Loose, { name, type, inlined }: MessageField, value: Buffer | bigint): void {
  if (inlined) {
    readInto(object, type.message!, value as Buffer)
    return
  }
  if (type.shape === 'one') put(object, name, readValue(type, value))
  else if (type.shape === 'map') {
    if (object[name] === undefined) put(object, name, {})
    readEntry(object[name], type, value as Buffer)
  } else if (type.wrapped) put(object, name, readItems(type, value as Buffer))
  else put(object, name, [...(object[name] ?? []), readValue(type, value)])
}

function readEntry(map: Loose, type: FieldType, bytes: Buffer): void {
  let key = ''
  let value: Loose = ''
  for (const part of wireFields(bytes)) {
    if (part.number === 1) key = (part.value as Buffer).toString('utf8')
    else value = type.wrapped ? readItems(type, part.value as Buffer) : readValue(type, part.value)
  }
  put(map, key, value)
}

function readItems(type: FieldType, bytes: Buffer): Loose[] {
  return [...wireFields(bytes)].map(({ value }) => readValue(type, value))
}

function put(object: Loose, key: string, value: Loose): void {
  if (value !== undefined)
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

function readValue({ kind, message }: FieldType, value: Buffer | bigint): Loose {
  switch (kind) {
    case 'string':
      return new TextDecoder('utf-8', { fatal: true }).decode(value as Buffer)
    case 'bytes':
      return (value as Buffer).toString('base64')
    case 'bool':
      return value !== 0n
    case 'int32':
      return Number(BigInt.asIntN(32, value as bigint))
    case 'int64':
      return exact(BigInt.asIntN(64, value as bigint))
    case 'double':
      return (value as Buffer).readDoubleLE(0)
    default:
      return readSpecial(message!, value as Buffer)
  }
}

function exact(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** Decodes types that are not objects in JSON. */
function readSpecial(message: string, bytes: Buffer): Loose {
  const read = () => readMessage(message, bytes)
  switch (message) {
    case 'meta.v1.Time':
    case 'meta.v1.MicroTime': {
      if (bytes.length === 0) return undefined
      const { seconds, nanos } = read()
      const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19)
      return message === 'meta.v1.Time' ? `${whole}Z` : `${whole}.${String(nanos / 1000).padStart(6, '0')}Z`
    }
    case 'api.resource.Quantity':
      return read().string
    case 'util.intstr.IntOrString': {
      const { type, intVal, strVal } = read()
      return type === 0 ? intVal : strVal
    }
    case 'meta.v1.FieldsV1':
    case 'runtime.RawExtension':
    case 'apiextensions.v1.JSON':
      return JSON.parse(Buffer.from(Object.values(read())[0] as string, 'base64').toString('utf8'))
    case 'apiextensions.v1.JSONSchemaPropsOrBool':
      return read().schema ?? read().allows ?? false
    case 'apiextensions.v1.JSONSchemaPropsOrArray':
      return read().jSONSchemas ?? read().schema
    case 'apiextensions.v1.JSONSchemaPropsOrStringArray':
      return read().property ?? read().schema
    default:
      return read()
  }
}

interface WireField {
  readonly number: number
  readonly wireType: number
  /** Bytes for fixed-size and length-delimited fields, and an unsigned number for all others. */
  readonly value: Buffer | bigint
}

function* wireFields(bytes: Buffer): Generator<WireField> {
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      if (at >= bytes.length) throw new Error('cut off')
      const byte = BigInt(bytes[at++]!)
      value |= (byte & 0x7fn) << shift
      if (byte < 0x80n) return value
    }
  }
  const take = (count: number) => {
    if (at + count > bytes.length) throw new Error('cut off')
    at += count
    return bytes.subarray(at - count, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wireType = tag % 8
    const value =
      wireType === 0 ? varint() : wireType === 1 ? take(8) : wireType === 2 ? take(Number(varint())) : take(4)
    yield { number: Math.floor(tag / 8), wireType, value }
  }
}

export function writeMessage(message: string, object: Loose): Buffer {
  return Buffer.concat(fieldsOf(message).map((field) => writeField(field, object)))
}

function writeField({ name, number, type, inlined }: MessageField, object: Loose): Buffer {
  if (inlined) return delimited(number, writeMessage(type.message!, object))
  const value = Object.hasOwn(object, name) ? object[name] : undefined
  if (value === undefined || value === null) return Buffer.alloc(0)
  if (type.shape === 'one') return writeValue(number, type, value)
  if (type.shape === 'map') return Buffer.concat(Object.entries(value).map((entry) => writeEntry(number, type, entry)))
  if (type.wrapped) return writeItems(number, type, value)
  return Buffer.concat(value.map((item: Loose) => writeValue(number, type, item)))
}

function writeItems(number: number, type: FieldType, items: Loose[]): Buffer {
  return delimited(number, Buffer.concat(items.map((item) => writeValue(1, type, item))))
}

function writeEntry(number: number, type: FieldType, [key, value]: [string, Loose]): Buffer {
  const written = type.wrapped ? writeItems(2, type, value) : writeValue(2, type, value)
  return delimited(number, Buffer.concat([delimited(1, Buffer.from(key)), written]))
}

function writeValue(number: number, { kind, message }: FieldType, value: Loose): Buffer {
  switch (kind) {
    case 'string':
      return delimited(number, Buffer.from(value))
    case 'bytes':
      return delimited(number, Buffer.from(value, 'base64'))
    case 'double': {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleLE(Number(value))
      return Buffer.concat([varintOf(number * 8 + 1), bytes])
    }
    case 'bool':
    case 'int32':
    case 'int64':
      return Buffer.concat([varintOf(number * 8), varintOf(BigInt.asUintN(64, BigInt(value)))])
    default:
      return delimited(number, writeSpecial(message!, value))
  }
}

function writeSpecial(message: string, value: Loose): Buffer {
  const write = (object: Loose) => writeMessage(message, object)
  switch (message) {
    case 'meta.v1.Time':
    case 'meta.v1.MicroTime':
      return write({
        seconds: Math.floor(Date.parse(value) / 1000),
        nanos: Number(/\.(\d{6})/.exec(value)?.[1] ?? 0) * 1000,
      })
    case 'api.resource.Quantity':
      return write({ string: String(value) })
    case 'util.intstr.IntOrString':
      return write(typeof value === 'string' ? { type: 1, strVal: value } : { type: 0, intVal: value })
    case 'meta.v1.FieldsV1':
      return write({ Raw: Buffer.from(JSON.stringify(value)).toString('base64') })
    case 'runtime.RawExtension':
    case 'apiextensions.v1.JSON':
      return write({ raw: Buffer.from(JSON.stringify(value)).toString('base64') })
    case 'apiextensions.v1.JSONSchemaPropsOrBool':
      return write(typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value })
    case 'apiextensions.v1.JSONSchemaPropsOrArray':
      return write(Array.isArray(value) ? { jSONSchemas: value } : { schema: value })
    case 'apiextensions.v1.JSONSchemaPropsOrStringArray':
      return write(Array.isArray(value) ? { property: value } : { schema: value })
    default:
      return write(value)
  }
}

function delimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varintOf(number * 8 + 2), varintOf(bytes.length), bytes])
}

function varintOf(value: number | bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt(value)
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}

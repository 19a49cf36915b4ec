/**
 * The stored form of an object: what the store keeps under a key.
 *
 *   0      format (1)
 *   1      length of the encryption key id (0: not encrypted)
 *   2..5   CRC-32 of all that follows
 *   6..9   length of the header
 *   10..13 offset in the body where the resourceVersion belongs
 *   14..   header: JSON of what caches and indexes need
 *   ...    body: the object's JSON without its resourceVersion
 *
 * The revision of a write is known only after the commit, so the body is kept without it and spliced on the way out:
 * `{"apiVersion":"v1","kind":"ConfigMap",...,"metadata":{"name":"a",` + `"resourceVersion":"7",` + `"uid":"..."}}`.
 */
import { crc32 } from 'node:zlib'
import { type ApiObject, asJson } from '../model/object.ts'
import { stringifyJson } from './json.ts'

export interface StoredHeader {
  readonly uid: string
  readonly labels?: { readonly [key: string]: string }
  /** Values that field selectors can ask for, beside name and namespace. */
  readonly fields?: { readonly [path: string]: string }
}

const format = 1
const headerStart = 14
/** `uid` follows `resourceVersion` in key order, and every stored object has one. */
const spliceMark = ',"uid":"'

export class DamagedValue extends Error {
  override readonly name = 'DamagedValue'
}

export function encodeStored(object: ApiObject, header: StoredHeader): Buffer {
  const { resourceVersion: _, ...metadata } = object.metadata
  const body = stringifyJson(asJson({ ...object, metadata }))
  const head = JSON.stringify(header)
  const bytes = Buffer.allocUnsafeSlow(headerStart + Buffer.byteLength(head) + Buffer.byteLength(body))
  const headLength = bytes.write(head, headerStart)
  bytes.write(body, headerStart + headLength)
  bytes[0] = format
  bytes[1] = 0
  bytes.writeUInt32LE(headLength, 6)
  bytes.writeUInt32LE(spliceOffset(body, header.uid), 10)
  bytes.writeUInt32LE(crc32(bytes.subarray(6)), 2)
  return bytes
}

/** Bytes, not characters: what stands before it in the body may be any text. The uid itself is unique in an object's metadata. */
function spliceOffset(body: string, uid: string): number {
  const metadata = body.lastIndexOf(`${spliceMark}${uid}"`)
  if (metadata < 0) throw new TypeError('an object without a uid cannot be stored')
  return Buffer.byteLength(body.slice(0, metadata + 1))
}

export function storedHeader(bytes: Uint8Array): StoredHeader {
  const view = asBuffer(bytes)
  assertSound(view)
  return JSON.parse(view.toString('utf8', headerStart, headerStart + view.readUInt32LE(6)))
}

/** The object's JSON with its resourceVersion in place: what a GET sends. */
export function storedJson(bytes: Uint8Array, resourceVersion: string): Buffer {
  const view = asBuffer(bytes)
  const bodyStart = headerStart + view.readUInt32LE(6)
  const splice = bodyStart + view.readUInt32LE(10)
  const version = `"resourceVersion":"${resourceVersion}",`
  const json = Buffer.allocUnsafeSlow(view.length - bodyStart + version.length)
  view.copy(json, 0, bodyStart, splice)
  json.write(version, splice - bodyStart, 'latin1')
  view.copy(json, splice - bodyStart + version.length, splice)
  return json
}

function assertSound(view: Buffer): void {
  if (view.length < headerStart) throw new DamagedValue('the stored value is cut off')
  if (view[0] !== format || view[1] !== 0)
    throw new DamagedValue(`the stored value has format ${view[0]}, which this version does not read`)
  if (crc32(view.subarray(6)) !== view.readUInt32LE(2))
    throw new DamagedValue('the stored value does not match its checksum')
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

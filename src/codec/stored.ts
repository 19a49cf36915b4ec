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
import type { JsonObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { joinMembers, stringifyMembers } from './json.ts'

export interface StoredHeader {
  readonly uid: string
  readonly labels?: { readonly [key: string]: string }
  /** Values that field selectors can ask for, beside name and namespace. */
  readonly fields?: { readonly [path: string]: string }
}

const format = 1
const headerStart = 14
export class DamagedValue extends Error {
  override readonly name = 'DamagedValue'
}

export function encodeStored(object: ApiObject, header: StoredHeader): Buffer {
  const body = splitBody(object)
  const head = JSON.stringify(header)
  const length = Buffer.byteLength(head) + Buffer.byteLength(body.before) + Buffer.byteLength(body.after)
  const bytes = Buffer.allocUnsafeSlow(headerStart + length)
  const headEnd = headerStart + bytes.write(head, headerStart)
  const splice = bytes.write(body.before, headEnd)
  bytes.write(body.after, headEnd + splice)
  bytes[0] = format
  bytes[1] = 0
  bytes.writeUInt32LE(headEnd - headerStart, 6)
  bytes.writeUInt32LE(splice, 10)
  bytes.writeUInt32LE(crc32(bytes.subarray(6)), 2)
  return bytes
}

/** The body in two parts, between which the resourceVersion belongs: right before the uid, the last of the metadata. */
function splitBody(object: ApiObject): { before: string; after: string } {
  const { apiVersion, kind, metadata, ...rest } = object
  const { resourceVersion: _, uid, ...meta } = metadata
  const members = Object.entries(rest as JsonObject)
  const pick = (wanted: (key: string) => boolean) =>
    stringifyMembers(Object.fromEntries(members.filter(([key]) => wanted(key))))
  const type = stringifyMembers({ apiVersion, kind })
  const metaMembers = stringifyMembers(meta as unknown as JsonObject)
  return {
    before: `{${joinMembers(
      type,
      pick((key) => key < 'metadata'),
      `"metadata":{${metaMembers}`,
    )}${metaMembers === '' ? '' : ','}`,
    after: `${joinMembers(
      `"uid":${JSON.stringify(uid)}}`,
      pick((key) => key > 'metadata'),
    )}}`,
  }
}

export function storedHeader(bytes: Uint8Array): StoredHeader {
  const view = asBuffer(bytes)
  assertSound(view)
  return JSON.parse(view.toString('utf8', headerStart, headerStart + view.readUInt32LE(6)))
}

export interface VersionedJson {
  /** The object's JSON with its resourceVersion in place: what a GET sends. */
  readonly json: Buffer
  /** Where in it `"resourceVersion":"..",` starts. */
  readonly versionAt: number
}

export function storedJson(bytes: Uint8Array, resourceVersion: string): VersionedJson {
  const view = asBuffer(bytes)
  const bodyStart = headerStart + view.readUInt32LE(6)
  const versionAt = view.readUInt32LE(10)
  return { json: splice(view.subarray(bodyStart), versionAt, 0, resourceVersion), versionAt }
}

/** The same JSON with another resourceVersion. */
export function replaceVersion({ json, versionAt }: VersionedJson, from: string, to: string): Buffer {
  return splice(json, versionAt, versionMember(from).length, to)
}

function splice(json: Buffer, at: number, dropped: number, resourceVersion: string): Buffer {
  const member = versionMember(resourceVersion)
  const result = Buffer.allocUnsafeSlow(json.length - dropped + member.length)
  json.copy(result, 0, 0, at)
  result.write(member, at, 'latin1')
  json.copy(result, at + member.length, at + dropped)
  return result
}

function versionMember(resourceVersion: string): string {
  return `"resourceVersion":"${resourceVersion}",`
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

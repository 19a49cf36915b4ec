/**
 * The stored form of an object: what the store keeps under a key.
 *
 *   0      format (2)
 *   1      length of the encryption key id (0: not encrypted)
 *   2..5   CRC-32 of the store's key and of all that follows
 *   6..9   length of the header
 *   10..13 offset in the body where the resourceVersion belongs
 *   14..   header: JSON of what caches and indexes need
 *   ...    body: the object's JSON without its resourceVersion
 *
 * The revision of a write is known only after the commit, so the body is kept without it and spliced on the way out:
 * `{"apiVersion":"v1","kind":"ConfigMap",...,"metadata":{"name":"a",` + `"resourceVersion":"7",` + `"uid":"..."}}`.
 *
 * Format 1, which is still read, differs in its checksum alone: that does not know the key, so a value that came to
 * lie under another key goes unnoticed.
 */
import { crc32 } from 'node:zlib'
import { atOnce } from '../base/pace.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { type ApiObject, asJson, copyWithout } from '../model/object.ts'
import { sortedKeys, stringifyStored } from './json.ts'
import { maxValues, tooManyValues } from './json-scan.ts'

/** What objects are selected by. */
export interface Selectable {
  readonly labels: { readonly [key: string]: string } | undefined
  /** Values that field selectors can ask for, beside name and namespace. */
  readonly fields: { readonly [path: string]: string } | undefined
}

const format = 2
const headerStart = 14
const emptyHeader = '{}'

/** What the store holds is not an object that this program can read. */
export class UnreadableValue extends Error {
  override readonly name: string = 'UnreadableValue'
}

/** It is not what was written. */
export class DamagedValue extends UnreadableValue {
  override readonly name = 'DamagedValue'
}

/** A newer program wrote it, in a form that is not known here; nothing is wrong with it. */
export class NewerValue extends UnreadableValue {
  override readonly name = 'NewerValue'
}

/** For the key that it will be stored under. */
export function encodeStored(key: string, object: ApiObject, header: Partial<Selectable>): Buffer {
  return atOnce(encodeSteps(key, object, header))
}

/** The same, with a yield wherever it can be interrupted. */
export function* encodeSteps(key: string, object: ApiObject, header: Partial<Selectable>): Generator<void, Buffer> {
  const { before, after } = yield* splitBody(object)
  yield
  const head = JSON.stringify(header)
  const text = head + before + after
  const size = Buffer.byteLength(text)
  // A value takes two bytes at least.
  if (size > 2 * maxValues) assertCount(object)
  yield
  // Where every character is a byte, as in most objects, lengths need not be measured.
  const sizeOf = size === text.length ? lengthOf : Buffer.byteLength
  const bytes = Buffer.allocUnsafe(headerStart + size)
  bytes.write(text, headerStart)
  bytes[0] = format
  bytes[1] = 0
  bytes.writeUInt32LE(sizeOf(head), 6)
  bytes.writeUInt32LE(sizeOf(before), 10)
  bytes.writeUInt32LE(checksum(format, key, bytes), 2)
  return bytes
}

/** What is stored can be sent back: it holds no more values than a body may. */
export function assertCount(object: ApiObject): void {
  countValues(asJson(object), 0)
}

/** The same without the record of its managers: what is too much even so is refused before anything is done with it. */
export function assertOwnCount(object: ApiObject): void {
  const { metadata } = object
  assertCount(
    metadata.managedFields === undefined ? object : { ...object, metadata: copyWithout(metadata, 'managedFields') },
  )
}

/** Of members and elements; scalars are counted where they stand, as asking of each would be most of the work. */
function countValues(value: JsonObject | Json[], before: number): number {
  let count = before + 1
  if (Array.isArray(value)) for (const item of value) count = isNested(item) ? countValues(item, count) : count + 1
  else
    for (const key in value) {
      const item = value[key]
      count = isNested(item) ? countValues(item, count) : count + 1
    }
  if (count > maxValues) throw tooManyValues()
  return count
}

function isNested(value: Json | undefined): value is JsonObject | Json[] {
  return typeof value === 'object' && value !== null
}

function lengthOf(text: string): number {
  return text.length
}

/**
 * The body in two parts, between which the resourceVersion belongs: right before the uid, the last of the metadata.
 * Throws what could not be read back.
 */
function* splitBody(object: ApiObject): Generator<void, { before: string; after: string }> {
  const { apiVersion, kind, metadata } = object
  const members = asJson(object)
  let before = `{"apiVersion":${stringifyStored(apiVersion, 1)},"kind":${stringifyStored(kind, 1)}`
  let after = `"uid":${stringifyStored(metadata.uid, 2)}}`
  for (const key of sortedKeys(members)) {
    if (key === 'apiVersion' || key === 'kind' || key === 'metadata' || members[key] === undefined) continue
    const text = `,${stringifyStored(key, 1)}:${stringifyStored(members[key], 1)}`
    if (key < 'metadata') before += text
    else after += text
    yield
  }
  const { uid: _uid, resourceVersion: _version, ...rest } = metadata
  const others = stringifyStored(rest as JsonObject, 1)
  before += others === '{}' ? ',"metadata":{' : `,"metadata":${others.slice(0, -1)},`
  return { before, after: `${after}}` }
}

/** Shared by all objects that have neither. */
const nothingSelectable: Selectable = { labels: undefined, fields: undefined }

/**
 * Reads headers, one object after the other, for what objects are selected by. Neighbours often have the same labels:
 * then they share one, which saves time and memory.
 */
export class HeaderReader {
  #text = Buffer.from(emptyHeader)
  #selectable = nothingSelectable

  /** Checks the whole value on the way; throws UnreadableValue. */
  read(key: string, bytes: Uint8Array): Selectable {
    const view = asBuffer(bytes)
    assertSound(key, view)
    const text = view.subarray(headerStart, headerStart + view.readUInt32LE(6))
    if (!text.equals(this.#text)) {
      const { labels, fields }: Partial<Selectable> = JSON.parse(text.toString('utf8'))
      this.#selectable = labels === undefined && fields === undefined ? nothingSelectable : { labels, fields }
      this.#text = Buffer.from(text)
    }
    return this.#selectable
  }
}

export interface VersionedJson {
  /** The object's JSON with its resourceVersion in place: what a GET sends. */
  readonly json: Buffer
  /** Where in it `"resourceVersion":"..",` starts. */
  readonly versionAt: number
}

/** `allocate` says where: what is kept for long should not keep its neighbours, what is sent and dropped may. */
export function storedJson(bytes: Uint8Array, resourceVersion: string, allocate: Allocate): VersionedJson {
  const view = asBuffer(bytes)
  const bodyStart = headerStart + view.readUInt32LE(6)
  const versionAt = view.readUInt32LE(10)
  return { json: splice(view.subarray(bodyStart), { at: versionAt, dropped: 0, resourceVersion, allocate }), versionAt }
}

export type Allocate = (size: number) => Buffer

/** The same JSON with another resourceVersion. */
export function replaceVersion({ json, versionAt }: VersionedJson, from: string, to: string): Buffer {
  const dropped = versionMember(from).length
  return splice(json, { at: versionAt, dropped, resourceVersion: to, allocate: Buffer.allocUnsafeSlow })
}

interface Splice {
  readonly at: number
  /** How many bytes there give way. */
  readonly dropped: number
  readonly resourceVersion: string
  readonly allocate: Allocate
}

function splice(json: Buffer, { at, dropped, resourceVersion, allocate }: Splice): Buffer {
  const member = versionMember(resourceVersion)
  const result = allocate(json.length - dropped + member.length)
  json.copy(result, 0, 0, at)
  result.write(member, at, 'latin1')
  json.copy(result, at + member.length, at + dropped)
  return result
}

function versionMember(resourceVersion: string): string {
  return `"resourceVersion":"${resourceVersion}",`
}

function assertSound(key: string, view: Buffer): void {
  if (view.length < headerStart) throw new DamagedValue('the stored value is cut off')
  const known = view[0] === format || view[0] === 1
  if (known && view[1] === 0 && matches(view[0]!, key, view)) return
  // Where all but the first bytes is as an older program wrote it, it is they that were damaged.
  if (view[0]! > format && !matches(format, key, view) && !matches(1, key, view))
    throw new NewerValue(`the stored value has format ${view[0]}, which only a newer version of this program reads`)
  throw new DamagedValue('the stored value does not match its checksum')
}

function matches(form: number, key: string, view: Buffer): boolean {
  return checksum(form, key, view) === view.readUInt32LE(2)
}

function checksum(form: number, key: string, view: Buffer): number {
  const sized = view.subarray(6)
  return form === 1 ? crc32(sized) : crc32(sized, crc32(key))
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

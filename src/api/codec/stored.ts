/**
 * The stored form of an object: the value that the store keeps under a key.
 *
 *   0      format (3)
 *   1      length of the encryption key id (0: not encrypted)
 *   2..5   CRC-32 of the store's key and of all bytes that follow
 *   6..9   length of the header
 *   10..13 offset of the resourceVersion in the body
 *   14..   header: JSON that caches and indexes need
 *   ...    body: the object's JSON without its resourceVersion
 *
 * The revision of a write is known only after the commit, so the body is stored without a resourceVersion. The
 * resourceVersion is inserted when the object is read:
 * `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"...",` + `"resourceVersion":"7",` +
 * `"creationTimestamp":...}}`, and the final newline of a response.
 *
 * Older formats can still be read. Format 2 differs only in the order of members: apiVersion and kind first, all others
 * by key. Format 1 also has a different checksum that does not cover the key, so a value stored under the wrong key is
 * not detected.
 */
import { crc32 } from 'node:zlib'
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { isLarge } from '../json/large-json.ts'
import { type ApiObject, asJson, copyWithout } from '../model/object.ts'
import { stringifyStored } from './json.ts'
import { maxValues, tooManyValues } from './json-scan.ts'
import { isBefore, keysInOrder, type MemberOrder, memberOrder, type Order, orderBelow } from './member-order.ts'
import { storedTextSliced } from './sliced-json.ts'

/** The labels and fields of an object that selectors match. */
export interface Selectable {
  readonly labels: { readonly [key: string]: string } | undefined
  /** Values of field selectors other than name and namespace. */
  readonly fields: { readonly [path: string]: string } | undefined
}

/** Properties of a stored object that caches and indexes can read without parsing the object. */
export interface Header extends Selectable {
  /**
   * Identifies the schema (`Evolution.schemaId`) for which the object was complete when it was written. Undefined if
   * unknown.
   */
  readonly completeFor?: string | undefined
  /** The Kubernetes version, such as `1.29`, that the server emulated when it wrote the object. Undefined for 1.23. */
  readonly version?: string | undefined
}

const format = 3
/** The first storage format whose checksum covers the key. */
const formatWithKey = 2
const headerStart = 14
const emptyHeader = '{}'

/** Thrown if a stored value cannot be read as an object. */
export class UnreadableValue extends Error {
  override readonly name: string = 'UnreadableValue'
}

/** Thrown if a stored value has the wrong checksum, which means that the value was damaged. */
class DamagedValue extends UnreadableValue {
  override readonly name = 'DamagedValue'
}

/**
 * The error for a value in a newer format, which a newer version of this program wrote and this version cannot read.
 * The value is not damaged.
 */
export class NewerValue extends UnreadableValue {
  override readonly name = 'NewerValue'
}

/** The error for a value that is still encrypted. The value may be intact. */
export class EncryptedValue extends UnreadableValue {
  override readonly name = 'EncryptedValue'
}

/**
 * An object to be stored. `order` is the order of its members, and `header` is the data that can be read without
 * parsing the object.
 */
export interface Storable {
  readonly object: ApiObject
  readonly order: Order
  readonly header: Partial<Header>
}

/** Encodes an object for storage under a key. */
export function encodeStored(key: string, storable: Storable): Buffer {
  return runToCompletion(encodeSliced(key, storable))
}

/** Encodes an object like `encodeStored`, but yields periodically so that other work can run. */
export function* encodeSliced(key: string, { object, order, header }: Storable): Generator<void, Buffer> {
  const write = isLarge(asJson(object)) ? yield* writeParts(object, order) : stringifyStored
  const { before, after } = splitBody(object, order, write)
  yield
  const head = JSON.stringify(header)
  const text = head + before + after
  const size = Buffer.byteLength(text)
  // A JSON value takes at least two bytes, so count the values only in a long text.
  if (size > 2 * maxValues) yield* assertAtMost(asJson(object), maxValues + ownRoom)
  yield
  // If the text is ASCII, its length in bytes equals its number of characters, which is faster to determine.
  const sizeOf = size === text.length ? lengthOf : Buffer.byteLength
  // The buffer is allocated separately, because the log retains it for a while. A buffer from Node's pool would keep
  // the whole pool in memory.
  const bytes = Buffer.allocUnsafeSlow(headerStart + size)
  bytes.write(text, headerStart)
  bytes[0] = format
  bytes[1] = 0
  bytes.writeUInt32LE(sizeOf(head), 6)
  bytes.writeUInt32LE(sizeOf(before), 10)
  bytes.writeUInt32LE(checksum(format, key, bytes), 2)
  return bytes
}

/**
 * Maximum number of values, such as the deletion timestamp, conditions and managed fields, that the server itself may
 * add to an object that already has the maximum size. Without this allowance, the server could not delete such an
 * object.
 */
const ownRoom = 1000

/**
 * Throws an error if an object has more values than a request body may have, because clients could not send it back.
 * Yields periodically.
 */
export function* assertCount(object: ApiObject): Generator<void, void> {
  yield* assertAtMost(asJson(object), maxValues)
}

/**
 * Like `assertCount`, but does not count managedFields. This check rejects an oversized object before any further
 * processing.
 */
export function* assertOwnCount(object: ApiObject): Generator<void, void> {
  const { metadata } = object
  yield* assertCount(
    metadata.managedFields === undefined ? object : { ...object, metadata: copyWithout(metadata, 'managedFields') },
  )
}

/**
 * Counts values and throws an error if there are too many. Unprocessed objects and lists are queued, so that counting
 * can be interrupted after each of them.
 */
function* assertAtMost(value: JsonObject, maxCount: number): Generator<void, void> {
  const open: (JsonObject | Json[])[] = [value]
  let count = 1
  let counted = 1
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    count += countParts(next, open)
    if (count > maxCount) throw tooManyValues()
    if (count - counted < countedPerSlice) continue
    counted = count
    yield
  }
}

const countedPerSlice = 2000

/** Returns how many members or elements a value has, and adds those that are objects or lists to `nested`. */
function countParts(value: JsonObject | Json[], nested: (JsonObject | Json[])[]): number {
  if (Array.isArray(value)) {
    for (const item of value) if (isNested(item)) nested.push(item)
    return value.length
  }
  let count = 0
  for (const key in value) {
    const item = value[key]
    if (isNested(item)) nested.push(item)
    count++
  }
  return count
}

function isNested(value: Json | undefined): value is JsonObject | Json[] {
  return typeof value === 'object' && value !== null
}

function lengthOf(text: string): number {
  return text.length
}

interface Parts {
  readonly before: string
  readonly after: string
}

/** Formats a value at a nesting level of a stored object. */
type WriteValue = typeof stringifyStored

/** Formats the large parts of an object first, in steps, so that the rest can be formatted without interruption. */
function* writeParts(object: ApiObject, order: Order): Generator<void, WriteValue> {
  const texts = new Map<unknown, string>()
  const members = memberOrder(order)
  yield* writeMembers(asJson(object), members, { level: 1, texts })
  yield* writeMembers(object.metadata as JsonObject, memberOrder(orderBelow(members, 'metadata')), { level: 2, texts })
  return (value, ...rest) => texts.get(value) ?? stringifyStored(value, ...rest)
}

function* writeMembers(
  object: JsonObject,
  members: MemberOrder,
  { level, texts }: { level: number; texts: Map<unknown, string> },
): Generator<void, void> {
  for (const key of Object.keys(object)) {
    const value = object[key]
    if (!isNested(value) || (level === 1 && key === 'metadata')) continue
    texts.set(value, yield* storedTextSliced(value, orderBelow(members, key), level))
    yield
  }
}

/**
 * Returns the parts of the body before and after the resourceVersion. Throws an error if the stored object could not be
 * parsed again.
 */
function splitBody(object: ApiObject, order: Order, write: WriteValue): Parts {
  assertWhole(object)
  const members = memberOrder(order)
  const json = asJson(object)
  let before = ''
  let text = ''
  for (const key of keysInOrder(json, members)) {
    if (json[key] === undefined) continue
    text += `${text === '' && before === '' ? '{' : ','}${nameText(key, members)}:`
    if (key === 'metadata') {
      const parts = splitMetadata(object.metadata as JsonObject, orderBelow(members, key), write)
      before = text + parts.before
      text = parts.after
    } else {
      text += write(json[key], orderBelow(members, key), 1)
    }
  }
  return { before, after: `${text}}` }
}

/** Requires the members that every stored object has, so that there is text on both sides of the resourceVersion. */
function assertWhole({ apiVersion, kind, metadata }: ApiObject): void {
  const { uid, creationTimestamp } = metadata
  if (apiVersion === undefined || kind === undefined || uid === undefined || creationTimestamp === undefined)
    throw new TypeError('cannot store an object without a type, a UID or a creation timestamp')
}

const version = 'resourceVersion'

function splitMetadata(metadata: JsonObject, order: Order, write: WriteValue): Parts {
  const members = memberOrder(order)
  let before = '{'
  let after = ''
  for (const key of keysInOrder(metadata, members)) {
    const value = metadata[key]
    if (key === version || value === undefined) continue
    const member = `${nameText(key, members)}:${write(value, orderBelow(members, key), 2)}`
    if (isBefore(members, key, version)) before += `${member},`
    else after += after === '' ? member : `,${member}`
  }
  return { before, after: `${after}}` }
}

/** Returns the JSON text of a key. The names of fields that a type defines need no escaping. */
function nameText(key: string, { fields }: MemberOrder): string {
  return fields?.has(key) ? `"${key}"` : stringifyStored(key, undefined, 1)
}

/** Parses a header. Objects with equal labels share one header object, so headers need little memory. */
function headerIn(text: Buffer): Header {
  const { labels, fields, completeFor, version }: Partial<Header> = JSON.parse(text.toString('utf8'))
  if (version !== undefined) return { labels, fields, completeFor, version }
  if (completeFor !== undefined) return { labels, fields, completeFor }
  return labels === undefined && fields === undefined ? nothingSaid : { labels, fields }
}

/** Shared by all objects with an empty header, to save memory. */
const nothingSaid: Header = { labels: undefined, fields: undefined }

/**
 * Reads the headers of successive objects. Neighboring objects often have the same labels and then share one header
 * object, which saves time and memory.
 */
export class HeaderReader {
  #text = Buffer.from(emptyHeader)
  #header = nothingSaid

  /**
   * Returns the header of a stored value after validating the whole value. Throws UnreadableValue if the value is
   * invalid.
   */
  read(key: string, bytes: Uint8Array): Header {
    const view = asBuffer(bytes)
    assertSound(key, view)
    const text = view.subarray(headerStart, headerStart + view.readUInt32LE(6))
    if (!text.equals(this.#text)) {
      this.#header = headerIn(text)
      this.#text = Buffer.from(text)
    }
    return this.#header
  }
}

/**
 * Whether bytes are an intact stored value in this format or a newer one. Bytes that were decrypted with a wrong key
 * are not intact.
 */
export function isStoredForm(key: string, bytes: Buffer): boolean {
  return bytes.length >= headerStart && (matches(format, key, bytes) || matches(1, key, bytes))
}

/** An object as a GET request returns it, with the position of its resourceVersion. */
export interface VersionedJson {
  /** The JSON of the object with its resourceVersion and a final newline, as a GET request returns it. */
  readonly json: Buffer
  /** The offset of `"resourceVersion":"..",` in the JSON. */
  readonly versionAt: number
}

/**
 * Returns the JSON of a stored object. `allocate` should return a separate buffer if the JSON is retained for a long
 * time, and may return pooled memory if the JSON is sent and then dropped.
 */
export function storedJson(bytes: Uint8Array, resourceVersion: string, allocate: Allocate): VersionedJson {
  const view = asBuffer(bytes)
  const bodyStart = headerStart + view.readUInt32LE(6)
  const versionAt = view.readUInt32LE(10)
  const spliced = { at: versionAt, dropped: 0, end: newline, resourceVersion, allocate }
  return { json: splice(view.subarray(bodyStart), spliced), versionAt }
}

/** Responses end with a newline, but stored values do not. */
const newline = '\n'

/** Returns a buffer of at least `size` bytes that the caller may fill. */
export type Allocate = (size: number) => Buffer

/** Returns the same JSON with a different resourceVersion. */
export function replaceVersion({ json, versionAt }: VersionedJson, from: string, to: string): Buffer {
  const dropped = versionMember(from).length
  return splice(json, { at: versionAt, dropped, end: '', resourceVersion: to, allocate: Buffer.allocUnsafeSlow })
}

interface Splice {
  readonly at: number
  /** Number of bytes to remove from the end of the stored JSON. */
  readonly dropped: number
  /** Text to append, such as a newline. */
  readonly end: string
  readonly resourceVersion: string
  readonly allocate: Allocate
}

function splice(json: Buffer, { at, dropped, end, resourceVersion, allocate }: Splice): Buffer {
  const member = versionMember(resourceVersion)
  const size = json.length - dropped + member.length
  const result = allocate(size + end.length)
  json.copy(result, 0, 0, at)
  result.write(member, at, 'latin1')
  json.copy(result, at + member.length, at + dropped)
  if (end !== '') result.write(end, size, 'latin1')
  return result
}

function versionMember(resourceVersion: string): string {
  return `"resourceVersion":"${resourceVersion}",`
}

function assertSound(key: string, view: Buffer): void {
  assertPlain(view)
  if (view.length < headerStart) throw new DamagedValue('the stored value is truncated')
  const known = view[0]! >= 1 && view[0]! <= format
  if (known && view[1] === 0 && matches(view[0]!, key, view)) return
  // If the checksum of an older format matches, the value is in that format and only its format byte is damaged.
  if (view[0]! > format && !matches(format, key, view) && !matches(1, key, view))
    throw new NewerValue(`the stored value has format ${view[0]}, which only a newer version of this program can read`)
  throw new DamagedValue('the stored value does not match its checksum')
}

/** Throws an error if the value is still encrypted because the store was not able to decrypt it (`encryption/`). */
function assertPlain(view: Buffer): void {
  const fault = encryptionFault(view)
  if (fault !== undefined) throw new EncryptedValue(fault)
}

/** Returns the reason why the store was not able to decrypt a value, or undefined if the value is not encrypted. */
export function encryptionFault(view: Buffer): string | undefined {
  if (view[0] === undefined || view[0] <= format) return undefined
  const [, cipher, key] = /^[a-z0-9]+:enc:([a-z]+):(?:v1:([^:]{1,253}):)?/.exec(view.toString('latin1', 0, 300)) ?? []
  if (cipher === undefined) return undefined
  return cipher === 'plain'
    ? 'the stored value is not encrypted, and --encryption-provider-config does not list the identity provider for it'
    : `the stored value is encrypted by ${cipher} with the key ${JSON.stringify(key ?? '')}, which --encryption-provider-config does not contain, or the value is damaged`
}

function matches(form: number, key: string, view: Buffer): boolean {
  return checksum(form, key, view) === view.readUInt32LE(2)
}

function checksum(form: number, key: string, view: Buffer): number {
  const sized = view.subarray(6)
  return form < formatWithKey ? crc32(sized) : crc32(sized, crc32(key))
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

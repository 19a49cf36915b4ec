/**
 * The stored form of an object: what the store keeps under a key.
 *
 *   0      format (3)
 *   1      length of the encryption key id (0: not encrypted)
 *   2..5   CRC-32 of the store's key and of all that follows
 *   6..9   length of the header
 *   10..13 offset in the body where the resourceVersion belongs
 *   14..   header: JSON of what caches and indexes need
 *   ...    body: the object's JSON without its resourceVersion
 *
 * The revision of a write is known only after the commit, so the body is kept without it and spliced on the way out:
 * `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"...",` + `"resourceVersion":"7",` +
 * `"creationTimestamp":...}}`, and the newline that ends an answer.
 *
 * Older formats are still read. Format 2 differs in the order of the members alone: apiVersion and kind first, all others
 * by their keys. Format 1 besides in its checksum, which does not know the key, so that a value that came to lie under
 * another key goes unnoticed.
 */
import { crc32 } from 'node:zlib'
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { isLarge } from '../json/large-json.ts'
import { type ApiObject, asJson, copyWithout } from '../model/object.ts'
import { stringifyStored } from './json.ts'
import { maxValues, tooManyValues } from './json-scan.ts'
import { storedTextSteps } from './json-steps.ts'
import { isBefore, keysInOrder, type MemberOrder, memberOrder, type Order, orderBelow } from './member-order.ts'

/** What objects are selected by. */
export interface Selectable {
  readonly labels: { readonly [key: string]: string } | undefined
  /** Values that field selectors can ask for, beside name and namespace. */
  readonly fields: { readonly [path: string]: string } | undefined
}

/** What caches and indexes need to know of an object. */
export interface Header extends Selectable {
  /** The schema by which the object was complete when it was written (`Evolution.schemaId`), if that is known. */
  readonly completeFor?: string | undefined
}

const format = 3
/** The first whose checksum knows the key. */
const formatWithKey = 2
const headerStart = 14
const emptyHeader = '{}'

/** What the store holds is not an object that this program can read. */
export class UnreadableValue extends Error {
  override readonly name: string = 'UnreadableValue'
}

/** It is not what was written. */
class DamagedValue extends UnreadableValue {
  override readonly name = 'DamagedValue'
}

/** A newer program wrote it, in a form that is not known here; nothing is wrong with it. */
export class NewerValue extends UnreadableValue {
  override readonly name = 'NewerValue'
}

/** It is encrypted, and nobody has decrypted it: nothing may be wrong with it. */
export class EncryptedValue extends UnreadableValue {
  override readonly name = 'EncryptedValue'
}

/** What is stored: an object, by what its members are ordered, and what it is selected by. */
export interface Storable {
  readonly object: ApiObject
  readonly order: Order
  readonly header: Partial<Header>
}

/** For the key that it will be stored under. */
export function encodeStored(key: string, storable: Storable): Buffer {
  return runToCompletion(encodeSteps(key, storable))
}

/** The same, with a yield wherever it can be interrupted. */
export function* encodeSteps(key: string, { object, order, header }: Storable): Generator<void, Buffer> {
  const write = isLarge(asJson(object)) ? yield* writeParts(object, order) : stringifyStored
  const { before, after } = splitBody(object, order, write)
  yield
  const head = JSON.stringify(header)
  const text = head + before + after
  const size = Buffer.byteLength(text)
  // A value takes two bytes at least.
  if (size > 2 * maxValues) yield* assertAtMost(asJson(object), maxValues + ownRoom)
  yield
  // Where every character is a byte, as in most objects, lengths need not be measured.
  const sizeOf = size === text.length ? lengthOf : Buffer.byteLength
  // In memory of its own: the log keeps it for a while, and with it would be kept whatever small buffers share.
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
 * What the server itself adds to an object that is as large as a client may send: that its deletion has begun, conditions,
 * the record of who owns them. Without room for it such an object could never be deleted.
 */
const ownRoom = 1000

/** What is stored can be sent back: it holds no more values than a body may. Yields where it can be interrupted. */
export function* assertCount(object: ApiObject): Generator<void, void> {
  yield* assertAtMost(asJson(object), maxValues)
}

/** The same without the record of its managers: what is too much even so is refused before anything is done with it. */
export function* assertOwnCount(object: ApiObject): Generator<void, void> {
  const { metadata } = object
  yield* assertCount(
    metadata.managedFields === undefined ? object : { ...object, metadata: copyWithout(metadata, 'managedFields') },
  )
}

/** Containers that are yet to be counted are kept in a list, so that the count can be interrupted between any two. */
function* assertAtMost(value: JsonObject, most: number): Generator<void, void> {
  const open: (JsonObject | Json[])[] = [value]
  let [count, counted] = [1, 1]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    count += countParts(next, open)
    if (count > most) throw tooManyValues()
    if (count - counted < countedPerStep) continue
    counted = count
    yield
  }
}

const countedPerStep = 2000

/** How many members or elements it has; those that have parts of their own are added to the list. */
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

/** Writes a value that lies so many levels below the top of its object. */
type WriteValue = typeof stringifyStored

/** Writes the parts of a large object beforehand, with a yield wherever that can be interrupted. */
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
    texts.set(value, yield* storedTextSteps(value, orderBelow(members, key), level))
    yield
  }
}

/** The body in two parts, between which the resourceVersion belongs. Throws what could not be read back. */
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

/** What every stored object has, if only so that something stands on either side of its version. */
function assertWhole({ apiVersion, kind, metadata }: ApiObject): void {
  const { uid, creationTimestamp } = metadata
  if (apiVersion === undefined || kind === undefined || uid === undefined || creationTimestamp === undefined)
    throw new TypeError('an object without its type, its uid or its time of creation is not stored')
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

/** Names of fields that a type has need no look at what is in them. */
function nameText(key: string, { fields }: MemberOrder): string {
  return fields?.has(key) ? `"${key}"` : stringifyStored(key, undefined, 1)
}

/** There are as many as objects with different labels, so what most of them lack takes no memory. */
function headerIn(text: Buffer): Header {
  const { labels, fields, completeFor }: Partial<Header> = JSON.parse(text.toString('utf8'))
  if (completeFor !== undefined) return { labels, fields, completeFor }
  return labels === undefined && fields === undefined ? nothingSaid : { labels, fields }
}

/** Shared by all objects whose header says nothing. */
const nothingSaid: Header = { labels: undefined, fields: undefined }

/**
 * Reads headers, one object after the other. Neighbours often have the same labels: then they share one header, which
 * saves time and memory.
 */
export class HeaderReader {
  #text = Buffer.from(emptyHeader)
  #header = nothingSaid

  /** Checks the whole value on the way; throws UnreadableValue. */
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
 * Whether these bytes are a stored form that is whole, of this format or of a newer one. Bytes that were decrypted with a
 * wrong key are not.
 */
export function isStoredForm(key: string, bytes: Buffer): boolean {
  return bytes.length >= headerStart && (matches(format, key, bytes) || matches(1, key, bytes))
}

/** An object as a GET sends it, and where its version is in the bytes. */
export interface VersionedJson {
  /** The object's JSON with its resourceVersion in place, and a newline at the end: what a GET sends. */
  readonly json: Buffer
  /** Where in it `"resourceVersion":"..",` starts. */
  readonly versionAt: number
}

/** `allocate` says where: what is kept for long should not keep its neighbours, what is sent and dropped may. */
export function storedJson(bytes: Uint8Array, resourceVersion: string, allocate: Allocate): VersionedJson {
  const view = asBuffer(bytes)
  const bodyStart = headerStart + view.readUInt32LE(6)
  const versionAt = view.readUInt32LE(10)
  const spliced = { at: versionAt, dropped: 0, end: newline, resourceVersion, allocate }
  return { json: splice(view.subarray(bodyStart), spliced), versionAt }
}

/** Ends the JSON that is sent, and is not stored. */
const newline = '\n'

/** Returns a buffer of this size. */
export type Allocate = (size: number) => Buffer

/** The same JSON with another resourceVersion. */
export function replaceVersion({ json, versionAt }: VersionedJson, from: string, to: string): Buffer {
  const dropped = versionMember(from).length
  return splice(json, { at: versionAt, dropped, end: '', resourceVersion: to, allocate: Buffer.allocUnsafeSlow })
}

interface Splice {
  readonly at: number
  /** How many bytes there give way. */
  readonly dropped: number
  /** What is put at the end. */
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
  if (view.length < headerStart) throw new DamagedValue('the stored value is cut off')
  const known = view[0]! >= 1 && view[0]! <= format
  if (known && view[1] === 0 && matches(view[0]!, key, view)) return
  // Where all but the first bytes is as an older program wrote it, it is they that were damaged.
  if (view[0]! > format && !matches(format, key, view) && !matches(1, key, view))
    throw new NewerValue(`the stored value has format ${view[0]}, which only a newer version of this program reads`)
  throw new DamagedValue('the stored value does not match its checksum')
}

/** Such values come up here only where they could not be decrypted below (`encryption/`). */
function assertPlain(view: Buffer): void {
  if (view[0] === undefined || view[0] <= format) return
  const [, cipher, key] = /^[a-z0-9]+:enc:([a-z]+):(?:v1:([^:]{1,253}):)?/.exec(view.toString('latin1', 0, 300)) ?? []
  if (cipher === undefined) return
  throw new EncryptedValue(
    cipher === 'plain'
      ? 'the stored value is not encrypted, and --encryption-provider-config does not name identity for it'
      : `the stored value is encrypted by ${cipher} with the key ${JSON.stringify(key ?? '')}, which --encryption-provider-config does not have, or it is damaged`,
  )
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

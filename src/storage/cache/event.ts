/**
 * A change to one object, as watchers receive it. The event type depends on the watcher's selector: an object is ADDED
 * when it starts to match and DELETED when it stops matching. Each encoding of the event is created once, and watchers
 * share it.
 */
import { jsonDocument } from '../../api/codec/json.ts'
import type { Order } from '../../api/codec/member-order.ts'
import type { JsonObject } from '../../api/json/json.ts'
import { status } from '../../api/schema/meta-types.ts'
import { partialObjectMetadata } from '../../api/schema/partial-metadata.ts'
import { type Sliced, TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { CachedObject } from './cached-object.ts'

/** The type of a watch event. Watchers with different selectors can see the same change as different types. */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** An encoding of events: JSON, tables or Protobuf. The name identifies the encoding. */
export interface EventForm {
  readonly name: string
  encode(type: EventType, object: CachedObject): Buffer
  /**
   * Encodes like `encode`, but yields periodically. Undefined if encoding takes little time even for a large object.
   */
  encodeSliced?(type: EventType, object: CachedObject): Sliced<Buffer>
  /**
   * Returns the encoded event in parts, which avoids copying the object. Returns undefined if the object itself must be
   * re-encoded.
   */
  parts?(type: EventType, object: CachedObject): readonly Buffer[]
  /**
   * Prepares to encode events about the given objects if the encoding requires a remote call, for example to a
   * conversion webhook. Resolves when `encode` can be called. Returns undefined if no preparation is needed.
   */
  prepare?(objects: readonly CachedObject[]): Promise<void> | undefined
  /** Encodes a BOOKMARK, whose object has only a resourceVersion, or an ERROR with a Status. */
  encodeBookmarkOrError(type: 'BOOKMARK' | 'ERROR', document: JsonObject): Buffer
  /**
   * The encoding of every event after the first event. Undefined if the encoding is the same for all events. In tables,
   * for example, only the first event contains the column definitions.
   */
  readonly rest?: EventForm
}

/** Whether an object matches the watcher's selector. */
export type Matches = (object: CachedObject) => boolean

/** A change to one object. Each encoding of the change is created once. */
export class CacheEvent {
  readonly revision: number
  readonly previous: CachedObject | undefined
  /** The object after the change. For a deletion, the object's last state with the deletion's revision. */
  readonly object: CachedObject
  readonly deleted: boolean
  /** The encodings, which all watchers share. An encoding in progress is a promise. */
  readonly #encodings = new Map<string, Buffer | Promise<void>>()
  #lastKnown: CachedObject | undefined

  constructor(object: CachedObject, previous: CachedObject | undefined, deleted: boolean) {
    this.revision = object.revision
    this.object = object
    this.previous = previous
    this.deleted = deleted
  }

  /**
   * Returns the object to send to a watcher. For DELETED, the result is the last state that the watcher received, with
   * the resourceVersion of the change.
   */
  objectFor(type: EventType): CachedObject {
    if (type !== 'DELETED' || this.deleted || this.previous === undefined) return this.object
    this.#lastKnown ??= this.previous.withRevision(this.revision)
    return this.#lastKnown
  }

  /**
   * Returns the event type for a watcher with the selector `matches`, or undefined if the watcher receives no event.
   */
  typeFor(matches: Matches | undefined): EventType | undefined {
    const before = this.previous !== undefined && (matches === undefined || matches(this.previous))
    const after = !this.deleted && (matches === undefined || matches(this.object))
    if (after) return before ? 'MODIFIED' : 'ADDED'
    return before ? 'DELETED' : undefined
  }

  /**
   * Encodes an event about a large object in time slices. Resolves when `bytes` can return the result immediately.
   * Returns undefined if `bytes` can already do so.
   */
  encodeAhead(form: EventForm, type: EventType): Promise<void> | undefined {
    if (!takesLong(form, this.objectFor(type))) return undefined
    const known = this.#encodings.get(nameOf(form, type))
    if (known !== undefined) return known instanceof Promise ? known : undefined
    const encoding = this.#encodeSliced(form, type)
    this.#encodings.set(nameOf(form, type), encoding)
    return encoding
  }

  async #encodeSliced(form: EventForm, type: EventType): Promise<void> {
    const name = nameOf(form, type)
    try {
      const bytes = await new TimeSlice().run(form.encodeSliced!(type, this.objectFor(type)))
      this.#encodings.set(name, copyToOwnBuffer(bytes))
    } catch (error) {
      this.#encodings.delete(name)
      throw error
    }
  }

  /** Returns the encoded event. Encodes it immediately unless `encodeAhead` has already done so. */
  bytes(form: EventForm, type: EventType): Buffer {
    const name = nameOf(form, type)
    const known = this.#encodings.get(name)
    if (known instanceof Buffer) return known
    const bytes = copyToOwnBuffer(form.encode(type, this.objectFor(type)))
    this.#encodings.set(name, bytes)
    return bytes
  }
}

/** Returns the name of an encoding of an event. */
function nameOf({ name }: EventForm, type: EventType): string {
  return `${name} ${type}`
}

/** Minimum size in bytes of an object whose encoding can take more than a few milliseconds. */
const largeObject = 64 * 1024

/** Returns whether the encoding of an event about the object must yield to other tasks. */
export function takesLong({ encodeSliced }: EventForm, { json }: CachedObject): boolean {
  return encodeSliced !== undefined && json.length > largeObject
}

/** Copies bytes out of a larger shared buffer, so that a cached event does not keep the whole buffer in memory. */
function copyToOwnBuffer(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= 2 * bytes.length) return bytes
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

/** The encoding of JSON events for objects that are sent as stored. */
export const jsonEvents: EventForm = {
  name: 'json',
  encode: (type, { json }) => eventWith(type, json),
  parts: (type, { json }) => eventParts(type, json),
  encodeBookmarkOrError: encodeControlEventInJson(partialObjectMetadata),
}

/** Encodes an event that contains the given JSON object, with the final newline. */
export function eventWith(type: EventType | 'BOOKMARK' | 'ERROR', json: Buffer): Buffer {
  return Buffer.concat(eventParts(type, json))
}

/** Returns the parts of an event that contains the given JSON object. */
export function eventParts(type: EventType | 'BOOKMARK' | 'ERROR', json: Buffer): readonly Buffer[] {
  return [openings[type], json.subarray(0, -1), closing]
}

const opening = (type: string) => Buffer.from(`{"type":"${type}","object":`)
const openings = {
  ADDED: opening('ADDED'),
  MODIFIED: opening('MODIFIED'),
  DELETED: opening('DELETED'),
  BOOKMARK: opening('BOOKMARK'),
  ERROR: opening('ERROR'),
}
const closing = Buffer.from('}\n')

/**
 * Returns a function that encodes bookmarks and errors in JSON. `order` defines the order of the members in the object
 * of a bookmark.
 */
export function encodeControlEventInJson(order: Order): EventForm['encodeBookmarkOrError'] {
  return (type, document) => eventWith(type, jsonDocument(document, document.kind === 'Status' ? status : order))
}

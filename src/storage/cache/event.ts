/**
 * A change of one object as watchers see it. What a watcher gets depends on what it selects: an object that begins
 * to match is ADDED to it, one that stops matching is DELETED. Each form is encoded once and shared.
 */
import { jsonDocument } from '../../api/codec/json.ts'
import type { Order } from '../../api/codec/member-order.ts'
import type { JsonObject } from '../../api/json/json.ts'
import { status } from '../../api/schema/meta-types.ts'
import { partialObjectMetadata } from '../../api/schema/partial-metadata.ts'
import type { CachedObject } from './cached-object.ts'

/** What an event is to a watcher. */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** How events are written for some watchers: as JSON, tables, Protobuf. The name tells forms apart. */
export interface EventForm {
  readonly name: string
  encode(type: EventType, object: CachedObject): Buffer
  /**
   * Where somebody else must be asked before an event about these can be written: resolves when `encode` can be called;
   * undefined where that is now.
   */
  prepare?(objects: readonly CachedObject[]): Promise<void> | undefined
  /** What is told of no object: how far the watch is, as an object that has only a version, or a Status. */
  tell(type: 'BOOKMARK' | 'ERROR', document: JsonObject): Buffer
  /** The form of all events after the first, where that one is different. */
  readonly rest?: EventForm
}

/** Whether an object is selected. */
export type Matches = (object: CachedObject) => boolean

/** A change of one object; each form of it is encoded once. */
export class CacheEvent {
  readonly revision: number
  readonly previous: CachedObject | undefined
  /** The object after the change; for a deletion its last state at the deletion's revision. */
  readonly object: CachedObject
  readonly deleted: boolean
  readonly #encoded = new Map<string, Buffer>()
  #lastKnown: CachedObject | undefined

  constructor(object: CachedObject, previous: CachedObject | undefined, deleted: boolean) {
    this.revision = object.revision
    this.object = object
    this.previous = previous
    this.deleted = deleted
  }

  /** What a watcher is shown: for DELETED the last state that it knew, with the version of the change. */
  shown(type: EventType): CachedObject {
    if (type !== 'DELETED' || this.deleted || this.previous === undefined) return this.object
    this.#lastKnown ??= this.previous.withRevision(this.revision)
    return this.#lastKnown
  }

  /** What this change is to someone who selects by `matches`; undefined: nothing. */
  typeFor(matches: Matches | undefined): EventType | undefined {
    const before = this.previous !== undefined && (matches === undefined || matches(this.previous))
    const after = !this.deleted && (matches === undefined || matches(this.object))
    if (after) return before ? 'MODIFIED' : 'ADDED'
    return before ? 'DELETED' : undefined
  }

  bytes(form: EventForm, type: EventType): Buffer {
    const name = `${form.name} ${type}`
    let bytes = this.#encoded.get(name)
    if (bytes === undefined) {
      bytes = alone(form.encode(type, this.shown(type)))
      this.#encoded.set(name, bytes)
    }
    return bytes
  }
}

/** In memory of its own: what small buffers share would all be kept as long as the event is. */
function alone(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= 2 * bytes.length) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}

/** Events as JSON, of objects that are sent as they are stored. */
export const jsonEvents: EventForm = {
  name: 'json',
  encode: (type, { json }) => eventWith(type, json),
  tell: tellInJson(partialObjectMetadata),
}

/** An event with an object that is given as JSON, with the newline that ends it. */
export function eventWith(type: EventType | 'BOOKMARK' | 'ERROR', json: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), json.subarray(0, -1), closing])
}

const closing = Buffer.from('}\n')

/** `order` is that of an object that has only a version. */
export function tellInJson(order: Order): EventForm['tell'] {
  return (type, document) => eventWith(type, jsonDocument(document, document.kind === 'Status' ? status : order))
}

/**
 * A watch as an async iterator: yields the events of a selection until the server ends the watch, the signal aborts or
 * the caller stops reading. If the server ends the watch, the iterator ends normally. An ERROR event or a broken
 * connection throws an error. `resume-watch.ts` and informers resume watches. The code runs in Node.js and in browsers.
 */

import { parseJson } from '../../api/json/portable-json.ts'
import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import { isError } from '../../base/text/errors.ts'
import { isIn } from './answers.ts'
import { joined } from './chunks.ts'
import type { ContentForm } from './content-form.ts'
import type { CallOptions, RawRequest } from './options.ts'
import { collectionPath, type ResourceType, type Selection } from './resource-type.ts'
import { isStatus, StatusError } from './status-error.ts'
import { ofRequest, requestLine, TransportError, type TransportResponse } from './transport.ts'

/** A change to an object, or a bookmark. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** A bookmark, which reports that the watch has sent all events up to this version. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly endsInitialEvents?: true }

/** The objects to watch, and options for the watch. */
export interface WatchOptions extends Selection, CallOptions {
  /**
   * The watch returns the events after this resource version. If omitted, the watch starts with an ADDED event for each
   * existing object.
   */
  readonly resourceVersion?: string
  readonly bookmarks?: boolean
  /**
   * Whether the watch starts with an ADDED event for each existing object and then a bookmark with `endsInitialEvents`.
   * Requires `bookmarks`. Servers without support for this option reject the watch.
   */
  readonly sendInitialEvents?: boolean
  /** Duration of the watch in seconds. The server ends the watch after this time. */
  readonly timeoutSeconds?: number
  /** Accept header for a format other than whole objects. */
  readonly accept?: string
  /** Called when the response begins, which means that the watch is open. */
  readonly onOpen?: (() => void) | undefined
  /** The part of each object to include in a table row. */
  readonly includeObject?: 'None' | 'Object' | undefined
}

/** The client methods that a watch uses. */
export interface WatchOpener {
  readonly form: ContentForm | undefined
  open(request: RawRequest): Promise<TransportResponse>
  resolve<T extends ObjectBase = ApiObject>(type: ResourceType<T>, options: CallOptions): Promise<ResourceType<T>>
}

/** Watches a selection of objects until the server ends the watch. */
export async function* watch<T extends ObjectBase = ApiObject>(
  client: WatchOpener,
  type: ResourceType<T>,
  { namespace, bookmarks, sendInitialEvents, signal, accept, onOpen, ...more }: WatchOptions = {},
): AsyncGenerator<WatchEvent<T>> {
  const query = sendInitialEvents ? { ...more, sendInitialEvents, resourceVersionMatch: 'NotOlderThan' } : more
  const request = {
    method: 'GET',
    path: collectionPath(await client.resolve(type, { signal }), namespace),
    query: { ...query, watch: true, allowWatchBookmarks: bookmarks || undefined },
    signal,
    accept,
  }
  const requestText = requestLine(request)
  const response = await client.open(request)
  onOpen?.()
  try {
    for await (const event of eventsIn(client, response)) yield readEvent(event as RawEvent<T>, requestText)
  } catch (error) {
    throw ofRequest(error, request)
  }
}

async function* eventsIn({ form }: WatchOpener, response: TransportResponse): AsyncGenerator<RawEvent<unknown>> {
  if (isIn(form, response)) yield* readable(form, form.readEvents(response.body))
  else for await (const line of lines(response.body, maxLineBytes)) yield parseJson(line) as RawEvent<unknown>
}

/** Yields decoded events. An event that cannot be decoded is treated like a broken connection. */
async function* readable<E>({ mediaType }: ContentForm, events: AsyncIterable<E>): AsyncGenerator<E> {
  try {
    yield* events
  } catch (error) {
    if (error instanceof TransportError || !isError(error) || error.name !== 'WireError') throw error
    throw new TransportError(`cannot decode a ${mediaType} watch event: ${error.message}`, { cause: error })
  }
}

/** Maximum size of an event in bytes. All stored objects are smaller. */
export const maxLineBytes = 16 * 1024 * 1024

/** A watch event as the server sends it. */
export interface RawEvent<T> {
  readonly type: string
  readonly object: T
}

function readEvent<T extends ObjectBase = ApiObject>({ type, object }: RawEvent<T>, request: string): WatchEvent<T> {
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object }
    case 'BOOKMARK':
      return {
        type,
        resourceVersion: object.metadata.resourceVersion ?? '',
        ...(isMarked(object) && { endsInitialEvents: true }),
      }
    case 'ERROR':
      throw isStatus(object)
        ? new StatusError(object, request)
        : new TransportError('the watch returned an error event without a Status')
    default:
      throw new TransportError(`the watch returned an event of unknown type ${JSON.stringify(type)}`)
  }
}

/** Whether a bookmark marks the end of the initial events. The domain of the annotation depends on the server. */
function isMarked({ metadata: { annotations = {} } }: ObjectBase): boolean {
  return Object.entries(annotations).some(([key, value]) => value === 'true' && key.endsWith('/initial-events-end'))
}

const newline = 10

/** Yields complete lines. Text at the end without a newline is dropped, because it is incomplete. */
export async function* lines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const last = chunk.subarray(start, end)
      yield decoder.decode(parts.length === 0 ? last : joined([...parts, last]))
      parts = []
      size = 0
      start = end + 1
    }
    if (start === chunk.length) continue
    parts.push(chunk.subarray(start))
    size += chunk.length - start
    if (size > maxBytes) throw new TransportError(`a watch event is longer than ${maxBytes} bytes`)
  }
}

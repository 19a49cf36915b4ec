/**
 * Watches without interruption: if a watch ends or breaks, it is resumed after the last resource version, with backoff,
 * so that the caller receives every event exactly once.
 *
 * Errors that a new attempt cannot resolve, such as an expired version (410) or missing permissions, are thrown.
 * Without a start version, the selection is listed first.
 */

import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { type Backoff, backoffMs } from '../../base/concurrency/backoff.ts'
import type { ListOptions, ListPage } from './options.ts'
import type { ResourceType } from './resource-type.ts'
import { StatusError } from './status-error.ts'
import { type WatchEvent, type WatchOpener, type WatchOptions, watch } from './watch.ts'

/** The objects to watch, and the version to start from. */
export interface FollowOptions extends Omit<WatchOptions, 'accept' | 'includeObject' | 'onOpen' | 'timeoutSeconds'> {
  /** Called when the watch breaks. The watch is resumed automatically. */
  readonly onError?: (error: unknown) => void
}

/** The client methods that are needed to resume a watch. */
interface Source extends WatchOpener {
  pages<T extends ObjectBase = ApiObject>(type: ResourceType<T>, options: ListOptions): AsyncIterable<ListPage<T>>
}

const backoff: Backoff = { firstMs: 200, longestMs: 10_000 }

/** Yields the changes to a selection over as many watches as necessary. */
export async function* follow<T extends ObjectBase = ApiObject>(
  client: Source,
  type: ResourceType<T>,
  { onError = () => {}, bookmarks = false, ...options }: FollowOptions,
): AsyncGenerator<WatchEvent<T>> {
  const signal = options.signal ?? new AbortController().signal
  let { resourceVersion = '' } = options
  if (resourceVersion === '') resourceVersion = yield* listed(client, type, options)
  for (let failures = 0; ; ) {
    try {
      for await (const event of watch(client, type, { ...options, signal, resourceVersion, bookmarks: true })) {
        failures = 0
        resourceVersion = versionOf(event)
        if (event.type !== 'BOOKMARK' || bookmarks) yield event
      }
    } catch (error) {
      if (signal.aborted || isFinal(error)) throw error
      onError(error)
      failures++
    }
    // Pause even if the server ended the watch properly, because the server may end every watch immediately.
    await pause(backoffMs(backoff, Math.max(failures, 1)), signal)
    signal.throwIfAborted()
  }
}

async function* listed<T extends ObjectBase = ApiObject>(
  client: Source,
  type: ResourceType<T>,
  { namespace, labelSelector, fieldSelector, signal }: FollowOptions,
): AsyncGenerator<WatchEvent<T>, string> {
  const selection = { ...(namespace !== undefined && { namespace }), ...(labelSelector && { labelSelector }) }
  const options = { ...selection, ...(fieldSelector && { fieldSelector }), signal, limit: 0 }
  let version = ''
  for await (const { items, resourceVersion } of client.pages(type, options)) {
    for (const object of items) yield { type: 'ADDED', object }
    version = resourceVersion
  }
  return version
}

function versionOf(event: WatchEvent<ObjectBase>): string {
  return event.type === 'BOOKMARK' ? event.resourceVersion : (event.object.metadata.resourceVersion ?? '')
}

/** Whether repeating the request would only cause the same error again. */
function isFinal(error: unknown): boolean {
  return error instanceof StatusError && error.code < 500 && error.code !== 429
}

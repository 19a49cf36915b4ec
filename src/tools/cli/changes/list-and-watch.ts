/**
 * Lists objects and then reports every change until the user stops the command: `get -w`, `events -w`. If a watch ends,
 * for example because the server restarted, a new watch continues from the last version. If that version has expired,
 * the command prints a note and the current state.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import { pause } from '../../../base/concurrency/abort.ts'
import { backoffMs } from '../../../base/concurrency/backoff.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Client } from '../../../client/requests/client.ts'
import type { ResourceType, Selection } from '../../../client/requests/resource-type.ts'
import { isExpired } from '../../../client/requests/status-error.ts'
import { type WatchEvent, watch } from '../../../client/requests/watch.ts'
import { escapeLine } from '../printers/escape.ts'
import type { Context } from '../program/command.ts'
import { isPassing } from './wait-for.ts'

/** Lists and watches the objects of a command such as `get -w`. */
export interface Feed {
  /** Lists the objects and, unless `silent`, prints them. Returns the resourceVersion of the list. */
  readonly list: (silent: boolean) => Promise<string>
  /** Watches from a resourceVersion and prints every change. Calls `reached` with each new resourceVersion. */
  readonly watch: (version: string, reached: (version: string) => void) => Promise<void>
}

const backoff = { firstMs: 200, longestMs: 5_000 }

export async function follow(context: Context, feed: Feed, { watchOnly = false } = {}): Promise<void> {
  let version = await feed.list(watchOnly)
  for (let failures = 0; ; ) {
    try {
      if (version === '') version = await feed.list(false)
      await feed.watch(version, (reached) => {
        version = reached
        failures = 0
      })
    } catch (error) {
      context.signal.throwIfAborted()
      if (!isPassing(error)) throw error
      if (isExpired(error)) version = ''
      if (failures++ === 0) context.err(isExpired(error) ? expiredNote : lostNote(error))
    }
    await pause(failures === 0 ? 0 : backoffMs(backoff, failures), context.signal)
    context.signal.throwIfAborted()
  }
}

const expiredNote = 'orchctl: the changes in between have expired; the current state is:\n'

function lostNote(error: unknown): string {
  return `orchctl: the watch was interrupted (${escapeLine(messageOf(error))}); it resumes when the server is back\n`
}

type Change = Exclude<WatchEvent<ApiObject>, { type: 'BOOKMARK' }>

/** Returns a watch function that calls `show` with every change. */
export function changesOf(
  client: Client,
  type: ResourceType,
  how: { selection: Selection & { signal: AbortSignal }; show: (change: Change) => void | Promise<void> },
): Feed['watch'] {
  return async (resourceVersion, reached) => {
    for await (const event of watch(client, type, { ...how.selection, resourceVersion, bookmarks: true })) {
      if (event.type !== 'BOOKMARK') await how.show(event)
      const eventRevision = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion
      if (eventRevision !== undefined) reached(eventRevision)
    }
  }
}

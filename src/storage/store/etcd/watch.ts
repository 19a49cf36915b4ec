/**
 * Reads the changes under the prefix that etcd reports after a revision: whole revisions, in order, with previous
 * values. The change stream watches indefinitely. Other readers of the log stop when they have reached the tail.
 */
import { type Batch, type Revision, RevisionGone, StoreError, StoreRestored } from '../store.ts'
import type { Connection } from './connection.ts'
import { isCompacted, readFailure } from './failure.ts'
import type { KeySpace } from './key-space.ts'
import { decodeWatch, type EtcdEvent, encodeRange, encodeWatch, methods } from './messages.ts'

export interface WatchFrom {
  readonly after: Revision
  readonly signal: AbortSignal
}

/**
 * A batch of changes, and the last event that etcd reported with the batch. That event may be about a note instead of a
 * key.
 */
export interface ToldBatch extends Batch {
  readonly last: EtcdEvent
}

/**
 * Watches the prefix. Throws RevisionGone if etcd no longer has the changes after `after`, and StoreError if the stream
 * breaks. Otherwise runs until the signal aborts.
 */
export async function* watchFrom(connection: Connection, space: KeySpace, from: WatchFrom): AsyncGenerator<ToldBatch> {
  for await (const events of eventsFrom(connection, space, from)) yield toBatch(space, events)
}

/** Watches like `watchFrom`, but yields etcd's own events, including events of notes, as complete revisions. */
export async function* eventsFrom(
  connection: Connection,
  space: KeySpace,
  { after, signal }: WatchFrom,
): AsyncGenerator<readonly EtcdEvent[]> {
  if (space.etcdRevision(after) < 1) throw new RevisionGone(after, space.revision(1))
  const request = encodeWatch({ ...space.everything(), start: space.etcdRevision(after) + 1 })
  let first = true
  let pendingEvents: EtcdEvent[] = []
  try {
    for await (const message of connection.stream(methods.watch, request, signal)) {
      const response = decodeWatch(message)
      if (response.compactRevision > 0) throw new RevisionGone(after, space.revision(response.compactRevision))
      if (response.canceled) throw new StoreError(`etcd canceled the watch: ${response.reason}`)
      const events = pendingEvents.concat(response.events)
      const whole = response.fragment ? wholeRevisions(events) : events.length
      pendingEvents = events.slice(whole)
      if (whole === 0) continue
      if (first) await assertKept(connection, space, after)
      first = false
      yield sound(space, events.slice(0, whole))
    }
  } catch (error) {
    throw readFailure(error)
  }
}

/**
 * Checks that the watch has missed no event. etcd accepts a watch that starts at the compacted revision, although a
 * deletion at that revision has been lost. If the revision before the start can still be read after the first events
 * arrive, nothing was missed.
 */
async function assertKept(connection: Connection, space: KeySpace, after: Revision): Promise<void> {
  const request = encodeRange({ key: space.note('tick'), countOnly: true, revision: space.etcdRevision(after) })
  try {
    await connection.call(methods.range, request, { effect: 'read' })
  } catch (error) {
    throw isCompacted(error) ? new RevisionGone(after, after + 1) : error
  }
}

// Returns the number of events that belong to complete revisions. The next fragment may contain more events of the last
// revision, and a reader must never receive only part of a revision.
function wholeRevisions(events: readonly EtcdEvent[]): number {
  const last = events.at(-1)?.entry.modRevision
  return events.findIndex((event) => event.entry.modRevision === last)
}

function sound(space: KeySpace, events: readonly EtcdEvent[]): readonly EtcdEvent[] {
  const through = space.revision(events.at(-1)!.entry.modRevision)
  for (const event of events) assertPrevious(space, event, through)
  for (const event of events) if (space.isOffset(event.entry)) throw restored(through)
  return events
}

function toBatch(space: KeySpace, events: readonly EtcdEvent[]): ToldBatch {
  const last = events.at(-1)!
  const through = space.revision(last.entry.modRevision)
  const changes = events.filter((event) => !space.isNote(event.entry)).map((event) => space.change(event))
  return { changes, through, last }
}

/**
 * Returns the error that reports that etcd has gone back in time. Either this server has detected this, or another
 * server has detected it and raised the offset. All data returned up to `revision` is invalid.
 */
export function restored(revision: Revision): StoreRestored {
  return new StoreRestored(
    revision,
    revision + 1,
    "etcd's revision went back, as after a restore from a backup: reloading all objects",
  )
}

// Throws an error if an event lacks its previous value. etcd silently omits a previous value if it has been compacted
// before the event is sent.
function assertPrevious(space: KeySpace, { deleted, entry, previous }: EtcdEvent, through: Revision): void {
  const had = deleted || entry.createRevision !== entry.modRevision
  if (had && previous === undefined) throw new RevisionGone(space.revision(entry.modRevision - 1), through)
}

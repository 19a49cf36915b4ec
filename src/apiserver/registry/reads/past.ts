/** The past of stored objects, from the journal of the store: changes of one with what they changed, and states. */

import type { Json, JsonObject } from '../../../api/json/json.ts'
import { type JsonChange, jsonChanges } from '../../../api/json/json-changes.ts'
import { ApiError, expired } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, copyWithout } from '../../../api/model/object.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import {
  type Entry,
  type Journal,
  type ListRange,
  type Past,
  type Revision,
  RevisionAhead,
  RevisionGone,
  type Snapshot,
} from '../../../storage/store/store.ts'
import { keyOf, type Resource } from '../catalogue/resource.ts'
import { type ChangeNote, readChangeNote } from '../writes/change-note.ts'
import { readObject, readStored } from './read-stored.ts'
import { tooLarge } from './versions.ts'

/** A change of an object. */
export interface PastChange {
  readonly revision: Revision
  /** When it was made, in milliseconds; undefined where it is older than the journal. */
  readonly time: number | undefined
  readonly note: ChangeNote | undefined
  readonly deleted: boolean
  /** What it made of the object; undefined: it was deleted, or its values are not kept. */
  readonly object: ApiObject | undefined
  /** Undefined where the state before, or that after, is not known. */
  readonly changes: readonly JsonChange[] | undefined
}

/** Where a server keeps no history. */
export function journalOf({ store }: Resource): Journal {
  if (store.journal !== undefined) return store.journal
  throw new ApiError(
    501,
    'NotImplemented',
    'this server keeps no history: it takes --history-retention, such as 24h,256Mi',
  )
}

/** Changes of an object, newest first. */
export interface PastPage {
  readonly changes: readonly PastChange[]
  /** Whether there are older ones. */
  readonly more: boolean
}

interface ObjectPlace {
  readonly namespace: string
  readonly name: string
}

/** A page ends here even if it is not full. */
const maxPageBytes = 8 * 1024 * 1024

/** Changes of an object before a revision and, where `after` is given, after another one. */
export async function pastChanges(
  resource: Resource,
  place: ObjectPlace,
  { before, after = 0, limit }: { readonly before: Revision; readonly after?: Revision; readonly limit: number },
): Promise<PastPage> {
  const changes: PastChange[] = []
  const pace = new TimeSlice()
  let newer: Seen | undefined
  let bytes = 0
  for await (const past of readPast(resource, place, before)) {
    const seen = seenIn(resource, place, past)
    if (newer !== undefined) changes.push(changeOf(newer, seen))
    newer = undefined
    if (past.revision <= after) break
    if (changes.length === limit || (changes.length > 0 && bytes >= maxPageBytes)) return { changes, more: true }
    newer = seen
    bytes += past.value?.length ?? 0
    await pace.yieldIfDue()
  }
  if (newer !== undefined) changes.push(changeOf(newer, undefined))
  return { changes, more: false }
}

/** The revision of the last deletion under a name: what is older was another object. 0: none is known. */
export async function lastDeletion(resource: Resource, place: ObjectPlace): Promise<Revision> {
  for await (const { revision, deleted } of readPast(resource, place, Number.MAX_SAFE_INTEGER))
    if (deleted) return revision
  return 0
}

const changesAtATime = 100

async function* readPast(
  resource: Resource,
  { namespace, name }: ObjectPlace,
  before: Revision,
): AsyncGenerator<Past, void> {
  const journal = journalOf(resource)
  const key = keyOf(resource, namespace, name)
  for (let last = before; ; ) {
    const found = await journal.changes(key, last, changesAtATime)
    if (found.length === 0) return
    yield* found
    last = found.at(-1)!.revision
  }
}

/** A change with what it made of the object. */
interface Seen {
  readonly revision: Revision
  readonly deleted: boolean
  readonly time: number | undefined
  readonly note: ChangeNote | undefined
  readonly object: ApiObject | undefined
}

function seenIn(resource: Resource, { namespace, name }: ObjectPlace, past: Past): Seen {
  const { revision, deleted, note, value } = past
  const key = keyOf(resource, namespace, name)
  return {
    ...{ revision, deleted, time: note?.time },
    note: note && readChangeNote(note),
    object: value && objectOf(resource, { key, revision, value }),
  }
}

function changeOf(seen: Seen, before: Seen | undefined): PastChange {
  return { ...seen, changes: changesBetween(seen, before) }
}

function changesBetween(after: Seen, before: Seen | undefined): readonly JsonChange[] | undefined {
  if (after.deleted) return []
  const isNew = before === undefined ? after.note?.created === true : before.deleted
  if (after.object === undefined || (!isNew && before?.object === undefined)) return undefined
  return jsonChanges(isNew ? {} : comparable(before!.object!), comparable(after.object))
}

/** Without what every write changes by itself. */
function comparable(object: ApiObject): JsonObject {
  const {
    resourceVersion: _,
    generation: __,
    ...metadata
  } = copyWithout(object.metadata, 'managedFields') as JsonObject
  return { ...asJson(object), metadata: metadata as Json } as JsonObject
}

export interface PastRange {
  readonly namespace: string
  /** '' for all. */
  readonly name: string
  readonly revision: Revision
  readonly limit: number
  /** A key. */
  readonly after: string | undefined
}

/** Objects as they were at a revision, as many as fit a page. */
export async function pastObjects(
  resource: Resource,
  { namespace, name, revision, limit, after }: PastRange,
): Promise<{ items: ApiObject[]; next: string | undefined }> {
  const prefix = `${resource.cache.prefix}${namespace === '' ? '' : `${namespace}/`}${name}`
  if (name !== '') return { items: await onlyObject(resource, prefix, revision), next: undefined }
  const items: ApiObject[] = []
  const pace = new TimeSlice()
  let last = after
  for (let [bytes, more] = [0, true]; more; ) {
    if (items.length >= limit || bytes >= maxPageBytes) return { items, next: last }
    const size = Math.min(objectsAtATime, limit - items.length)
    const page = await listPast(resource, { prefix, revision, limit: size, ...(last && { after: last }) })
    for (const entry of page.entries) {
      items.push(...keptObject(resource, entry))
      bytes += entry.value.length
      await pace.yieldIfDue()
    }
    last = page.entries.at(-1)?.key
    more = page.remaining > 0 && last !== undefined
  }
  return { items, next: undefined }
}

const objectsAtATime = 50

/** Its key sorts first of all that begin with it. */
async function onlyObject(resource: Resource, key: string, revision: Revision): Promise<ApiObject[]> {
  const { entries } = await listPast(resource, { prefix: key, revision, limit: 1 })
  return entries.filter((entry) => entry.key === key).flatMap((entry) => keptObject(resource, entry))
}

async function listPast(resource: Resource, range: ListRange & { readonly revision: Revision }): Promise<Snapshot> {
  try {
    return await journalOf(resource).list({ ...range, count: false })
  } catch (error) {
    if (error instanceof RevisionGone) throw gone(range.revision, error.oldest)
    throw error instanceof RevisionAhead ? tooLarge(range.revision, error.current) : error
  }
}

/** Throws 410 where the value was not kept; nothing for what is damaged. */
function keptObject(resource: Resource, entry: Entry): ApiObject[] {
  if (entry.value.length === 0)
    throw expired(`the values of ${resource.plural} at that revision were not kept (--history-secret-values)`)
  return [objectOf(resource, entry) ?? []].flat()
}

/** 410: the state is not known any more. */
export function gone(revision: Revision | string, oldest: Revision): ApiError {
  return expired(`the state at ${revision} is not known any more: the history begins at revision ${oldest}`)
}

/** Undefined where it cannot be read. */
function objectOf({ kind, cache }: Resource, { key, revision, value }: Entry): ApiObject | undefined {
  const found = cache.readIfSound(key, revision, value)
  if (found === undefined) return undefined
  return kind.evolution?.remote ? readObject(found.json) : readStored(kind, found)
}

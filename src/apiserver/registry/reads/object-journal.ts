/**
 * Reads the history of objects from the store's journal: past states, and changes with the fields that they affected.
 */

import type { Json, JsonObject } from '../../../api/json/json.ts'
import { type JsonChange, jsonChanges } from '../../../api/json/json-changes.ts'
import { ApiError, expired } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, copyWithout } from '../../../api/model/object.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import {
  type Entry,
  type Journal,
  type JournalChange,
  type ListRange,
  type Revision,
  RevisionAhead,
  RevisionGone,
  type Snapshot,
} from '../../../storage/store/store.ts'
import { keyOf, type Resource } from '../catalogue/resource.ts'
import { type ChangeNote, readChangeNote } from '../writes/change-note.ts'
import { readObject, readStored } from './read-stored.ts'
import { tooLarge } from './versions.ts'

/** A past change to an object, with its author and result. */
export interface JournaledChange {
  readonly revision: Revision
  /** Time of the change in milliseconds since 1970. Undefined if the change is older than the journal. */
  readonly time: number | undefined
  readonly note: ChangeNote | undefined
  readonly deleted: boolean
  /** The object after the change. Undefined for a deletion, or if the journal does not contain the values. */
  readonly object: ApiObject | undefined
  /** The changed fields. Undefined if the state before or after the change is unknown. */
  readonly changes: readonly JsonChange[] | undefined
}

/** Returns the journal of the store. Throws 501 if the server does not record history. */
export function journalOf({ store }: Resource): Journal {
  if (store.journal !== undefined) return store.journal
  throw new ApiError(
    501,
    'NotImplemented',
    'this server keeps no history: start it with --history-retention, such as 24h,256Mi',
  )
}

/** A page of an object's change history, newest first. */
export interface JournalPage {
  readonly changes: readonly JournaledChange[]
  /** Whether there are older changes to the object. */
  readonly more: boolean
}

interface ObjectKey {
  readonly namespace: string
  readonly name: string
}

/** Maximum size of a page in bytes. A page ends when it reaches this size. */
const maxPageBytes = 8 * 1024 * 1024

/**
 * Returns the changes to an object before a revision. If `after` is set, returns only the changes after that revision.
 */
export async function readObjectChanges(
  resource: Resource,
  objectKey: ObjectKey,
  { before, after = 0, limit }: { readonly before: Revision; readonly after?: Revision; readonly limit: number },
): Promise<JournalPage> {
  const changes: JournaledChange[] = []
  const timeSlice = new TimeSlice()
  let newer: ObjectState | undefined
  let bytes = 0
  for await (const change of readJournal(resource, objectKey, before)) {
    const state = stateAfter(resource, objectKey, change)
    if (newer !== undefined) changes.push(changeOf(newer, state))
    newer = undefined
    if (change.revision <= after) break
    if (changes.length === limit || (changes.length > 0 && bytes >= maxPageBytes)) return { changes, more: true }
    newer = state
    bytes += change.value?.length ?? 0
    await timeSlice.yieldIfDue()
  }
  if (newer !== undefined) changes.push(changeOf(newer, undefined))
  return { changes, more: false }
}

/**
 * Returns the revision of the last known deletion of an object with the given name, or 0 if there is none. Earlier
 * changes belong to another object with that name.
 */
export async function lastDeletion(resource: Resource, objectKey: ObjectKey): Promise<Revision> {
  for await (const { revision, deleted } of readJournal(resource, objectKey, Number.MAX_SAFE_INTEGER))
    if (deleted) return revision
  return 0
}

const changesAtATime = 100

async function* readJournal(
  resource: Resource,
  { namespace, name }: ObjectKey,
  before: Revision,
): AsyncGenerator<JournalChange, void> {
  const journal = journalOf(resource)
  const key = keyOf(resource, namespace, name)
  for (let last = before; ; ) {
    const changes = await journal.changes(key, last, changesAtATime)
    if (changes.length === 0) return
    yield* changes
    last = changes.at(-1)!.revision
  }
}

/** One past change with the state of the object after it. */
interface ObjectState {
  readonly revision: Revision
  readonly deleted: boolean
  readonly time: number | undefined
  readonly note: ChangeNote | undefined
  readonly object: ApiObject | undefined
}

function stateAfter(resource: Resource, { namespace, name }: ObjectKey, change: JournalChange): ObjectState {
  const { revision, deleted, note, value } = change
  const key = keyOf(resource, namespace, name)
  return {
    revision,
    deleted,
    time: note?.time,
    note: note && readChangeNote(note),
    object: value && objectOf(resource, { key, revision, value }),
  }
}

function changeOf(state: ObjectState, before: ObjectState | undefined): JournaledChange {
  return { ...state, changes: changesBetween(state, before) }
}

function changesBetween(after: ObjectState, before: ObjectState | undefined): readonly JsonChange[] | undefined {
  if (after.deleted) return []
  const isNew = before === undefined ? after.note?.created === true : before.deleted
  if (after.object === undefined || (!isNew && before?.object === undefined)) return undefined
  return jsonChanges(isNew ? {} : comparable(before!.object!), comparable(after.object))
}

/** Returns a copy of an object without the fields that every write changes. */
function comparable(object: ApiObject): JsonObject {
  const {
    resourceVersion: _,
    generation: __,
    ...metadata
  } = copyWithout(object.metadata, 'managedFields') as JsonObject
  return { ...asJson(object), metadata: metadata as Json } as JsonObject
}

export interface OldStateRange {
  readonly namespace: string
  /** The name of the object, or '' for all objects. */
  readonly name: string
  readonly revision: Revision
  readonly limit: number
  /** Key after which the page starts. Undefined for the first page. */
  readonly after: string | undefined
}

/** Returns one page of the objects that existed at a revision. */
export async function readObjectsAt(
  resource: Resource,
  { namespace, name, revision, limit, after }: OldStateRange,
): Promise<{ items: ApiObject[]; next: string | undefined }> {
  const prefix = `${resource.cache.prefix}${namespace === '' ? '' : `${namespace}/`}${name}`
  if (name !== '') return { items: await onlyObject(resource, prefix, revision), next: undefined }
  const items: ApiObject[] = []
  const timeSlice = new TimeSlice()
  let last = after
  for (let [bytes, more] = [0, true]; more; ) {
    if (items.length >= limit || bytes >= maxPageBytes) return { items, next: last }
    const size = Math.min(objectsAtATime, limit - items.length)
    const page = await listAt(resource, { prefix, revision, limit: size, ...(last && { after: last }) })
    for (const entry of page.entries) {
      items.push(...readableObject(resource, entry))
      bytes += entry.value.length
      await timeSlice.yieldIfDue()
    }
    last = page.entries.at(-1)?.key
    more = page.remaining > 0 && last !== undefined
  }
  return { items, next: undefined }
}

const objectsAtATime = 50

/**
 * Returns a list with the object under exactly this key, or an empty list. The store can list keys only by prefix, but
 * the key itself sorts before all longer keys.
 */
async function onlyObject(resource: Resource, key: string, revision: Revision): Promise<ApiObject[]> {
  const { entries } = await listAt(resource, { prefix: key, revision, limit: 1 })
  return entries.filter((entry) => entry.key === key).flatMap((entry) => readableObject(resource, entry))
}

async function listAt(resource: Resource, range: ListRange & { readonly revision: Revision }): Promise<Snapshot> {
  try {
    return await journalOf(resource).list({ ...range, count: false })
  } catch (error) {
    if (error instanceof RevisionGone) throw journalExpired(range.revision, error.oldest)
    throw error instanceof RevisionAhead ? tooLarge(range.revision, error.current) : error
  }
}

/**
 * Returns the object of a journal entry, or undefined if the object is damaged. Throws 410 if the journal does not
 * contain the value.
 */
function readableObject(resource: Resource, entry: Entry): ApiObject[] {
  if (entry.value.length === 0)
    throw expired(
      `the values of ${resource.plural} at that revision were not recorded: this requires --history-secret-values`,
    )
  return [objectOf(resource, entry) ?? []].flat()
}

/** Returns the 410 error for a state that the journal no longer contains. */
export function journalExpired(revision: Revision | string, oldest: Revision): ApiError {
  return expired(`the state at ${revision} has expired: the history begins at revision ${oldest}`)
}

/** Decodes the object in a journal entry. Returns undefined if the object is unreadable. */
function objectOf({ kind, cache }: Resource, { key, revision, value }: Entry): ApiObject | undefined {
  const cachedEntry = cache.readIfSound(key, revision, value)
  if (cachedEntry === undefined) return undefined
  return kind.evolution?.remote ? readObject(cachedEntry.json) : readStored(kind, cachedEntry)
}

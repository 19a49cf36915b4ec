/**
 * Defines the note that a write stores in the journal: user, field manager and verb. For kinds with secret values, the
 * note also lists the changed fields. Notes are short, because every write has one.
 */

import { isObject, type JsonObject, own, sameJson } from '../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import type { User } from '../../../api/model/user.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { shorten } from '../../../base/text/shorten.ts'
import { maxNoteBytes, type Note } from '../../../storage/store/store.ts'
import type { Resource } from '../catalogue/resource.ts'

/** The author and verb of a change. */
export interface ChangeNote {
  readonly user: string
  readonly verb: string
  readonly manager: string
  readonly subresource: string
  /** Whether the change created the object, regardless of the verb. */
  readonly created: boolean
  /** The paths of the changed fields. Undefined unless the object has secret values. */
  readonly places: readonly string[] | undefined
}

const maxText = 400
const maxPlacesText = 2500

/** The parts of a write that its change note records. */
interface Writing {
  readonly resource: Resource
  readonly user: User
  readonly verb?: string | undefined
  readonly fieldManager: string
  readonly subresource: string
}

/** Returns the note for a write. Undefined if the store has no journal. */
export function changeNote(
  { resource, user, verb, fieldManager, subresource }: Writing,
  previous: ApiObject | undefined,
  next: ApiObject | undefined,
): Note | undefined {
  if (resource.store.journal === undefined) return undefined
  const created = previous === undefined
  const newNote: ChangeNote = {
    user: user.name,
    verb: verb ?? (created ? 'create' : 'update'),
    manager: fieldManager,
    subresource,
    created,
    places: secretPlaces(resource.kind, previous, next),
  }
  return { time: resource.clock.now(), text: noteText(newNote) }
}

/** The last note, which is cached because consecutive writes often have the same author. */
let latest: { readonly newNote: ChangeNote; readonly text: Buffer } | undefined

function noteText(newNote: ChangeNote): Buffer {
  if (latest !== undefined && isSame(newNote, latest.newNote)) return latest.text
  const text = writeNote(newNote)
  latest = { newNote, text }
  return text
}

/** Returns whether two notes are equal. Notes with paths never count as equal, because paths usually differ. */
function isSame(a: ChangeNote, b: ChangeNote): boolean {
  return (
    a.places === undefined &&
    b.places === undefined &&
    a.user === b.user &&
    a.verb === b.verb &&
    a.manager === b.manager &&
    a.subresource === b.subresource &&
    a.created === b.created
  )
}

function writeNote({ user, verb, manager, subresource, created, places }: ChangeNote): Buffer {
  const note: JsonObject = { u: shorten(user, maxText), v: verb }
  if (created) note.c = 1
  if (manager !== '') note.m = manager
  if (subresource !== '') note.s = subresource
  if (places !== undefined) note.p = [...places]
  const text = Buffer.from(JSON.stringify(note))
  return text.length <= maxNoteBytes ? text : Buffer.from('{}')
}

/** Parses a note. Returns undefined for a note without text, which the store itself writes. */
export function readChangeNote({ text }: Note): ChangeNote | undefined {
  if (text.length === 0) return undefined
  const { u, v, m, s, c, p } = JSON.parse(Buffer.from(text).toString()) as JsonObject
  const word = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    user: word(u),
    verb: word(v),
    manager: word(m),
    subresource: word(s),
    created: c === 1,
    places: Array.isArray(p) ? p.map(word) : undefined,
  }
}

function secretPlaces(
  { lifecycle }: Kind,
  previous: ApiObject | undefined,
  next: ApiObject | undefined,
): string[] | undefined {
  if (lifecycle.secretFields === undefined) return undefined
  const places = lifecycle.secretFields.flatMap((field) =>
    changedKeys(membersOf(previous, field), membersOf(next, field)).map((key) => `${field}.${key}`),
  )
  let room = maxPlacesText
  const end = places.findIndex((place) => {
    room -= place.length + 3
    return room < 0
  })
  return end === -1 ? places : places.slice(0, end)
}

function membersOf(object: ApiObject | undefined, field: string): JsonObject {
  const value = object && own(asJson(object), field)
  return isObject(value) ? value : {}
}

function changedKeys(before: JsonObject, after: JsonObject): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].filter((key) => !sameJson(own(before, key), own(after, key)))
}

/**
 * What a write leaves in the journal of the store: the user, the manager, the verb, and of kinds whose values are secret
 * which of them changed. Short, since every write carries one.
 */

import { isObject, type JsonObject, own, sameJson } from '../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import type { User } from '../../../api/model/user.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { shorten } from '../../../base/text/shorten.ts'
import { maxNoteBytes, type Note } from '../../../storage/store/store.ts'
import type { Resource } from '../catalogue/resource.ts'

/** Who made a change, and how. */
export interface ChangeNote {
  readonly user: string
  readonly verb: string
  readonly manager: string
  readonly subresource: string
  /** Whether the change created the object, whatever its verb. */
  readonly created: boolean
  /** Of an object whose values are secret: the places that changed. */
  readonly places: readonly string[] | undefined
}

const maxText = 400
const maxPlacesText = 2500

/** What a note is made of. */
interface Writing {
  readonly resource: Resource
  readonly user: User
  readonly verb?: string | undefined
  readonly fieldManager: string
  readonly subresource: string
}

/** Undefined where the store keeps no journal. */
export function changeNote(
  { resource, user, verb, fieldManager, subresource }: Writing,
  previous: ApiObject | undefined,
  next: ApiObject | undefined,
): Note | undefined {
  if (resource.store.journal === undefined) return undefined
  const created = previous === undefined
  const said: ChangeNote = {
    user: user.name,
    verb: verb ?? (created ? 'create' : 'update'),
    manager: fieldManager,
    subresource,
    created,
    places: secretPlaces(resource.kind, previous, next),
  }
  return { time: resource.clock.now(), text: noteText(said) }
}

/** Clients write one object after the other: most notes say what the one before them said. */
let latest: { readonly said: ChangeNote; readonly text: Buffer } | undefined

function noteText(said: ChangeNote): Buffer {
  if (latest !== undefined && isSame(said, latest.said)) return latest.text
  const text = writeNote(said)
  latest = { said, text }
  return text
}

/** Those with places differ each time, as a rule. */
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

/** What a note says; undefined where it says no more than a time, as those of the store itself. */
export function readChangeNote({ text }: Note): ChangeNote | undefined {
  if (text.length === 0) return undefined
  const { u, v, m, s, c, p } = JSON.parse(Buffer.from(text).toString()) as JsonObject
  const word = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    ...{ user: word(u), verb: word(v), manager: word(m), subresource: word(s) },
    created: c === 1,
    places: Array.isArray(p) ? p.map(word) : undefined,
  }
}

function secretPlaces(
  { life }: Kind,
  previous: ApiObject | undefined,
  next: ApiObject | undefined,
): string[] | undefined {
  if (life.secretFields === undefined) return undefined
  const places = life.secretFields.flatMap((field) =>
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

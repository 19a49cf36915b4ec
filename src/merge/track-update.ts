/**
 * Ownership after a write that is not an apply: who changed what is read off the difference between the two objects.
 *
 * The writer takes every field that it added or modified, from whoever had it; removed fields are nobody's. Fields
 * that a client cannot decide (names, versions, what the kind keeps read-only) are never owned.
 */
import { type ApiObject, asJson, type ManagedFieldsEntry } from '../model/object.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { compare } from './compare.ts'
import { difference, differenceBelow, emptySet, type FieldSet, isEmpty, setOf, union } from './field-set.ts'
import { type Manager, readManagers, sameManager, writeManagers } from './managed-fields.ts'

export interface Writer {
  readonly name: string
  readonly apiVersion: string
  readonly subresource: string
  /** Now, in the form of `managedFields[].time`. */
  readonly time: string
}

export interface UpdateToTrack {
  readonly schema: ObjectSchema
  /** What is stored; on create the kind's empty object. */
  readonly before: ApiObject
  readonly after: ApiObject
  readonly writer: Writer
  /** Top-level fields that this way of writing cannot set. */
  readonly readOnly: readonly string[]
  readonly create: boolean
}

/** How many Update entries are kept; older ones are folded into one. */
const maxUpdaters = 10
const ancient = 'ancient-changes'

const neverOwned: FieldSet = setOf(
  ['f:apiVersion'],
  ['f:kind'],
  ...[
    'name',
    'namespace',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'creationTimestamp',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
)

/** The managedFields of `after`; undefined when the object is not tracked. */
export function trackUpdate(update: UpdateToTrack): ManagedFieldsEntry[] | undefined {
  const managers = currentManagers(update)
  if (managers.length === 0 && !update.create) return undefined
  const changes = compare(update.schema, withoutManagers(update.before), withoutManagers(update.after))
  const taken = ownable(union(changes.added, changes.modified), update.readOnly)
  const lost = union(taken, changes.removed)
  const others = managers.map((manager) => ({ ...manager, fields: difference(manager.fields, lost) }))
  return writeManagers(foldOldest(isEmpty(taken) ? others : withTaken(others, managers, update.writer, taken)))
}

/** A client that sends managedFields it can read back replaces them; one that sends none keeps what is stored. */
function currentManagers({ before, after, writer }: UpdateToTrack): Manager[] {
  const sent = writer.subresource === '' ? after.metadata.managedFields : undefined
  if (isReset(sent)) return []
  const read = sent && sent.length > 0 ? readManagers(sent) : undefined
  return read !== undefined && read.length > 0 ? read : (readManagers(before.metadata.managedFields) ?? [])
}

/** A list with one empty entry asks for all entries to be dropped. */
function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  return entries?.length === 1 && Object.keys(entries[0]!).length === 0
}

function withTaken(others: readonly Manager[], before: readonly Manager[], writer: Writer, taken: FieldSet): Manager[] {
  const self = { ...writer, operation: 'Update' as const }
  const index = before.findIndex((manager) => sameManager(manager, self))
  const kept = index < 0 ? emptySet : others[index]!.fields
  const own: Manager = { ...self, fields: union(kept, taken) }
  return [...others.filter((_, i) => i !== index), own]
}

function ownable(fields: FieldSet, readOnly: readonly string[]): FieldSet {
  return differenceBelow(differenceBelow(fields, neverOwned), setOf(...readOnly.map((name) => [`f:${name}`])))
}

function withoutManagers(object: ApiObject) {
  const { managedFields: _, ...metadata } = object.metadata
  return asJson({ ...object, metadata })
}

/** Beyond ten updaters the oldest become one entry per version, so that the list stays bounded. */
function foldOldest(managers: Manager[]): Manager[] {
  const updaters = managers.filter((manager) => manager.operation === 'Update' && !isEmpty(manager.fields))
  if (updaters.length <= maxUpdaters) return managers
  const byAge = updaters.toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1))
  const folded = byAge.slice(0, updaters.length - maxUpdaters + 1)
  const rest = managers.filter((manager) => !folded.includes(manager))
  return [...rest, ...foldByVersion(folded)]
}

function foldByVersion(managers: readonly Manager[]): Manager[] {
  const byVersion = Map.groupBy(managers, (manager) => manager.apiVersion)
  return [...byVersion.values()].map((group) => ({
    ...group.at(-1)!,
    name: ancient,
    subresource: '',
    fields: group.reduce((fields, manager) => union(fields, manager.fields), emptySet),
  }))
}

/**
 * Ownership after a write that is not an apply: who changed what is read off the difference between the two objects.
 *
 * The writer takes every field that it added or modified, from whoever had it; removed fields are nobody's. An object
 * without managers is not tracked, until its first apply. A client may edit the managers: what it sends replaces them
 * if it can be read and is not empty; a list with one empty entry drops them all (spec: apply, rule 6), after which
 * the writer owns what it changed in the same write.
 */
import type { ApiObject, ManagedFieldsEntry } from '../model/object.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { type Comparison, changedBy, compare, isUnchanged } from './compare.ts'
import { difference, isEmpty, sameSet, union } from './field-set.ts'
import { foldUpdaters } from './fold-updaters.ts'
import {
  type Manager,
  readManagers,
  sameManager,
  storedManagers,
  type Writer,
  withFields,
  writeManagers,
} from './managed-fields.ts'
import { ownable, withoutManagers, writableChanges } from './ownable.ts'
import { reconcileManagers } from './reconcile.ts'

export interface UpdateToTrack {
  readonly schema: ObjectSchema
  /** What is stored; on create the kind's empty object. */
  readonly before: ApiObject
  readonly after: ApiObject
  readonly writer: Writer
  /** Fields, by path, that this way of writing cannot set. */
  readonly readOnly: readonly string[]
  readonly create: boolean
}

/** The managedFields of `after`; undefined when the object is not tracked. */
export function trackUpdate(update: UpdateToTrack): ManagedFieldsEntry[] | undefined {
  const { schema, before, after, writer, readOnly } = update
  const managers = currentManagers(update)
  if (managers === undefined) return undefined
  const changes = compare(schema, withoutManagers(before), withoutManagers(after))
  const known = reconcileManagers(schema, managers)
  return writeManagers(foldUpdaters(takeChanges(known, writableChanges(changes, readOnly), writer)))
}

/** Whom the write finds; undefined when the object is not tracked. */
function currentManagers({ before, after, writer, create }: UpdateToTrack): Manager[] | undefined {
  if (create) return []
  const sent = writer.subresource === '' ? after.metadata.managedFields : undefined
  if (isReset(sent)) return []
  const managers = readSent(sent) ?? storedManagers(before)
  return managers.length > 0 ? managers : undefined
}

/** A client that sends managers it cannot mean, or none, keeps those that are stored. */
function readSent(sent: readonly ManagedFieldsEntry[] | undefined): Manager[] | undefined {
  const managers = readManagers(sent)
  return managers !== undefined && managers.length > 0 ? managers : undefined
}

/** A list with one empty entry asks for all entries to be dropped. */
function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  return entries?.length === 1 && Object.keys(entries[0]!).length === 0
}

/** The managers after a writer made these changes. Its time changes only when what it owns does. */
export function takeChanges(managers: readonly Manager[], changes: Comparison, writer: Writer): Manager[] {
  if (isUnchanged(changes)) return [...managers]
  const changed = changedBy(changes)
  const lost = union(changed, changes.removed)
  const left = managers.map((manager) => withFields(manager, difference(manager.fields, lost)))
  const taken = ownable(changed)
  if (isEmpty(taken)) return left
  const index = managers.findIndex((manager) => sameManager(manager, { ...writer, operation: 'Update' }))
  if (index < 0) return [...left, claim(undefined, writer, taken)]
  const own = claim(managers[index], writer, union(left[index]!.fields, taken))
  return [...left.filter((_, i) => i !== index), own]
}

function claim(former: Manager | undefined, writer: Writer, fields: Manager['fields']): Manager {
  if (former !== undefined && sameSet(former.fields, fields)) return former
  return { ...writer, operation: 'Update', fields }
}

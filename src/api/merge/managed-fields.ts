/**
 * The managers of an object: who owns which fields, as kept in `metadata.managedFields`.
 *
 * An entry is one manager writing in one way (operation, version, subresource). `readManagers` and `writeManagers`
 * turn the wire form into a list of `Manager` and back; an entry whose fields nobody touched goes back as it came.
 */
import type { JsonObject } from '../json/json.ts'
import { isLarge } from '../json/large-json.ts'
import type { ApiObject, ManagedFieldsEntry } from '../model/object.ts'
import {
  asWritten,
  type FieldSet,
  fromFieldsSteps,
  fromFieldsV1,
  isEmpty,
  isLargeSet,
  toFieldsSteps,
  toFieldsV1,
} from './field-set.ts'

export interface Manager extends ManagerId {
  readonly time: string | undefined
  readonly fields: FieldSet
  /** The wire form of `fields`, where it is known. */
  readonly encoded?: JsonObject | undefined
}

export interface ManagerId {
  readonly name: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
}

/** Who writes, through what, and when. */
export interface Writer {
  readonly name: string
  readonly apiVersion: string
  /** '' for the object itself. */
  readonly subresource: string
  /** Now, in the form of `managedFields[].time`. */
  readonly time: string
}

/** Reads entries that a client sent; undefined when one of them is not of the right form. Yields as it reads. */
export function* readManagers(
  entries: readonly ManagedFieldsEntry[] | undefined,
): Generator<void, Manager[] | undefined> {
  const managers = new Map<string, Manager>()
  for (const entry of entries ?? []) {
    const { fieldsV1 = {} } = entry
    const manager = managerOf(entry, isLarge(fieldsV1) ? yield* fromFieldsSteps(fieldsV1) : fromFieldsV1(fieldsV1))
    if (manager === undefined) return undefined
    managers.set(identity(manager), manager)
  }
  // Of two entries with one identity the last counts.
  return [...managers.values()]
}

/** Reads entries that were stored. None where there are some that cannot be read. Yields as it reads. */
export function* storedManagers({ metadata }: ApiObject): Generator<void, Manager[]> {
  const managers = new Map<string, Manager>()
  for (const entry of metadata.managedFields ?? []) {
    const { fieldsV1: encoded = {} } = entry
    const fields = isLarge(encoded) ? yield* fromFieldsSteps(encoded, asWritten) : fromFieldsV1(encoded, asWritten)
    const manager = managerOf(entry, fields)
    if (manager === undefined) return []
    managers.set(identity(manager), { ...manager, encoded })
  }
  return [...managers.values()]
}

function managerOf(entry: ManagedFieldsEntry, fields: FieldSet | undefined): Manager | undefined {
  const { operation, apiVersion, fieldsType } = entry
  if (operation !== 'Apply' && operation !== 'Update') return undefined
  if (!apiVersion || fieldsType !== 'FieldsV1' || fields === undefined) return undefined
  const { manager: name = '', subresource = '', time } = entry
  return { name, operation, apiVersion, subresource, time, fields }
}

/** The manager with other fields; itself when they are the same. */
export function withFields(manager: Manager, fields: FieldSet): Manager {
  return fields === manager.fields ? manager : { ...manager, fields, encoded: undefined }
}

/** The wire form: appliers first, then by time and name; managers that own nothing vanish. Yields as it writes. */
export function* writeManagers(managers: readonly Manager[]): Generator<void, ManagedFieldsEntry[]> {
  const entries: ManagedFieldsEntry[] = []
  for (const manager of managers.filter(({ fields }) => !isEmpty(fields)).toSorted(inOrder)) {
    const { fields, encoded } = manager
    const fieldsV1 = encoded ?? (isLargeSet(fields) ? yield* toFieldsSteps(fields) : toFieldsV1(fields))
    entries.push(entryOf(manager, fieldsV1))
  }
  return entries
}

/** Its keys in the order in which they are stored (api/schema/object-meta.ts), which saves sorting them. */
function entryOf({ name, operation, apiVersion, subresource, time }: Manager, fieldsV1: JsonObject) {
  const entry: ManagedFieldsEntry = name === '' ? { operation, apiVersion } : { manager: name, operation, apiVersion }
  if (time !== undefined) entry.time = time
  entry.fieldsType = 'FieldsV1'
  entry.fieldsV1 = fieldsV1
  if (subresource !== '') entry.subresource = subresource
  return entry
}

function inOrder(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  )
}

/** Oldest first; of one age by identity. */
export function byAge(a: Manager, b: Manager): number {
  return compareText(a.time ?? '', b.time ?? '') || compareText(identity(a), identity(b))
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** What makes two entries the same manager. An applier keeps its entry when it moves to another version. */
function identity({ name, operation, apiVersion, subresource }: ManagerId): string {
  return JSON.stringify([name, operation, operation === 'Apply' ? '' : apiVersion, subresource])
}

/** Whether both are entries of one manager: see `identity`. */
export function sameManager(a: ManagerId, b: ManagerId): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  )
}

/**
 * The managers of an object and the fields that they own, as recorded in `metadata.managedFields`.
 *
 * Each entry is for one manager with one operation, version and subresource. `readManagers` and `writeManagers` convert
 * between the recorded form and a list of `Manager` objects. An entry with unchanged fields is written back exactly as
 * it was.
 */
import type { JsonObject } from '../json/json.ts'
import { isLarge } from '../json/large-json.ts'
import type { ApiObject, ManagedFieldsEntry } from '../model/object.ts'
import {
  asWritten,
  type FieldSet,
  fromFieldsSliced,
  fromFieldsV1,
  isEmpty,
  isLargeSet,
  toFieldsSliced,
  toFieldsV1,
} from './field-set.ts'

export interface Manager extends ManagerId {
  readonly time: string | undefined
  readonly fields: FieldSet
  /** The `fieldsV1` form of `fields`, if it has already been encoded. */
  readonly encoded?: JsonObject | undefined
}

export interface ManagerId {
  readonly name: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
}

/** The writer: the manager with its API version and subresource, and the time of the write. */
export interface Writer {
  readonly name: string
  readonly apiVersion: string
  /** Subresource of the request, or '' for the main resource. */
  readonly subresource: string
  /** The current time, in the format of `managedFields[].time`. Undefined for writes that record no time. */
  readonly time: string | undefined
}

/** Reads entries that a client sent. Returns undefined if any of them is malformed. Yields periodically. */
export function* readManagers(
  entries: readonly ManagedFieldsEntry[] | undefined,
): Generator<void, Manager[] | undefined> {
  const managers = new Map<string, Manager>()
  for (const entry of entries ?? []) {
    const { fieldsV1 = {} } = entry
    const manager = managerOf(entry, isLarge(fieldsV1) ? yield* fromFieldsSliced(fieldsV1) : fromFieldsV1(fieldsV1))
    if (manager === undefined) return undefined
    managers.set(identity(manager), manager)
  }
  // If two entries have the same identity, the last entry is used.
  return [...managers.values()]
}

/** Reads stored entries. Returns an empty list if any of them is unreadable. Yields periodically. */
export function* storedManagers({ metadata }: ApiObject): Generator<void, Manager[]> {
  const managers = new Map<string, Manager>()
  for (const entry of metadata.managedFields ?? []) {
    const { fieldsV1: encoded = {} } = entry
    const fields = isLarge(encoded) ? yield* fromFieldsSliced(encoded, asWritten) : fromFieldsV1(encoded, asWritten)
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

/** Returns a copy of the manager with the given fields, or the manager itself if it already has these fields. */
export function withFields(manager: Manager, fields: FieldSet): Manager {
  return fields === manager.fields ? manager : { ...manager, fields, encoded: undefined }
}

/**
 * Returns the encoded entries. Appliers come first, and each group is sorted by time and name. Managers that own no
 * fields are omitted. Yields periodically.
 */
export function* writeManagers(managers: readonly Manager[]): Generator<void, ManagedFieldsEntry[]> {
  const entries: ManagedFieldsEntry[] = []
  for (const manager of managers.filter(({ fields }) => !isEmpty(fields)).toSorted(compareManagers)) {
    const { fields, encoded } = manager
    const fieldsV1 = encoded ?? (isLargeSet(fields) ? yield* toFieldsSliced(fields) : toFieldsV1(fields))
    entries.push(entryOf(manager, fieldsV1))
  }
  return entries
}

/**
 * Returns the encoded entry of a manager. Its keys are in storage order (api/schema/object-meta.ts), so they need not
 * be sorted.
 */
function entryOf({ name, operation, apiVersion, subresource, time }: Manager, fieldsV1: JsonObject) {
  const entry: ManagedFieldsEntry = name === '' ? { operation, apiVersion } : { manager: name, operation, apiVersion }
  if (time !== undefined) entry.time = time
  entry.fieldsType = 'FieldsV1'
  entry.fieldsV1 = fieldsV1
  if (subresource !== '') entry.subresource = subresource
  return entry
}

function compareManagers(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  )
}

/** Compares two managers by age, oldest first, then by identity. */
export function byAge(a: Manager, b: Manager): number {
  return compareText(a.time ?? '', b.time ?? '') || compareText(identity(a), identity(b))
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns the identity of a manager's entry. An applier keeps its entry when it starts to use a different version. */
function identity({ name, operation, apiVersion, subresource }: ManagerId): string {
  return JSON.stringify([name, operation, operation === 'Apply' ? '' : apiVersion, subresource])
}

/** Whether two managers have the same entry in managedFields (see `identity`). */
export function sameManager(a: ManagerId, b: ManagerId): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  )
}

/**
 * The managers of an object: who owns which fields, as kept in `metadata.managedFields`.
 *
 * An entry is one manager writing in one way (operation, version, subresource). `readManagers` and `writeManagers`
 * turn the wire form into a list of `Manager` and back.
 */
import type { ManagedFieldsEntry } from '../model/object.ts'
import { type FieldSet, fromFieldsV1, isEmpty, toFieldsV1 } from './field-set.ts'

export interface Manager {
  readonly name: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** Reads the entries; undefined when one of them is not of the right form. */
export function readManagers(entries: readonly ManagedFieldsEntry[] | undefined): Manager[] | undefined {
  const managers: Manager[] = []
  for (const entry of entries ?? []) {
    const fields = fromFieldsV1(entry.fieldsV1)
    if (fields === undefined || (entry.operation !== 'Apply' && entry.operation !== 'Update')) return undefined
    managers.push({
      name: entry.manager ?? '',
      operation: entry.operation,
      apiVersion: entry.apiVersion ?? '',
      subresource: entry.subresource ?? '',
      time: entry.time,
      fields,
    })
  }
  return managers
}

/** The wire form: appliers first, then by time and name; managers that own nothing vanish. */
export function writeManagers(managers: readonly Manager[]): ManagedFieldsEntry[] {
  return managers
    .filter((manager) => !isEmpty(manager.fields))
    .toSorted(inOrder)
    .map((manager) => ({
      ...(manager.name === '' ? {} : { manager: manager.name }),
      operation: manager.operation,
      apiVersion: manager.apiVersion,
      ...(manager.time === undefined ? {} : { time: manager.time }),
      fieldsType: 'FieldsV1',
      fieldsV1: toFieldsV1(manager.fields),
      ...(manager.subresource === '' ? {} : { subresource: manager.subresource }),
    }))
}

function inOrder(a: Manager, b: Manager): number {
  if (a.operation !== b.operation) return a.operation === 'Apply' ? -1 : 1
  return (
    compareText(a.time ?? '', b.time ?? '') || compareText(a.name, b.name) || compareText(a.apiVersion, b.apiVersion)
  )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Whether two entries are the same manager. An applier keeps its entry when it moves to another version. */
export function sameManager(a: Omit<Manager, 'fields' | 'time'>, b: Omit<Manager, 'fields' | 'time'>): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  )
}

/**
 * Determines which fields can be owned. No manager can own fields that identify an object, fields that the server sets,
 * or fields that a kind of write resets.
 */

import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import type { JsonObject } from '../json/json.ts'
import type { FieldPath } from '../model/field-error.ts'
import { type ApiObject, asJson } from '../model/object.ts'
import { type Comparison, unchanged } from './compare.ts'
import { difference, differenceBelow, type FieldSet, setOf } from './field-set.ts'

const systemMetadata = [
  'name',
  'namespace',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'creationTimestamp',
  'managedFields',
  'resourceVersion',
]

const neverOwned: FieldSet = setOf(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...systemMetadata.map((name) => ['f:metadata', `f:${name}`]),
)

/** Removes the fields that no manager can own. */
export function ownable(fields: FieldSet): FieldSet {
  return difference(fields, neverOwned)
}

/** Removes the fields, by path (`spec`, `status.certificate`), that this kind of write resets. */
export function writable(fields: FieldSet, readOnly: readonly string[]): FieldSet {
  return readOnly.length === 0 ? fields : differenceBelow(fields, setOfPaths(readOnly))
}

/** The same list of paths is used for every write of a kind, so the result is cached. */
const setOfPaths = memoizeByObject((paths: readonly FieldPath[]) => setOf(...paths.map(stepsOf)))

/**
 * Removes the top-level parts that this kind of write resets. They are not merged, so an invalid value in them causes
 * no error. Read-only fields within other parts are merged and validated with the rest.
 */
export function withoutReadOnly(config: JsonObject, readOnly: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !readOnly.includes(name)))
}

function stepsOf(path: FieldPath): string[] {
  return path.split('.').map((name) => `f:${name}`)
}

/** Removes the fields that this kind of write resets from a comparison. */
export function writableChanges(changes: Comparison, readOnly: readonly string[]): Comparison {
  if (changes === unchanged || readOnly.length === 0) return changes
  return {
    added: writable(changes.added, readOnly),
    modified: writable(changes.modified, readOnly),
    removed: writable(changes.removed, readOnly),
  }
}

/** Returns the object without its managedFields, for merging. */
export function withoutManagers(object: ApiObject): JsonObject {
  if (object.metadata.managedFields === undefined) return asJson(object)
  const { managedFields: _, ...metadata } = object.metadata
  return asJson({ ...object, metadata })
}

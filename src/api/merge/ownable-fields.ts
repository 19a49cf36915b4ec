/**
 * Determines which fields can have owners. No manager can own fields that identify an object, fields that the server
 * sets, or fields that this type of write resets.
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

/**
 * Removes the fields that this type of write resets. `readOnly` contains their paths, such as `spec` or
 * `status.certificate`.
 */
export function writable(fields: FieldSet, readOnly: readonly string[]): FieldSet {
  return readOnly.length === 0 ? fields : differenceBelow(fields, setOfPaths(readOnly))
}

/**
 * Returns the field set for the given paths. All writes of a kind use the same list of paths, so the result is cached.
 */
const setOfPaths = memoizeByObject((paths: readonly FieldPath[]) => setOf(...paths.map(stepsOf)))

/**
 * Removes the top-level fields that this type of write resets. They are not merged, so an invalid value in them causes
 * no error. Read-only fields within other fields are merged and validated with all other fields.
 */
export function withoutReadOnly(config: JsonObject, readOnly: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !readOnly.includes(name)))
}

function stepsOf(path: FieldPath): string[] {
  return path.split('.').map((name) => `f:${name}`)
}

/** Removes the fields that this type of write resets from a comparison. */
export function writableChanges(changes: Comparison, readOnly: readonly string[]): Comparison {
  if (changes === unchanged || readOnly.length === 0) return changes
  return {
    added: writable(changes.added, readOnly),
    modified: writable(changes.modified, readOnly),
    removed: writable(changes.removed, readOnly),
  }
}

/** Returns the object without its managedFields, which are not merged. */
export function withoutManagers(object: ApiObject): JsonObject {
  if (object.metadata.managedFields === undefined) return asJson(object)
  const { managedFields: _, ...metadata } = object.metadata
  return asJson({ ...object, metadata })
}

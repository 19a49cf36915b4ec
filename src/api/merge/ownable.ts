/**
 * What can be owned at all: not what names an object, not what the server decides, not what a way of writing resets.
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

/** Without the fields that nobody can own. */
export function ownable(fields: FieldSet): FieldSet {
  return difference(fields, neverOwned)
}

/** Without the fields, by path (`spec`, `status.certificate`), that this way of writing resets. */
export function writable(fields: FieldSet, readOnly: readonly string[]): FieldSet {
  return readOnly.length === 0 ? fields : differenceBelow(fields, setOfPaths(readOnly))
}

/** The paths of a kind are the same list in every write. */
const setOfPaths = memoizeByObject((paths: readonly FieldPath[]) => setOf(...paths.map(stepsOf)))

/**
 * A configuration without the parts that this way of writing resets as a whole: they are not merged, so that no value in
 * them can be at fault. Of a part that is written, what nobody can own through here is merged and judged with the rest.
 */
export function withoutReadOnly(config: JsonObject, readOnly: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !readOnly.includes(name)))
}

function stepsOf(path: FieldPath): string[] {
  return path.split('.').map((name) => `f:${name}`)
}

/** A comparison without the fields that this way of writing resets. */
export function writableChanges(changes: Comparison, readOnly: readonly string[]): Comparison {
  if (changes === unchanged || readOnly.length === 0) return changes
  return {
    added: writable(changes.added, readOnly),
    modified: writable(changes.modified, readOnly),
    removed: writable(changes.removed, readOnly),
  }
}

/** The object as merging sees it: without the record of its managers. */
export function withoutManagers(object: ApiObject): JsonObject {
  if (object.metadata.managedFields === undefined) return asJson(object)
  const { managedFields: _, ...metadata } = object.metadata
  return asJson({ ...object, metadata })
}

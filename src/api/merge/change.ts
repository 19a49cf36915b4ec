/**
 * A change to an object, represented in every version that its managers used.
 *
 * A manager's fields are recorded in the version that the manager used. If the versions of a kind differ in structure,
 * the same write changes different fields in each of them: `spec.targetCPUUtilizationPercentage` in one version, and
 * `spec.metrics` in another. Each manager's fields are therefore compared with the change in that manager's version.
 */
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import type { JsonObject } from '../json/json.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { type Comparison, changedBy, compareSliced, isUnchanged } from './compare.ts'
import { type FieldSet, union } from './field-set.ts'
import { writableChanges } from './ownable-fields.ts'

export interface FieldChange {
  readonly schema: ObjectSchema
  readonly before: JsonObject
  readonly after: JsonObject
  readonly changes: Changes
}

/** A comparison of two objects, with derived field sets that are computed only once. */
export interface Changes extends Comparison {
  /** Added and modified fields. */
  readonly set: FieldSet
  /** Added, modified and removed fields. */
  readonly touched: FieldSet
}

/** Computes the derived field sets of a comparison. */
export function changesOf(comparison: Comparison): Changes {
  const set = changedBy(comparison)
  return { ...comparison, set, touched: union(set, comparison.removed) }
}

/** Access to the other versions of a kind. Conversion may need to call a webhook. */
export interface OtherVersions {
  /** Returns the schema of a version, or undefined if the version does not exist. */
  readonly schemaOf: (apiVersion: string) => ObjectSchema | undefined
  /** Converts an object to another version of the kind, which must exist. */
  readonly convert: (object: JsonObject, apiVersion: string) => Sliced<JsonObject>
}

export interface ChangeToSee {
  /** The schema of the request's version. `before` and `after` are in the same version. */
  readonly schema: ObjectSchema
  readonly apiVersion: string
  readonly before: JsonObject
  readonly after: JsonObject
  /** Paths of fields that this write must ignore. */
  readonly readOnly: readonly string[]
  /** The other versions of the kind. Undefined if all versions have the same structure. */
  readonly versions: OtherVersions | undefined
  /** The object's managers. The change is converted to the version of each manager. */
  readonly managers: readonly { readonly apiVersion: string }[]
}

/** Returns the change in a manager's version, or undefined if that version no longer exists. */
export function* changeInVersions(change: ChangeToSee): Sliced<(apiVersion: string) => FieldChange | undefined> {
  const { schema, apiVersion, before, after, versions, managers } = change
  const here = changeOf(change, yield* compareSliced(schema, before, after))
  if (versions === undefined || isUnchanged(here.changes)) return () => here
  const changesByVersion = new Map<string, FieldChange | undefined>([[apiVersion, here]])
  for (const { apiVersion: other } of managers)
    if (!changesByVersion.has(other)) changesByVersion.set(other, yield* convertChange(change, versions, other))
  return (other) => changesByVersion.get(other)
}

function* convertChange(
  { before, after, readOnly }: ChangeToSee,
  versions: OtherVersions,
  apiVersion: string,
): Sliced<FieldChange | undefined> {
  const schema = versions.schemaOf(apiVersion)
  if (schema === undefined) return undefined
  const then = yield* versions.convert(before, apiVersion)
  const now = yield* versions.convert(after, apiVersion)
  return changeOf({ schema, before: then, after: now, readOnly }, yield* compareSliced(schema, then, now))
}

type Compared = Pick<ChangeToSee, 'schema' | 'before' | 'after' | 'readOnly'>

function changeOf({ schema, before, after, readOnly }: Compared, comparison: Comparison): FieldChange {
  return { schema, before, after, changes: changesOf(writableChanges(comparison, readOnly)) }
}

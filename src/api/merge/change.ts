/**
 * One change of an object, seen in every version that somebody wrote in.
 *
 * What a manager owns is recorded in the version that it wrote in. Where the versions of a kind differ in form, the
 * same write changes other fields in each of them: `spec.targetCPUUtilizationPercentage` here, `spec.metrics` there. So
 * every question about a manager is asked of the change as it looks in that manager's version.
 */
import type { Steps } from '../../base/concurrency/time-slice.ts'
import type { JsonObject } from '../json/json.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { type Comparison, changedBy, compareSteps, isUnchanged } from './compare.ts'
import { type FieldSet, union } from './field-set.ts'
import { writableChanges } from './ownable.ts'

export interface FieldChange {
  readonly schema: ObjectSchema
  readonly before: JsonObject
  readonly after: JsonObject
  readonly changes: Changes
}

/** A comparison with what each of many managers is held against: made once for all of them. */
export interface Changes extends Comparison {
  /** What was added or modified. */
  readonly set: FieldSet
  /** What was set or removed. */
  readonly touched: FieldSet
}

/** The comparison with what is derived from it. */
export function changesOf(comparison: Comparison): Changes {
  const set = changedBy(comparison)
  return { ...comparison, set, touched: union(set, comparison.removed) }
}

/** The other versions of a kind. Converting an object may mean to wait for somebody else. */
export interface OtherVersions {
  /** The schema of a version; undefined when there is no such version. */
  readonly schemaOf: (apiVersion: string) => ObjectSchema | undefined
  /** The object in a version that there is. */
  readonly convert: (object: JsonObject, apiVersion: string) => Steps<JsonObject>
}

export interface ChangeToSee {
  /** Of the version that is written through, as are `before` and `after`. */
  readonly schema: ObjectSchema
  readonly apiVersion: string
  readonly before: JsonObject
  readonly after: JsonObject
  /** Fields that this way of writing cannot set. */
  readonly readOnly: readonly string[]
  /** Undefined where all versions have one form. */
  readonly versions: OtherVersions | undefined
  /** Whoever is asked about wrote in one of these. */
  readonly managers: readonly { readonly apiVersion: string }[]
}

/** Returns the change as it looks in the version of a manager; undefined when that version is gone. */
export function* changeInVersions(change: ChangeToSee): Steps<(apiVersion: string) => FieldChange | undefined> {
  const { schema, apiVersion, before, after, versions, managers } = change
  const here = changeOf(change, yield* compareSteps(schema, before, after))
  if (versions === undefined || isUnchanged(here.changes)) return () => here
  const known = new Map<string, FieldChange | undefined>([[apiVersion, here]])
  for (const { apiVersion: other } of managers)
    if (!known.has(other)) known.set(other, yield* convertChange(change, versions, other))
  return (other) => known.get(other)
}

function* convertChange(
  { before, after, readOnly }: ChangeToSee,
  versions: OtherVersions,
  apiVersion: string,
): Steps<FieldChange | undefined> {
  const schema = versions.schemaOf(apiVersion)
  if (schema === undefined) return undefined
  const then = yield* versions.convert(before, apiVersion)
  const now = yield* versions.convert(after, apiVersion)
  return changeOf({ schema, before: then, after: now, readOnly }, yield* compareSteps(schema, then, now))
}

type Compared = Pick<ChangeToSee, 'schema' | 'before' | 'after' | 'readOnly'>

function changeOf({ schema, before, after, readOnly }: Compared, comparison: Comparison): FieldChange {
  return { schema, before, after, changes: changesOf(writableChanges(comparison, readOnly)) }
}

/**
 * One change of an object, seen in every version that somebody wrote in.
 *
 * What a manager owns is recorded in the version that it wrote in. Where the versions of a kind differ in form, the
 * same write changes other fields in each of them: `spec.targetCPUUtilizationPercentage` here, `spec.metrics` there. So
 * every question about a manager is asked of the change as it looks in that manager's version.
 */
import type { JsonObject } from '../model/json.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { type Comparison, changedBy, compare, isUnchanged } from './compare.ts'
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

/** The object in another version of its kind; undefined when there is no such version. */
export type InVersion = (
  object: JsonObject,
  apiVersion: string,
) => { readonly schema: ObjectSchema; readonly object: JsonObject } | undefined

export interface ChangeToSee {
  /** Of the version that is written through, as are `before` and `after`. */
  readonly schema: ObjectSchema
  readonly apiVersion: string
  readonly before: JsonObject
  readonly after: JsonObject
  /** Fields that this way of writing cannot set. */
  readonly readOnly: readonly string[]
  /** Undefined where all versions have one form. */
  readonly inVersion: InVersion | undefined
}

/** Gives the change as it looks in a version; undefined when that version is gone. */
export function changeInVersions(change: ChangeToSee): (apiVersion: string) => FieldChange | undefined {
  const { schema, apiVersion, before, after, readOnly, inVersion } = change
  const here = makeChange(schema, before, after, readOnly)
  const known = new Map<string, FieldChange | undefined>([[apiVersion, here]])
  return (other) => {
    if (inVersion === undefined || isUnchanged(here.changes)) return here
    if (!known.has(other)) known.set(other, convertChange(change, inVersion, other))
    return known.get(other)
  }
}

function convertChange(
  { before, after, readOnly }: ChangeToSee,
  inVersion: InVersion,
  apiVersion: string,
): FieldChange | undefined {
  const then = inVersion(before, apiVersion)
  const now = inVersion(after, apiVersion)
  return then && now && makeChange(then.schema, then.object, now.object, readOnly)
}

function makeChange(
  schema: ObjectSchema,
  before: JsonObject,
  after: JsonObject,
  readOnly: readonly string[],
): FieldChange {
  return { schema, before, after, changes: changesOf(writableChanges(compare(schema, before, after), readOnly)) }
}

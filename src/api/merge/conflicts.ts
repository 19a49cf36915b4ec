/**
 * Conflicts: fields that an apply would change and that other managers own. Conflicts are returned as values, and
 * `applyConflict` creates the response. For each field, the response contains the owner, the time of the owner's last
 * change, the current and requested values, and how to resolve the conflict. An object can have thousands of conflicts.
 * They are found in linear time, and the response lists only the first conflicts.
 */
import { shorten } from '../../base/text/shorten.ts'
import { startOfJson } from '../codec/json.ts'
import { isObject, type Json, own } from '../json/json.ts'
import { partsPerSlice } from '../json/large-json.ts'
import { ApiError } from '../model/api-error.ts'
import { maxReportedErrors } from '../model/field-error.ts'
import type { Schema } from '../schema/schema.ts'
import { below, type FieldSet } from './field-set.ts'
import type { Manager } from './managed-fields.ts'
import { itemsByElementSliced, pathText } from './path-elements.ts'
import { hasElements, hasMembers, stepSchema } from './shape.ts'

export interface FieldConflict {
  readonly manager: Manager
  /** Path elements that lead to the field. */
  readonly path: readonly string[]
  /** Value of the field in the live object. */
  readonly live: Json | undefined
  /** Value that the applier wants to set. */
  readonly requested: Json | undefined
}

export interface Contest {
  readonly schema: Schema
  readonly live: Json | undefined
  readonly requested: Json | undefined
  readonly manager: Manager
  /** Fields of this manager that the apply would change. */
  readonly fields: FieldSet
}

/** Returns the conflicts below a path, in the order of their paths. Yields periodically. */
export function* conflictsOf(contest: Contest, path: readonly string[] = []): Generator<void, FieldConflict[]> {
  const { schema, live, requested, manager, fields } = contest
  if (fields.children.size === 0) return []
  const liveAt = yield* partsOf(schema, live)
  const askedAt = yield* partsOf(schema, requested)
  const parts = [...fields.children.keys()].sort().map((step) => ({
    step,
    next: stepSchema(schema, step),
    live: liveAt(step),
    requested: askedAt(step),
    fields: below(fields, step),
  }))
  const conflicts: FieldConflict[] = []
  for (const { step, fields: at, ...part } of parts)
    if (at.member) conflicts.push({ manager, path: [...path, step], live: part.live, requested: part.requested })
  yield
  for (const [i, { step, next = undescribed, ...part }] of parts.entries()) {
    if (i % partsPerSlice === 0) yield
    for (const conflict of yield* conflictsOf({ ...part, schema: next, manager }, [...path, step]))
      conflicts.push(conflict)
  }
  return conflicts
}

/** Schema for paths that the object's schema does not describe. */
const undescribed: Schema = { type: 'any' }

/** Returns a function that looks up the child of a value by path element. */
function* partsOf(schema: Schema, value: Json | undefined): Generator<void, (step: string) => Json | undefined> {
  if (hasMembers(schema) && isObject(value)) return (step) => own(value, step.slice(2))
  if (!hasElements(schema) || !Array.isArray(value)) return () => undefined
  const elements = yield* itemsByElementSliced(schema, value)
  return (step) => elements.get(step)
}

/** Returns the 409 response to an apply with conflicts. `hideValues` is for kinds with confidential values. */
export function applyConflict(conflicts: readonly FieldConflict[], { hideValues = false } = {}): ApiError {
  const show = hideValues ? undefined : showOnce()
  const reported = conflicts
    .map((conflict) => ({ who: nameOf(conflict.manager), conflict }))
    .toSorted((a, b) => compareText(a.who, b.who))
    .slice(0, maxReportedErrors)
    .map(({ who, conflict }) => ({
      who,
      field: cut(pathText(conflict.path), maxPathLength),
      what: describe(conflict, show),
    }))
  const causes = reported.map(({ who, field, what }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${who}: ${what}`,
    field,
  }))
  return new ApiError(409, 'Conflict', `${summary(reported, conflicts.length)}\n${waysOut}`, { causes })
}

interface ReportedConflict {
  readonly who: string
  readonly field: string
  readonly what: string
}

const waysOut =
  'To resolve a conflict: set the field to the value on the server to share ownership; ' +
  'omit it from the applied object to leave it to the other manager; ' +
  'or apply with force=true to take ownership.'

function summary(reported: readonly ReportedConflict[], count: number): string {
  const [first] = reported
  if (first !== undefined && reported.length === 1)
    return `Apply failed with 1 conflict: conflict with ${first.who}: ${first.field} (${first.what})`
  const lines = [...Map.groupBy(reported, ({ who }) => who)].flatMap(([who, theirs]) => [
    `conflicts with ${who}:`,
    ...theirs.map(({ field, what }) => `- ${field} (${what})`),
  ])
  const more = count > reported.length ? [`and ${count - reported.length} more`] : []
  return `Apply failed with ${count} conflicts: ${[...lines, ...more].join('\n')}`
}

/**
 * Formats a manager, for example as `"m" with subresource "status" using v1`. The version of an applier is omitted
 * because an applier has one entry for all versions.
 */
function nameOf({ name, operation, apiVersion, subresource }: Manager): string {
  const through = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`
  return `${JSON.stringify(cut(name, maxNameLength))}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}

type Show = (value: Json | undefined) => string

/** Describes a conflict for the response. `show` formats values. If `show` is undefined, values are omitted. */
function describe({ manager, live, requested }: FieldConflict, show: Show | undefined): string {
  const since = manager.time === undefined ? 'owned' : `owned since ${manager.time}`
  return show === undefined ? since : `${since}, is ${show(live)}, asked for ${show(requested)}`
}

const maxValueLength = 200
const maxPathLength = 500
const maxNameLength = 200

/**
 * Returns a function that formats values in a few words. Many managers may own the same large value, so the formatted
 * values are cached.
 */
function showOnce(): Show {
  const textByValue = new Map<Json | undefined, string>([[undefined, 'nothing']])
  return (value) => {
    const text = textByValue.get(value) ?? cut(startOfJson(value!, maxValueLength), maxValueLength)
    textByValue.set(value, text)
    return text
  }
}

function cut(text: string, length: number): string {
  return text.length > length ? `${shorten(text, length)}...` : text
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

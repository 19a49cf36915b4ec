/**
 * Conflicts: what an apply would change that others own. A conflict is a value; `applyConflict` makes the answer of
 * it, which tells per field who owns it and since when, what is there and what was asked for, and the ways out.
 */
import { shorten } from '../base/shorten.ts'
import { stringifyJson } from '../codec/json.ts'
import { ApiError } from '../model/api-error.ts'
import { isObject, type Json, own } from '../model/json.ts'
import type { Schema } from '../schema/schema.ts'
import { type Comparison, changedBy } from './compare.ts'
import { type FieldSet, intersection, isEmpty, pathsOf } from './field-set.ts'
import type { Manager } from './managed-fields.ts'
import { hasElements, hasMembers, stepSchema } from './shape.ts'
import { byStep, pathText } from './steps.ts'

export interface Conflict {
  readonly manager: Manager
  /** Steps to the field, as in field sets. */
  readonly path: readonly string[]
  /** What the server has there. */
  readonly live: Json | undefined
  /** What the applier asks for. */
  readonly asked: Json | undefined
}

/** The fields of a manager that a change touches. */
export function contested(manager: Manager, changes: Comparison): FieldSet {
  return intersection(manager.fields, changedBy(changes))
}

export interface Contest {
  readonly schema: Schema
  readonly live: Json
  readonly asked: Json
  readonly manager: Manager
  readonly fields: FieldSet
}

export function conflictsOf({ schema, live, asked, manager, fields }: Contest): Conflict[] {
  if (isEmpty(fields)) return []
  return pathsOf(fields).map((path) => ({
    manager,
    path,
    live: valueAt(schema, live, path),
    asked: valueAt(schema, asked, path),
  }))
}

function valueAt(schema: Schema, value: Json | undefined, [step, ...rest]: readonly string[]): Json | undefined {
  if (step === undefined || value === undefined) return value
  const next = stepSchema(schema, step)
  if (next === undefined) return undefined
  if (hasMembers(schema) && isObject(value)) return valueAt(next, own(value, step.slice(2)), rest)
  if (hasElements(schema) && Array.isArray(value)) return valueAt(next, byStep(schema, value).get(step), rest)
  return undefined
}

/** The answer to an apply with conflicts: 409. `hideValues` for kinds whose values are nobody else's business. */
export function applyConflict(conflicts: readonly Conflict[], { hideValues = false } = {}): ApiError {
  const told = conflicts
    .map((conflict) => ({
      who: nameOf(conflict.manager),
      field: pathText(conflict.path),
      what: describe(conflict, hideValues),
    }))
    .toSorted((a, b) => compareText(a.who, b.who))
  const causes = told.map(({ who, field, what }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${who}: ${what}`,
    field,
  }))
  return new ApiError(409, 'Conflict', `${summary(told)}\n${waysOut}`, { causes })
}

interface Told {
  readonly who: string
  readonly field: string
  readonly what: string
}

const waysOut =
  'To resolve a conflict: set the field to the value on the server to own it together; ' +
  'leave it out of the applied object to let the other manager have it; ' +
  'or apply with force=true to take it from the other manager.'

function summary(told: readonly Told[]): string {
  const [first] = told
  if (first !== undefined && told.length === 1)
    return `Apply failed with 1 conflict: conflict with ${first.who}: ${first.field} (${first.what})`
  const lines = [...Map.groupBy(told, ({ who }) => who)].flatMap(([who, theirs]) => [
    `conflicts with ${who}:`,
    ...theirs.map(({ field, what }) => `- ${field} (${what})`),
  ])
  return `Apply failed with ${told.length} conflicts: ${lines.join('\n')}`
}

/** `"m" with subresource "status" using v1`: an applier has one entry for all versions, so its version says nothing. */
function nameOf({ name, operation, apiVersion, subresource }: Manager): string {
  const through = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`
  return `${JSON.stringify(name)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}

function describe({ manager, live, asked }: Conflict, hideValues: boolean): string {
  const since = manager.time === undefined ? 'owned' : `owned since ${manager.time}`
  return hideValues ? since : `${since}, is ${show(live)}, asked for ${show(asked)}`
}

const longestShown = 200

function show(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  const text = stringifyJson(value)
  return text.length > longestShown ? `${shorten(text, longestShown)}...` : text
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

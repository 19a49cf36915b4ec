/**
 * A minimal registry for apply scenarios. The registry contains one object and its field managers, and calls the pure
 * merge functions. Steps are data. After each step, the test compares the object and its field owners with the expected
 * ones, for example with the owners `{ 'a applies': ['.data.k'] }`.
 */

import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { applyObject } from '../../../src/api/merge/apply.ts'
import type { FieldConflict } from '../../../src/api/merge/conflicts.ts'
import type { FieldSet } from '../../../src/api/merge/field-set.ts'
import { readManagers } from '../../../src/api/merge/managed-fields.ts'
import { pathText } from '../../../src/api/merge/path-elements.ts'
import { trackUpdate } from '../../../src/api/merge/track-update.ts'
import { type ApiObject, asObject, type ManagedFieldsEntry } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { decode } from '../../../src/api/schema/decode.ts'
import { fillDefaults } from '../../../src/api/schema/defaults.ts'
import { objectMeta } from '../../../src/api/schema/object-meta.ts'
import { type Fields, field, type ObjectSchema, s } from '../../../src/api/schema/schema.ts'
import { type EmulatedVersion, oldestVersion } from '../../../src/api/versions/emulated-version.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'

export const vendor = vendorOf('orch')

/** Returns the schema of a kind with these fields. */
export function kindOf(fields: Fields, options: { open?: boolean } = {}): ObjectSchema {
  const type = { apiVersion: field(0, s.string()), kind: field(0, s.string()) }
  return s.object({ ...type, metadata: field(1, objectMeta, { zeroValue: 'write' }), ...fields }, options)
}

export interface Step {
  /** The fields to apply. `metadata` is merged with the name. */
  readonly apply?: { readonly [field: string]: Json }
  /** The fields to write as the whole object (PUT). */
  readonly put?: { readonly [field: string]: Json }
  readonly by: string
  readonly force?: true
  readonly subresource?: string
  readonly readOnly?: readonly string[]
  readonly apiVersion?: string
  /** The schema of the object from this step onwards. */
  readonly schema?: ObjectSchema
  /** The emulated version from this step onwards. */
  readonly emulated?: EmulatedVersion
}

export interface Seen {
  /** The expected object without its type, name and managers. */
  readonly object: JsonObject
  readonly owners: { readonly [manager: string]: readonly string[] }
  readonly times: { readonly [manager: string]: string | undefined }
  /** The expected conflicts, for example `a: .data.k`. A conflict leaves the object unchanged. */
  readonly conflicts: readonly string[]
}

export interface World {
  readonly schema: ObjectSchema
  readonly emulated: EmulatedVersion
  readonly live: ApiObject | undefined
  readonly conflicts: readonly FieldConflict[]
  readonly clock: number
}

export function emptyWorld(schema: ObjectSchema): World {
  return { schema, emulated: oldestVersion, live: undefined, conflicts: [], clock: 0 }
}

export function emptyObject(schema: ObjectSchema): ApiObject {
  return asObject(decode(schema, { apiVersion: 'v1', kind: 'Thing' }).value)
}

/** Executes a step and advances the clock by one second. */
export function take(before: World, step: Step): World {
  const { schema = before.schema, emulated = before.emulated } = step
  const world = { ...before, schema, emulated, clock: before.clock + 1, conflicts: [] }
  return step.apply !== undefined ? applyIn(world, step, step.apply) : putIn(world, step, step.put ?? {})
}

function applyIn(world: World, step: Step, fields: JsonObject): World {
  const result = applyObject({
    schema: world.schema,
    vendor,
    empty: emptyObject(world.schema),
    live: world.live,
    config: bodyOf(step, fields),
    writer: writerOf(world, step),
    force: step.force ?? false,
    readOnly: step.readOnly ?? [],
    emulated: world.emulated,
  })
  if (result.outcome === 'conflict') return { ...world, conflicts: result.conflicts }
  return { ...world, live: withManagers(complete(world.schema, result.object), result.managedFields) }
}

function putIn(world: World, step: Step, fields: JsonObject): World {
  const after = complete(world.schema, bodyOf(step, fields))
  const managers = trackUpdate({
    schema: world.schema,
    before: world.live ?? emptyObject(world.schema),
    after,
    writer: writerOf(world, step),
    readOnly: step.readOnly ?? [],
    create: world.live === undefined,
    emulated: world.emulated,
  })
  return { ...world, live: withManagers(after, managers ?? []) }
}

function writerOf({ clock }: World, { by, subresource = '', apiVersion = 'v1' }: Step) {
  return { name: by, apiVersion, subresource, time: timeAt(clock) }
}

export function timeAt(clock: number): string {
  return `2030-01-01T00:00:${String(clock).padStart(2, '0')}Z`
}

function bodyOf({ apiVersion = 'v1' }: Step, { metadata = {}, ...fields }: JsonObject): JsonObject {
  return { apiVersion, kind: 'Thing', metadata: { name: 'x', ...(metadata as JsonObject) }, ...fields }
}

function complete(schema: ObjectSchema, object: JsonObject): ApiObject {
  const { value } = decode(schema, object)
  fillDefaults(schema, value, { context: { vendor, subresource: '' } })
  return asObject(value)
}

function withManagers(object: ApiObject, managedFields: readonly ManagedFieldsEntry[]): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata
  return {
    ...object,
    metadata: managedFields.length === 0 ? metadata : { ...metadata, managedFields: [...managedFields] },
  }
}

export function look({ live, conflicts }: World): Seen {
  const { apiVersion: _a, kind: _k, metadata, ...fields } = (live ?? {}) as JsonObject
  const { name: _n, managedFields, ...meta } = (metadata ?? {}) as JsonObject
  const managers = runToCompletion(readManagers(managedFields as unknown as ManagedFieldsEntry[] | undefined)) ?? []
  const titled = managers.map((manager) => [titleOf(manager), manager] as const)
  return {
    object: { ...(Object.keys(meta).length === 0 ? {} : { metadata: meta }), ...fields },
    owners: Object.fromEntries(titled.map(([title, { fields: set }]) => [title, pathsOf(set).map(pathText).sort()])),
    times: Object.fromEntries(titled.map(([title, { time }]) => [title, time])),
    conflicts: conflicts.map(({ manager, path }) => `${manager.name}: ${pathText(path)}`).sort(),
  }
}

function titleOf({ name, operation, subresource }: { name: string; operation: string; subresource: string }): string {
  const verb = operation === 'Apply' ? 'applies' : 'updates'
  return `${name} ${verb}${subresource === '' ? '' : ` ${subresource}`}`
}

/** Returns every field of the set as a list of path elements. */
function pathsOf(set: FieldSet, prefix: readonly string[] = []): string[][] {
  const steps = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1))
  const here = steps.filter(([, branch]) => branch.member).map(([step]) => [...prefix, step])
  return [...here, ...steps.flatMap(([step, branch]) => pathsOf(branch, [...prefix, step]))]
}

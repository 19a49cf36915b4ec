/**
 * Server-side apply: the object and its managers after a manager applied a configuration, or the conflicts.
 *
 *   state    which places the configuration states                     stated-set.ts
 *   merge    the configuration over the object                         merge-config.ts
 *   prune    what the manager stated before and states no more         prune.ts
 *   compare  what that changes                                         compare.ts
 *   contest  who else owns something that is changed                   conflicts.ts
 *   manage   the managers afterwards                                   managed-fields.ts
 *
 * A pure function on JSON: the body as parsed, not decoded and not defaulted (defaults belong to nobody). It promises
 * that applying the same again changes nothing, and that an apply that changes no field gives back the very object it
 * was given. Decoding, defaults, admission and validation of the merged object are the caller's.
 */
import { badRequest } from '../model/api-error.ts'
import { isObject, type Json, type JsonObject, own } from '../model/json.ts'
import { type ApiObject, asJson, type ManagedFieldsEntry } from '../model/object.ts'
import type { Vendor } from '../model/vendor.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { beforeFirstApply } from './before-first-apply.ts'
import { type Comparison, compare, isUnchanged } from './compare.ts'
import { type Conflict, conflictsOf, contested } from './conflicts.ts'
import { difference, type FieldSet, isEmpty, sameSet, setOf, union } from './field-set.ts'
import { followsLastApplied, lastAppliedSet, withLastApplied } from './last-applied.ts'
import { type Manager, sameManager, storedManagers, type Writer, withFields, writeManagers } from './managed-fields.ts'
import { mergeConfig } from './merge-config.ts'
import { ownable, withoutManagers, writable, writableChanges } from './ownable.ts'
import { prune } from './prune.ts'
import { reconcileManagers } from './reconcile.ts'
import { statedSet } from './stated-set.ts'

export interface ApplyRequest {
  readonly schema: ObjectSchema
  readonly vendor: Vendor
  /** The kind's object before it exists. */
  readonly empty: ApiObject
  /** What is stored, in the version applied to; undefined: the apply creates the object. */
  readonly live: ApiObject | undefined
  /** The body as parsed. */
  readonly config: Json
  readonly writer: Writer
  readonly force: boolean
  /** Top-level fields that this way of writing cannot set: they are neither owned nor contested. */
  readonly readOnly: readonly string[]
  /** For kinds whose versions differ in form: the object in another version; undefined when there is no such version. */
  readonly inVersion?: InVersion
}

export type InVersion = (
  object: JsonObject,
  apiVersion: string,
) => { readonly schema: ObjectSchema; readonly object: JsonObject } | undefined

export type Applied =
  | {
      readonly outcome: 'applied'
      /** `live` itself when no field changed; else merged but neither decoded nor defaulted, without managedFields. */
      readonly object: JsonObject
      readonly managedFields: readonly ManagedFieldsEntry[]
    }
  | { readonly outcome: 'conflict'; readonly conflicts: readonly Conflict[] }

export function applyObject(request: ApplyRequest): Applied {
  const plan = makePlan(request)
  const conflicts = request.force ? [] : withoutGranted(plan, findConflicts(plan))
  return conflicts.length > 0 ? { outcome: 'conflict', conflicts } : settle(plan)
}

/** Everything that is known before anybody is asked. */
interface Plan extends ApplyRequest {
  readonly config: JsonObject
  readonly current: JsonObject
  readonly merged: JsonObject
  /** What this manager will own. */
  readonly own: FieldSet
  readonly self: Manager | undefined
  readonly others: readonly Manager[]
  /** What changes, in the version that a manager wrote in; undefined when that version is gone. */
  readonly changesIn: (apiVersion: string) => Comparison | undefined
}

function makePlan(request: ApplyRequest): Plan {
  const { schema, live, empty, writer, readOnly } = request
  const config = checkedConfig(request)
  const stated = writable(statedSet(schema, config), readOnly)
  const current = withoutManagers(live ?? empty)
  const managers = managersOf(request, current)
  const self = managers.find((manager) => sameManager(manager, { ...writer, operation: 'Apply' }))
  const others = managers.filter((manager) => manager !== self)
  const laid = mergeConfig(schema, current, config) as JsonObject
  const merged = withoutDropped(request, laid, { stated, self, others })
  const changesIn = comparisons(request, current, merged)
  return { ...request, config, current, merged, own: ownable(stated), self, others, changesIn }
}

/** The parts of the body that would make no sense in any apply. */
function checkedConfig({ config, writer }: ApplyRequest): JsonObject {
  if (!isObject(config)) throw badRequest('the applied body must be an object')
  const version = own(config, 'apiVersion') ?? ''
  if (version !== writer.apiVersion)
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${version}, expected: ${writer.apiVersion}`,
    )
  const metadata = own(config, 'metadata')
  const managers = isObject(metadata) ? own(metadata, 'managedFields') : undefined
  if (managers !== undefined && managers !== null) throw badRequest('metadata.managedFields must be nil')
  return config
}

function managersOf({ schema, live, empty, writer, readOnly }: ApplyRequest, current: JsonObject): Manager[] {
  if (live === undefined) return []
  const managers = storedManagers(live)
  if (managers.length > 0) return reconcileManagers(schema, managers)
  return beforeFirstApply({ schema, empty: asJson(empty), live: current, writer, readOnly })
}

interface Owners {
  readonly stated: FieldSet
  readonly self: Manager | undefined
  readonly others: readonly Manager[]
}

/** Takes away what this manager has dropped since it applied last, in the version that it applied in. */
function withoutDropped(request: ApplyRequest, merged: JsonObject, { stated, self, others }: Owners): JsonObject {
  if (self === undefined || isEmpty(difference(self.fields, stated))) return merged
  const owned = others.reduce((all, manager) => union(all, manager.fields), union(stated, identifying))
  const last = self.fields
  const { schema, inVersion, writer } = request
  if (inVersion === undefined || self.apiVersion === writer.apiVersion)
    return prune(schema, merged, { last, owned }) as JsonObject
  const then = inVersion(merged, self.apiVersion)
  if (then === undefined) return merged
  const pruned = prune(then.schema, then.object, { last, owned }) as JsonObject
  return pruned === then.object ? merged : (inVersion(pruned, writer.apiVersion)?.object ?? merged)
}

/** Whatever happens, an object keeps its name. */
const identifying = setOf(['f:apiVersion'], ['f:kind'], ['f:metadata', 'f:name'])

function comparisons(request: ApplyRequest, current: JsonObject, merged: JsonObject): Plan['changesIn'] {
  const { schema, writer, readOnly, inVersion } = request
  const own = writableChanges(compare(schema, current, merged), readOnly)
  const known = new Map<string, Comparison | undefined>([[writer.apiVersion, own]])
  return (apiVersion) => {
    if (inVersion === undefined || isUnchanged(own)) return own
    if (!known.has(apiVersion)) known.set(apiVersion, compareIn(inVersion, apiVersion))
    return known.get(apiVersion)
  }

  function compareIn(convert: InVersion, apiVersion: string): Comparison | undefined {
    const before = convert(current, apiVersion)
    const after = convert(merged, apiVersion)
    if (before === undefined || after === undefined) return undefined
    return writableChanges(compare(before.schema, before.object, after.object), readOnly)
  }
}

function findConflicts({ schema, current, merged, others, changesIn }: Plan): Conflict[] {
  return others.flatMap((manager) => {
    const changes = changesIn(manager.apiVersion)
    if (changes === undefined || isUnchanged(changes)) return []
    return conflictsOf({ schema, live: current, asked: merged, manager, fields: contested(manager, changes) })
  })
}

/** Without the conflicts about what the manager itself applied on the client's side. */
function withoutGranted(plan: Plan, conflicts: readonly Conflict[]): readonly Conflict[] {
  if (conflicts.length === 0 || !followsLastApplied(plan.writer)) return conflicts
  const granted = lastAppliedSet(plan.schema, plan.current, plan.vendor)
  return conflicts.filter(({ path }) => !isEmpty(difference(setOf(path), granted)))
}

/** The outcome, with every conflict decided for the applier. */
function settle(plan: Plan): Applied {
  const { live, empty, self, others, own, writer, changesIn } = plan
  const same = isUnchanged(changesIn(writer.apiVersion)!)
  const left = others.flatMap((manager) => withoutLost(manager, changesIn(manager.apiVersion)))
  const kept = same && self !== undefined && self.apiVersion === writer.apiVersion && sameSet(self.fields, own)
  const mine: Manager = kept ? self : { ...writer, operation: 'Apply', fields: own }
  const object = same ? asJson(live ?? empty) : plan.merged
  return {
    outcome: 'applied',
    object: followsLastApplied(writer) ? withLastApplied(object, plan.config, plan.vendor) : object,
    managedFields: writeManagers([...left, mine]),
  }
}

/** Nobody keeps what the apply took or removed; managers of versions that are gone vanish. */
function withoutLost(manager: Manager, changes: Comparison | undefined): Manager[] {
  if (changes === undefined) return []
  if (isUnchanged(changes)) return [manager]
  const lost = union(contested(manager, changes), changes.removed)
  return [withFields(manager, difference(manager.fields, lost))]
}

/**
 * Server-side apply: the object and its managers after a manager applied a configuration, or the conflicts.
 *
 *   state    which places the configuration states                     stated-set.ts
 *   merge    the configuration over the object                         merge-config.ts
 *   prune    what the manager stated before and not any more         drop-unstated.ts
 *   compare  what that changes                                         compare.ts
 *   contest  who else owns something that is changed                   conflicts.ts
 *   manage   the managers afterwards                                   managed-fields.ts
 *
 * A pure function on JSON: the body as parsed, not decoded and not defaulted (defaults belong to nobody). It promises
 * that applying the same again changes nothing, and that an apply that changes no field gives back the very object it
 * was given. Decoding, defaults, admission and validation of the merged object are the caller's.
 *
 * `applySteps` yields between its parts, each of which goes once through the object: that takes a while where it is
 * large.
 */
import { runToCompletion, type Steps } from '../../base/concurrency/time-slice.ts'
import { isObject, type Json, type JsonObject, own } from '../json/json.ts'
import { badRequest } from '../model/api-error.ts'
import { type ApiObject, asJson, type ManagedFieldsEntry } from '../model/object.ts'
import type { Vendor } from '../model/vendor.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { beforeFirstApply } from './before-first-apply.ts'
import { type Changes, changeInVersions, type FieldChange, type OtherVersions } from './change.ts'
import { isUnchanged } from './compare.ts'
import { conflictsOf, type FieldConflict } from './conflicts.ts'
import { dropUnstated } from './drop-unstated.ts'
import {
  covers,
  difference,
  differenceSteps,
  type FieldSet,
  intersection,
  intersectionSteps,
  isLargeSet,
  sameSetSteps,
  setOf,
} from './field-set.ts'
import { refuseKeyless } from './keyless.ts'
import { followsLastApplied, lastAppliedSet, withLastApplied } from './last-applied.ts'
import { type Manager, sameManager, storedManagers, type Writer, withFields, writeManagers } from './managed-fields.ts'
import { mergeConfigSteps } from './merge-config.ts'
import { ownable, withoutManagers, withoutReadOnly, writable } from './ownable.ts'
import { reconcileManagers, schemaInVersions } from './reconcile.ts'
import { statedSteps } from './stated-set.ts'

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
  /** Fields, by path, that this way of writing cannot set: they are neither owned nor contested. */
  readonly readOnly: readonly string[]
  /** Whether the configuration came as one of another kind, such as Scale: then the rest of the object does not count. */
  readonly view?: boolean
  /** For kinds whose versions differ in form. */
  readonly versions?: OtherVersions | undefined
}

/** The merged object, or the conflicts that prevent it. */
export type Applied =
  | {
      readonly outcome: 'applied'
      /** `live` itself when no field changed; else merged but neither decoded nor defaulted, without managedFields. */
      readonly object: JsonObject
      readonly managedFields: readonly ManagedFieldsEntry[]
    }
  | { readonly outcome: 'conflict'; readonly conflicts: readonly FieldConflict[] }

/** Applies a configuration over the live object. A conflict is a value, not an error. */
export function applyObject(request: ApplyRequest): Applied {
  return runToCompletion(applySteps(request))
}

/** The same, with a yield wherever it can be interrupted. */
export function* applySteps(request: ApplyRequest): Steps<Applied> {
  const plan = yield* makePlan(request)
  yield
  const conflicts = request.force ? [] : withoutGranted(plan, yield* findConflicts(plan))
  yield
  return conflicts.length > 0 ? { outcome: 'conflict', conflicts } : yield* settle(plan)
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
  /** The change as it looks in the version that a manager wrote in; undefined when that version is gone. */
  readonly changeIn: (apiVersion: string) => FieldChange | undefined
}

function* makePlan(request: ApplyRequest): Steps<Plan> {
  const { schema, live, empty, writer, readOnly, versions } = request
  const config = checkedConfig(request)
  yield* refuseKeyless(schema, config, 'the applied configuration')
  const stated = writable(yield* statedSteps(schema, config), readOnly)
  yield
  const current = withoutManagers(live ?? empty)
  if (!request.view) yield* refuseKeyless(schema, current, 'the object, which can still be updated or patched,')
  const managers = yield* managersOf(request, current)
  yield
  const self = managers.find((manager) => sameManager(manager, { ...writer, operation: 'Apply' }))
  const others = managers.filter((manager) => manager !== self)
  // What a later write cannot set may still be set when the object is made.
  const merging = live === undefined ? config : withoutReadOnly(config, readOnly)
  const laid = (yield* mergeConfigSteps(schema, current, merging)) as JsonObject
  yield
  const before = self && withFields(self, writable(self.fields, readOnly))
  const merged = yield* dropUnstated({ ...request, merged: laid, stated, self: before, others })
  yield
  const { apiVersion } = writer
  const change = { schema, apiVersion, before: current, after: merged, readOnly, versions, managers }
  const changeIn = yield* changeInVersions(change)
  return { ...request, config, current, merged, own: ownable(stated), self, others, changeIn }
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

function* managersOf(request: ApplyRequest, current: JsonObject): Steps<Manager[]> {
  const { schema, live, empty, writer, readOnly } = request
  if (live === undefined) return []
  const managers = yield* storedManagers(live)
  yield
  if (managers.length > 0) return yield* reconcileManagers(schemaInVersions({ ...request, ...writer }), managers)
  return yield* beforeFirstApply({ schema, empty: asJson(empty), live: current, writer, readOnly })
}

function* findConflicts({ others, changeIn }: Plan): Steps<FieldConflict[]> {
  const conflicts: FieldConflict[] = []
  for (const manager of others) {
    const change = changeIn(manager.apiVersion)
    if (change === undefined || isUnchanged(change.changes)) continue
    const { schema, before: live, after: asked, changes } = change
    const { set } = changes
    const fields = isLargeSet(set) ? yield* intersectionSteps(manager.fields, set) : intersection(manager.fields, set)
    for (const found of yield* conflictsOf({ schema, live, asked, manager, fields })) conflicts.push(found)
  }
  return conflicts
}

/** Without the conflicts about what the manager itself applied on the client's side. */
function withoutGranted(plan: Plan, conflicts: readonly FieldConflict[]): readonly FieldConflict[] {
  if (conflicts.length === 0 || !followsLastApplied(plan.writer)) return conflicts
  const granted = lastAppliedSet(plan.schema, plan.current, plan.vendor)
  return conflicts.filter(({ path }) => !covers(granted, setOf(path)))
}

/** The outcome, with every conflict decided for the applier. */
function* settle(plan: Plan): Steps<Applied> {
  const { live, empty, self, others, own, writer, changeIn } = plan
  const same = isUnchanged(changeIn(writer.apiVersion)!.changes)
  const left: Manager[] = []
  for (const manager of others) {
    const changes = changeIn(manager.apiVersion)?.changes
    if (changes !== undefined) left.push(isUnchanged(changes) ? manager : yield* withoutLost(manager, changes))
  }
  const kept =
    same && self !== undefined && self.apiVersion === writer.apiVersion && (yield* sameSetSteps(self.fields, own))
  const mine: Manager = kept ? self : { ...writer, operation: 'Apply', fields: own }
  const object = same ? asJson(live ?? empty) : plan.merged
  return {
    outcome: 'applied',
    object: followsLastApplied(writer) ? withLastApplied(object, plan.config, plan.vendor) : object,
    managedFields: yield* writeManagers([...left, mine]),
  }
}

/** Nobody keeps what the apply took or removed; managers of versions that are gone vanish. */
function* withoutLost(manager: Manager, { touched }: Changes): Steps<Manager> {
  const { fields } = manager
  return withFields(manager, isLargeSet(fields) ? yield* differenceSteps(fields, touched) : difference(fields, touched))
}

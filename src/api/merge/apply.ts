/**
 * Server-side apply: returns either the object and its managers after a manager has applied a configuration, or the
 * conflicts.
 *
 *   state    determine the fields of the configuration                  config-field-set.ts
 *   merge    merge the configuration into the object                    merge-config.ts
 *   prune    remove fields that the manager no longer applies           drop-unstated.ts
 *   compare  determine the changed fields                               compare.ts
 *   contest  find other managers that own changed fields                conflicts.ts
 *   manage   compute the new managers                                   managed-fields.ts
 *
 * Apply is a pure function on JSON. Its input is the parsed body before decoding and defaulting, because defaults have
 * no owner. Applying the same configuration again changes nothing, and an apply that changes no field returns the same
 * object instance. The caller decodes, defaults, admits and validates the merged object.
 *
 * `applySliced` yields between its parts, because large objects take a long time to process. Each part traverses the
 * object once.
 */
import { runToCompletion, type Sliced } from '../../base/concurrency/time-slice.ts'
import { isObject, type Json, type JsonObject, own } from '../json/json.ts'
import { badRequest } from '../model/api-error.ts'
import { type ApiObject, asJson, type ManagedFieldsEntry } from '../model/object.ts'
import type { Vendor } from '../model/vendor.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { type EmulatedVersion, isAtLeast, oldestVersion } from '../versions/emulated-version.ts'
import { beforeFirstApply } from './before-first-apply.ts'
import { type Changes, changeInVersions, type FieldChange, type OtherVersions } from './change.ts'
import { isUnchanged } from './compare.ts'
import { configFieldSetSliced } from './config-field-set.ts'
import { conflictsOf, type FieldConflict } from './conflicts.ts'
import { dropUnstated } from './drop-unstated.ts'
import { refuseDuplicates, rejectsDuplicates } from './duplicate-elements.ts'
import { hasSameOrder } from './element-order.ts'
import {
  covers,
  difference,
  differenceSliced,
  type FieldSet,
  intersection,
  intersectionSliced,
  isLargeSet,
  sameSetSliced,
  setOf,
} from './field-set.ts'
import { refuseKeyless } from './keyless-elements.ts'
import { followsLastApplied, lastAppliedSet, withLastApplied } from './last-applied.ts'
import { type Manager, sameManager, storedManagers, type Writer, withFields, writeManagers } from './managed-fields.ts'
import { mergeConfigSliced } from './merge-config.ts'
import { ownable, withoutManagers, withoutReadOnly, writable } from './ownable-fields.ts'
import { reconcileManagers, schemaInVersions } from './reconcile.ts'

export interface ApplyRequest {
  readonly schema: ObjectSchema
  readonly vendor: Vendor
  /** The initial object for an apply that creates an object. It contains none of the kind's own fields. */
  readonly empty: ApiObject
  /** The stored object, in the applied version. Undefined if the apply creates the object. */
  readonly live: ApiObject | undefined
  /** Body of the apply request, parsed but not decoded. */
  readonly config: Json
  readonly writer: Writer
  readonly force: boolean
  /** Paths of fields that this write must ignore, such as `status` in a write to the main resource. */
  readonly readOnly: readonly string[]
  /**
   * Whether the configuration applies to a view of the object, such as Scale. Fields outside the view are left
   * unchanged.
   */
  readonly view?: boolean
  /** Converts between versions of the kind. Undefined if all versions have the same structure. */
  readonly versions?: OtherVersions | undefined
  /** The emulated Kubernetes version. Defaults to the oldest supported version. */
  readonly emulated?: EmulatedVersion | undefined
}

/** The outcome of an apply: the merged object, or the conflicts that prevented it. */
export type Applied =
  | {
      readonly outcome: 'applied'
      /**
       * The merged object, without managedFields and before decoding and defaulting. If no field changes, this is
       * `live` itself.
       */
      readonly object: JsonObject
      readonly managedFields: readonly ManagedFieldsEntry[]
    }
  | { readonly outcome: 'conflict'; readonly conflicts: readonly FieldConflict[] }

/** Applies a configuration to the live object. Conflicts are returned rather than thrown. */
export function applyObject(request: ApplyRequest): Applied {
  return runToCompletion(applySliced(request))
}

/** Like `applyObject`, but yields periodically so that other work can run. */
export function* applySliced(request: ApplyRequest): Sliced<Applied> {
  const plan = yield* makePlan(request)
  yield
  const conflicts = request.force ? [] : withoutGranted(plan, yield* findConflicts(plan))
  yield
  return conflicts.length > 0 ? { outcome: 'conflict', conflicts } : yield* settle(plan)
}

/** An apply before conflict detection: the merged object, and what each manager owns. */
interface Plan extends ApplyRequest {
  readonly config: JsonObject
  readonly current: JsonObject
  readonly merged: JsonObject
  /** Fields that this manager owns after the apply. */
  readonly own: FieldSet
  readonly self: Manager | undefined
  readonly others: readonly Manager[]
  /** Returns the change in the version that a manager used, or undefined if that version no longer exists. */
  readonly changeIn: (apiVersion: string) => FieldChange | undefined
}

function* makePlan(request: ApplyRequest): Sliced<Plan> {
  const { schema, live, empty, writer, readOnly, versions } = request
  const config = checkedConfig(request)
  yield* refuseKeyless(schema, config, 'the applied configuration')
  const configFields = writable(yield* configFieldSetSliced(schema, config), readOnly)
  yield
  const current = withoutManagers(live ?? empty)
  if (!request.view) yield* refuseKeyless(schema, current, 'the object, which can still be updated or patched,')
  if (!request.view && rejectsDuplicates(request.emulated ?? oldestVersion)) yield* refuseDuplicates(schema, current)
  const managers = yield* managersOf(request, current)
  yield
  const self = managers.find((manager) => sameManager(manager, { ...writer, operation: 'Apply' }))
  const others = managers.filter((manager) => manager !== self)
  // Ignore read-only fields on updates. Some of them can be set on creation.
  const merging = live === undefined ? config : withoutReadOnly(config, readOnly)
  const laid = (yield* mergeConfigSliced(schema, current, merging)) as JsonObject
  yield
  const before = self && withFields(self, writable(self.fields, readOnly))
  const merged = yield* dropUnstated({ ...request, merged: laid, configFields, self: before, others })
  yield
  const { apiVersion } = writer
  const change = { schema, apiVersion, before: current, after: merged, readOnly, versions, managers }
  const changeIn = yield* changeInVersions(change)
  return { ...request, config, current, merged, own: ownable(configFields), self, others, changeIn }
}

/** Parses the configuration, and rejects bodies that no apply accepts. */
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

function* managersOf(request: ApplyRequest, current: JsonObject): Sliced<Manager[]> {
  const { schema, live, empty, writer, readOnly } = request
  if (live === undefined) return []
  const managers = yield* storedManagers(live)
  yield
  if (managers.length > 0) return yield* reconcileManagers(schemaInVersions({ ...request, ...writer }), managers)
  return yield* beforeFirstApply({ schema, empty: asJson(empty), live: current, writer, readOnly })
}

function* findConflicts({ others, changeIn }: Plan): Sliced<FieldConflict[]> {
  const conflicts: FieldConflict[] = []
  for (const manager of others) {
    const change = changeIn(manager.apiVersion)
    if (change === undefined || isUnchanged(change.changes)) continue
    const { schema, before: live, after: requested, changes } = change
    const { set } = changes
    const fields = isLargeSet(set) ? yield* intersectionSliced(manager.fields, set) : intersection(manager.fields, set)
    for (const conflict of yield* conflictsOf({ schema, live, requested, manager, fields })) conflicts.push(conflict)
  }
  return conflicts
}

/** Removes conflicts about fields that the same manager owns because of a client-side apply. */
function withoutGranted(plan: Plan, conflicts: readonly FieldConflict[]): readonly FieldConflict[] {
  if (conflicts.length === 0 || !followsLastApplied(plan.writer)) return conflicts
  const granted = lastAppliedSet(plan.schema, plan.current, plan.vendor)
  return conflicts.filter(({ path }) => !covers(granted, setOf(path)))
}

/** Completes an apply without conflicts: computes the new managers, or returns the object unchanged. */
function* settle(plan: Plan): Sliced<Applied> {
  const { live, empty, self, others, own, writer, changeIn } = plan
  const same = isUnchanged(changeIn(writer.apiVersion)!.changes) && (yield* isInOrder(plan))
  const remainingManagers: Manager[] = []
  for (const manager of others) {
    const changes = changeIn(manager.apiVersion)?.changes
    if (changes !== undefined)
      remainingManagers.push(isUnchanged(changes) ? manager : yield* withoutLost(manager, changes))
  }
  const unchangedManager =
    same && self !== undefined && self.apiVersion === writer.apiVersion && (yield* sameSetSliced(self.fields, own))
  const mine: Manager = unchangedManager
    ? self
    : { ...writer, time: same ? unchangedTime(plan) : writer.time, operation: 'Apply', fields: own }
  const object = same ? asJson(live ?? empty) : plan.merged
  return {
    outcome: 'applied',
    object: followsLastApplied(writer) ? withLastApplied(object, plan.config, plan.vendor) : object,
    managedFields: yield* writeManagers([...remainingManagers, mine]),
  }
}

/**
 * Whether the merged list elements have the same order as before. Since 1.31, an apply that only moves list elements
 * changes the object.
 */
function* isInOrder({ schema, current, merged, emulated = oldestVersion }: Plan): Sliced<boolean> {
  return !isAtLeast(emulated, '1.31') || (yield* hasSameOrder(schema, current, merged))
}

/**
 * Returns the time to record for an apply that changes no field. Since 1.24, the recorded time remains unchanged in
 * this case.
 */
function unchangedTime({ self, writer, emulated = oldestVersion }: Plan): string | undefined {
  return isAtLeast(emulated, '1.24') ? self?.time : writer.time
}

/** Removes from another manager's set the fields that the apply changed or removed. */
function* withoutLost(manager: Manager, { touched }: Changes): Sliced<Manager> {
  const { fields } = manager
  return withFields(
    manager,
    isLargeSet(fields) ? yield* differenceSliced(fields, touched) : difference(fields, touched),
  )
}

/**
 * After a write other than apply, determines ownership from the difference between the objects before and after the
 * write.
 *
 * The writing manager becomes the owner of every field that it added or modified. Removed fields have no owner. An
 * object without managers is not tracked until its first apply. A client can edit the managers: the list that it sends
 * replaces them if it is valid and not empty. A list with one empty entry removes all managers. In 1.23, the writer
 * then becomes the owner of the fields that the same write changes (spec: apply, rule 6). Since 1.24, as in Kubernetes,
 * an empty list also removes all managers, and the object is no longer tracked. Before 1.29, objects with duplicate
 * list elements are not tracked either.
 */
import { runToCompletion, type Sliced } from '../../base/concurrency/time-slice.ts'
import type { ApiObject, ManagedFieldsEntry, ObjectMeta } from '../model/object.ts'
import { isExplicitlyEmpty } from '../schema/explicit-empty.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { type EmulatedVersion, isAtLeast, oldestVersion } from '../versions/emulated-version.ts'
import { type Changes, changeInVersions, type OtherVersions } from './change.ts'
import { isUnchanged } from './compare.ts'
import { findDuplicate, rejectsDuplicates } from './duplicate-elements.ts'
import {
  coversSliced,
  difference,
  differenceSliced,
  emptySet,
  type FieldSet,
  isEmpty,
  isLargeSet,
  sameSet,
  sameSetSliced,
  union,
} from './field-set.ts'
import { foldUpdaters } from './fold-updaters.ts'
import {
  type Manager,
  type ManagerId,
  readManagers,
  sameManager,
  storedManagers,
  type Writer,
  withFields,
  writeManagers,
} from './managed-fields.ts'
import { ownable, withoutManagers } from './ownable-fields.ts'
import { reconcileManagers, schemaInVersions } from './reconcile.ts'

export interface UpdateToTrack {
  readonly schema: ObjectSchema
  /** The object before the write. For a new object, an empty object of the kind. */
  readonly before: ApiObject
  readonly after: ApiObject
  readonly writer: Writer
  /** Paths of fields that this write must ignore, such as `status` in a write to the main resource. */
  readonly readOnly: readonly string[]
  readonly create: boolean
  /** Converts between versions of the kind. Undefined if all versions have the same structure. */
  readonly versions?: OtherVersions | undefined
  /** The emulated Kubernetes version. Defaults to the oldest supported version. */
  readonly emulated?: EmulatedVersion | undefined
}

/** Returns the managedFields of `after`. Undefined if the object is not tracked. */
export function trackUpdate(update: UpdateToTrack): ManagedFieldsEntry[] | undefined {
  return runToCompletion(trackSliced(update))
}

/** Like `trackUpdate`, but yields periodically. Each part traverses the object once. */
export function* trackSliced(update: UpdateToTrack): Sliced<ManagedFieldsEntry[] | undefined> {
  const { schema, writer, readOnly, versions } = update
  const managers = yield* currentManagers(update)
  if (managers === undefined) return undefined
  yield
  const { apiVersion } = writer
  const before = withoutManagers(update.before)
  const after = withoutManagers(update.after)
  if (rejectsDuplicates(update.emulated ?? oldestVersion) && (yield* findDuplicate(schema, after)) !== undefined)
    return undefined
  const changeIn = yield* changeInVersions({ schema, apiVersion, before, after, readOnly, versions, managers })
  yield
  const reconciledManagers = yield* reconcileManagers(schemaInVersions({ schema, apiVersion, versions }), managers)
  yield
  const renewsTime = isAtLeast(update.emulated ?? oldestVersion, '1.25')
  const next = yield* takeChanges(reconciledManagers, (version) => changeIn(version)?.changes, {
    ...writer,
    renewsTime,
  })
  yield
  return yield* writeManagers(foldUpdaters(next))
}

/** Returns the managers before the write. Undefined if the object is not tracked. */
function* currentManagers(update: UpdateToTrack): Generator<void, Manager[] | undefined> {
  const { before, after, writer, create } = update
  if (create) return []
  const sent = writer.subresource === '' ? after.metadata : undefined
  if (isAtLeast(update.emulated ?? oldestVersion, '1.24')) {
    if (hasEmptyEntry(sent) || isExplicitlyEmpty(sent, 'managedFields')) return undefined
  } else if (hasEmptyEntry(sent)) return []
  const managers = (yield* readSent(sent?.managedFields)) ?? (yield* storedManagers(before))
  return managers.length > 0 ? managers : undefined
}

/**
 * Reads the managers that the client sent. Returns undefined if the client sent no managers or invalid ones. In that
 * case, the stored managers are kept.
 */
function* readSent(sent: readonly ManagedFieldsEntry[] | undefined): Generator<void, Manager[] | undefined> {
  const managers = yield* readManagers(sent)
  return managers !== undefined && managers.length > 0 ? managers : undefined
}

/** Whether the client sent a list with one empty entry, which requests the removal of all entries. */
function hasEmptyEntry(metadata: ObjectMeta | undefined): boolean {
  const entries = metadata?.managedFields
  return entries?.length === 1 && Object.keys(entries[0]!).length === 0
}

/**
 * The manager that an update records. Before 1.25, the recorded time changes only if the set of owned fields changes,
 * not if their values change.
 */
interface TakingWriter extends Writer {
  readonly renewsTime?: boolean
}

/**
 * Returns the managers after the given changes by a writer. The changes can be computed in any version. Managers of
 * versions that no longer exist are dropped. Yields periodically.
 */
export function* takeChanges(
  managers: readonly Manager[],
  changesIn: (apiVersion: string) => Changes | undefined,
  { renewsTime = false, ...writer }: TakingWriter,
): Generator<void, Manager[]> {
  const changes = changesIn(writer.apiVersion)!
  if (isUnchanged(changes)) return [...managers]
  const changedFields = ownable(changes.set)
  const writing: ManagerId = { ...writer, operation: 'Update' }
  const isWriter = (manager: Manager) => sameManager(manager, writing)
  // Fast path for most updates: a sole owner that removes nothing keeps its fields.
  const [only] = managers
  if (
    managers.length === 1 &&
    isWriter(only!) &&
    isEmpty(changes.removed) &&
    (yield* coversSliced(only!.fields, changedFields))
  )
    return isEmpty(changedFields) || !renewsTime ? [only!] : [{ ...only!, time: writer.time }]
  const remainingManagers: Manager[] = []
  for (const manager of managers) {
    const theirs = changesIn(manager.apiVersion)
    if (theirs !== undefined) remainingManagers.push(yield* withoutChanged(manager, theirs))
  }
  if (isEmpty(changedFields)) return remainingManagers
  const ownedFields = remainingManagers.find(isWriter)?.fields ?? emptySet
  const fields = union(ownedFields, changedFields)
  yield
  const former = managers.find(isWriter)
  const keepsTime = !renewsTime && (yield* isStill(former, fields))
  const own = keepsTime ? former! : ({ ...writer, operation: 'Update', fields } as const)
  return [...remainingManagers.filter((manager) => !isWriter(manager)), own]
}

/** Removes fields from a manager's set if another manager changed or removed them. */
function* withoutChanged(manager: Manager, changes: Changes): Generator<void, Manager> {
  const { fields } = manager
  const { touched } = changes
  return withFields(
    manager,
    isLargeSet(fields) ? yield* differenceSliced(fields, touched) : difference(fields, touched),
  )
}

function* isStill(former: Manager | undefined, fields: FieldSet): Generator<void, boolean> {
  if (former === undefined) return false
  return isLargeSet(fields) ? yield* sameSetSliced(former.fields, fields) : sameSet(former.fields, fields)
}

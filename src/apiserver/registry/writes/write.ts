/** Defines the context of a write and the commit, which all write verbs share. */

import { storedTextSliced } from '../../../api/codec/sliced-json.ts'
import { encodeSliced, storedJson } from '../../../api/codec/stored.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { trackSliced } from '../../../api/merge/track-update.ts'
import { ApiError, timeout } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, copyWithout } from '../../../api/model/object.ts'
import { formatVersion } from '../../../api/model/resource-version.ts'
import type { User } from '../../../api/model/user.ts'
import { type DroppedField, isSince, type PrepareContext } from '../../../api/schema/context.ts'
import { orderOf, type ReadyToStore } from '../../../api/schema/kind.ts'
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { PartName, Timings } from '../../../base/telemetry/timings.ts'
import type { TraceHeaders } from '../../../base/telemetry/tracing/trace-context.ts'
import { systemClock } from '../../../base/time/clock.ts'
import { type Conflict, StoreError } from '../../../storage/store/store.ts'
import type { Admission } from '../../admission/admission.ts'
import type { AdmissionExplanation } from '../../admission/explanation.ts'
import type { AuditNotes } from '../../audit/record.ts'
import { keyOf, kindRef, type Resource } from '../catalogue/resource.ts'
import { fromStored, otherVersions } from '../reads/conversion.ts'
import { ConversionFailed } from '../reads/conversion-failed.ts'
import { reservationChanges } from '../reservations/reservations.ts'
import { changeNote } from './change-note.ts'
import { storable } from './storable.ts'
import { TypeChanged } from './type-changed.ts'
import type { CommitTerms } from './write-conditions.ts'

/** Maximum number of attempts to commit a write if other writers keep committing first. */
export const maxAttempts = 100

/** The context of a write, which all of its steps share: the target, the user, the options and the callbacks. */
export interface WriteContext {
  /** The storage version of the type. Validation, admission and the store use this version. */
  readonly resource: Resource
  /** The version of the request. Undefined if it is the storage version. */
  readonly through?: Resource | undefined
  /** Namespace of the object, or '' for cluster-scoped kinds. */
  readonly namespace: string
  /** Name of the subresource, or '' for the object itself. */
  readonly subresource: string
  readonly user: User
  /** Whether the server itself is the writer. */
  readonly own?: boolean
  readonly dryRun: boolean
  /** Returns the options that the client sent, in the form that admission webhooks receive. */
  readonly sentOptions: () => JsonObject
  /** The verb to record in the journal. Defaults to create or update. */
  readonly verb?: string | undefined
  /** Name of the field manager. */
  readonly fieldManager: string
  readonly admission: Admission
  /** Collects the decisions of admission plugins. Undefined unless the caller requests an explanation. */
  readonly explanation?: AdmissionExplanation | undefined
  /** The deadline of the request on the monotonic clock. */
  readonly deadline?: number | undefined
  /** Returns the trace headers to send to webhooks. */
  readonly traceHeaders?: (() => TraceHeaders) | undefined
  /** The reason for bypassing webhooks. Undefined unless the caller uses break-glass access. */
  readonly bypass?: string | undefined
  /** Collects audit annotations. Undefined unless the request is audited. */
  readonly audit?: AuditNotes | undefined
  /** Whether the write is part of a deletecollection request. */
  readonly ofCollection?: boolean | undefined
  /** Throws an error if the caller may not create the object. Called if an update creates an object. */
  readonly assertMayCreate: () => void | Promise<void>
  /** Adds a warning to the response. */
  readonly warn: (text: string) => void
  /** Called for each field that is dropped because its feature gate is disabled. */
  readonly onDropped?: ((field: DroppedField) => void) | undefined
  /** Returns a signal that aborts when the caller no longer waits for the response. */
  readonly abandoned: () => AbortSignal
  /** Splits work on large objects into time slices. */
  readonly timeSlice: TimeSlice
  /** Records the durations of the parts of the write, such as admission and the commit. */
  readonly timings?: Timings
}

/** Awaits a promise and records its duration in the timings of the write. */
export function timed<T>({ timings }: WriteContext, name: PartName, pending: Promise<T>): Promise<T> {
  return timings === undefined ? pending : timings.time(name, pending)
}

/**
 * Adds the kind's warnings about a valid object or status. Writes to other subresources cause no warnings, except
 * through views such as Scale.
 */
export function warn(context: WriteContext, object: ApiObject, previous: ApiObject | undefined): void {
  const { resource, subresource, warn: tell } = context
  const { warnings, statusWarnings } = resource.kind.rules
  if (subresource === '' || isView(context))
    for (const text of warnings?.(object, previous, resource.context) ?? []) tell(text)
  else if (subresource === 'status') for (const text of statusWarnings?.(object, resource.context) ?? []) tell(text)
}

/** Returns the version of the request. */
export function versionOf({ resource, through }: WriteContext): Resource {
  return through ?? resource
}

/** Returns whether the request uses a view, a subresource that shows the object as another kind, such as Scale. */
export function isView({ resource, through = resource }: WriteContext): boolean {
  return through.kind.kind !== resource.kind.kind
}

/** Returns the version that managedFields refer to. For a view, this is the storage version. */
function trackedVersion(context: WriteContext): Resource {
  return isView(context) ? context.resource : versionOf(context)
}

/** Returns the group and kind for error messages: the group and kind of the storage version or of the view. */
export function writtenKind(context: WriteContext): { group: string; kind: string } {
  const { resource } = context
  return kindRef(isView(context) && resource.kind.origin === 'built-in' ? versionOf(context) : resource)
}

/** Returns the object with updated managedFields, in the version of the request. */
export async function withManagers(context: WriteContext, before: ApiObject, after: ApiObject): Promise<ApiObject> {
  const version = trackedVersion(context)
  const create = before === context.resource.empty
  const work = trackSliced({
    schema: version.kind.schema,
    before: create ? version.empty : fromStored(version, before),
    after: fromStored(version, after),
    writer: writerOf(context),
    readOnly: readOnlyFields(context),
    create,
    versions: otherVersions(version),
    emulated: version.context.version,
  })
  const entries = await context.timeSlice.run(work).catch((error: unknown) => {
    if (!(error instanceof ConversionFailed)) throw error
    context.warn(`field ownership was not updated by this write: ${error.message}`)
    return before.metadata.managedFields
  })
  const metadata = copyWithout(after.metadata, 'managedFields')
  if (entries !== undefined && entries.length > 0) metadata.managedFields = entries
  return { ...after, metadata }
}

/**
 * Returns the entry for managedFields that identifies the writer. The entry for a view has no time, as in Kubernetes.
 */
export function writerOf(context: WriteContext) {
  const { resource, subresource, fieldManager } = context
  const time = isView(context) ? undefined : resource.time()
  return { name: fieldManager, apiVersion: trackedVersion(context).apiVersion, subresource, time }
}

/** Returns the input for the kind's rules, such as the user and the current time. */
export function prepareContext(write: WriteContext): PrepareContext {
  const { resource, subresource, user, own = false, warn, onDropped } = write
  const prepared = { ...versionOf(write).context, subresource, user, own, warn, now: resource.clock.now() }
  return onDropped === undefined ? prepared : { ...prepared, onDropped }
}

/** Returns the paths of the fields that the write cannot set. */
export function readOnlyFields({ resource, subresource }: WriteContext): readonly string[] {
  if (subresource !== '') {
    const { readOnly = [], laterReadOnly } = resource.kind.views.subresources?.[subresource] ?? {}
    return laterReadOnly !== undefined && isSince(laterReadOnly.since, resource.context)
      ? laterReadOnly.paths
      : readOnly
  }
  return resource.kind.rules.readOnly ?? []
}

/** A committed write. Its JSON is exactly what was stored. */
export interface Stored {
  readonly outcome: 'stored'
  readonly revision: number
  readonly json: Buffer
}

/** The state of the object before a write. */
export interface Replaced {
  /** The stored object. Undefined if the object does not exist. */
  readonly previous: ApiObject | undefined
  /**
   * The revision that the key must have for the commit to succeed. The revision 0 means that the key must be absent.
   */
  readonly expected: number
  /** Preconditions and reservations, in addition to those of the object itself. */
  readonly terms: CommitTerms
}

/** Returns all preconditions and reservations of a commit. */
export function commitTerms(
  resource: Resource,
  { guards, reserves, releases }: CommitTerms,
  { next, previous }: { next: ApiObject | undefined; previous: ApiObject | undefined },
): CommitTerms {
  const held = reservationChanges(resource, next, previous)
  if (held === undefined) return { guards, reserves, releases }
  return { guards, reserves: [...held.reserves, ...reserves], releases: [...held.releases, ...releases] }
}

/**
 * Stores an object. The commit succeeds only if the revision of the key is `expected`, the preconditions are met and
 * the reservations are free.
 */
export async function commitObject(
  context: WriteContext,
  object: ApiObject,
  { previous, expected, terms }: Replaced,
): Promise<Stored | Conflict> {
  const { resource, namespace, timeSlice } = context
  assertKind(resource, object)
  const key = keyOf(resource, namespace, object.metadata.name!)
  const ready = asStored(resource, object, timeSlice)
  const value = await timeSlice.run(
    encodeSliced(key, storable(resource, ready instanceof Promise ? await ready : ready)),
  )
  const lifetimeSeconds = resource.kind.lifecycle.expires ? resource.lifetimeSeconds : undefined
  // A new object contains a generated uid, so no other write has the same bytes.
  const unique = expected === 0
  const all = commitTerms(resource, terms, { next: object, previous })
  const note = changeNote(context, previous, object)
  const write = { key, expected, value, lifetimeSeconds, unique, note, ...all }
  assertInTime(context)
  const result = await timed(context, 'store', resource.store.commit(write))
  timeSlice.begin()
  if (result.outcome === 'conflict') return result
  const { revision } = result
  return { outcome: 'stored', revision, json: storedJson(value, formatVersion(revision), Buffer.allocUnsafe).json }
}

/**
 * Throws an error if the deadline of the request has passed. The client has then received a timeout, so nothing may be
 * stored. A deadline that passes during the commit has no effect. Uses the machine's clock even if a test controls the
 * timestamps in objects.
 */
export function assertInTime({ deadline }: WriteContext): void {
  if (deadline !== undefined && systemClock.monotonic() >= deadline)
    throw timeout('the request did not complete within its time')
}

/**
 * Returns the error for a write that failed after the first of several steps. Replaces errors that clients retry
 * automatically, because a retry would repeat the completed step.
 */
export function failedHalfway(error: unknown, done: string): unknown {
  // Do not replace the error for a changed definition. Dispatch then repeats the request with the new type, which
  // completes the remaining steps.
  if (error instanceof TypeChanged) return error
  const passing =
    error instanceof StoreError || (error instanceof ApiError && error.details?.retryAfterSeconds !== undefined)
  return passing
    ? timeout(`${done}, then the server failed; check the object before you retry`, {}, { cause: error })
    : error
}

/** Throws an error if the object is of another kind. Such an object in the store would break every list. */
function assertKind({ apiVersion, kind }: Resource, object: ApiObject): void {
  if (object.apiVersion !== apiVersion || object.kind !== kind.kind)
    throw new TypeError(`cannot store an object of kind ${object.kind} in ${object.apiVersion} as ${kind.plural}`)
}

/** Prepares an object for storage. A custom object is converted to the storage version of its kind. */
export function asStored(
  { kind }: Resource,
  object: ApiObject,
  timeSlice: TimeSlice,
): ReadyToStore | Promise<ReadyToStore> {
  return kind.evolution === undefined ? { object, completeFor: undefined } : timeSlice.run(kind.evolution.store(object))
}

/**
 * Returns the JSON of an object after a dry run or after its removal. Throws an error if the object could not have been
 * stored.
 */
export async function unstored(
  { resource: { kind }, timeSlice }: Pick<WriteContext, 'resource' | 'timeSlice'>,
  object: ApiObject,
  revision?: number,
): Promise<Buffer> {
  const shown = revision === undefined ? object : withVersion(object, revision)
  return Buffer.from(`${await timeSlice.run(storedTextSliced(asJson(shown), orderOf(kind), 0))}\n`)
}

/** Returns the object with the given store revision as its resourceVersion. */
export function withVersion(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: formatVersion(revision) } }
}

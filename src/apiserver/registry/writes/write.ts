/** What the writing verbs share: who writes and how, and the last step into the store. */

import { storedTextSteps } from '../../../api/codec/json-steps.ts'
import { encodeSteps, type Storable, storedJson } from '../../../api/codec/stored.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { trackSteps } from '../../../api/merge/track-update.ts'
import { ApiError, timeout } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, copyWithout } from '../../../api/model/object.ts'
import { formatVersion } from '../../../api/model/resource-version.ts'
import type { User } from '../../../api/model/user.ts'
import type { DroppedField, PrepareContext } from '../../../api/schema/context.ts'
import { orderOf, type ReadyToStore } from '../../../api/schema/kind.ts'
import type { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { PartName, Timings } from '../../../base/telemetry/timings.ts'
import type { TraceHeaders } from '../../../base/telemetry/tracing/trace-context.ts'
import { systemClock } from '../../../base/time/clock.ts'
import { type Conflict, StoreError } from '../../../storage/store/store.ts'
import type { Admission } from '../../admission/admission.ts'
import type { AdmissionExplanation } from '../../admission/explanation.ts'
import type { AuditNotes } from '../../audit/record.ts'
import { headerOf, keyOf, kindRef, type Resource } from '../catalogue/resource.ts'
import { fromStored, otherVersions } from '../reads/conversion.ts'
import { ConversionFailed } from '../reads/conversion-failed.ts'
import { reservationChanges } from '../reservations/reservations.ts'
import { changeNote } from './change-note.ts'
import { TypeChanged } from './type-changed.ts'
import type { CommitTerms } from './write-conditions.ts'

/** How often a write is tried that others keep beating to it. */
export const maxAttempts = 100

/** What a write needs to know besides the object. */
export interface WriteContext {
  /** The kind in its stored version: what rules, admission and the store are given. */
  readonly resource: Resource
  /** The version that is written through, where that is another one: what the caller sends and is given. */
  readonly through?: Resource | undefined
  /** '' for kinds without namespaces. */
  readonly namespace: string
  /** '' for the object itself, else the subresource written through. */
  readonly subresource: string
  readonly user: User
  /** Whether the server itself writes, and not a client. */
  readonly own?: boolean
  readonly dryRun: boolean
  /** The options that the client sent, as those whom admission asks are shown them. */
  readonly sentOptions: () => JsonObject
  /** What is done, for the journal; create or update where it is left out. */
  readonly verb?: string | undefined
  /** The name under which changes are owned. */
  readonly fieldManager: string
  readonly admission: Admission
  /** Where it is told what the controls made of it, if the caller wants to know. */
  readonly explanation?: AdmissionExplanation | undefined
  /** When its time is over, on the monotonic clock. */
  readonly deadline?: number | undefined
  /** Gives the headers by which those who are asked about it know the trace that it belongs to. */
  readonly traceHeaders?: (() => TraceHeaders) | undefined
  /** Why no webhook is asked, where the caller has broken the glass. */
  readonly bypass?: string | undefined
  /** Where the controls tell the audit what they did, if the request is recorded. */
  readonly audit?: AuditNotes | undefined
  /** Whether its objects are deleted as a collection. */
  readonly ofCollection?: boolean | undefined
  /** Throws unless the caller may create the object too: asked where a change turns out to be a creation. */
  readonly assertMayCreate: () => void | Promise<void>
  /** Warns the caller of something that is not an error. */
  readonly warn: (text: string) => void
  /** Called for every field that the object loses because its feature is off. */
  readonly onDropped?: ((field: DroppedField) => void) | undefined
  /** Gives a signal that aborts when the caller no longer waits for the outcome. */
  readonly abandoned: () => AbortSignal
  /** Work on large objects is done in these. */
  readonly pace: TimeSlice
  /** Where it is noted how long the write waits for what. */
  readonly timings?: Timings
}

/** Waits, and notes how long that took where somebody wants to know. */
export function timed<T>({ timings }: WriteContext, name: PartName, pending: Promise<T>): Promise<T> {
  return timings === undefined ? pending : timings.time(name, pending)
}

/** Passes on the kind's warnings about a valid object. A subresource has none, unless it writes the object as Scale does. */
export function warn(context: WriteContext, object: ApiObject, previous: ApiObject | undefined): void {
  const { resource, subresource, warn: tell } = context
  if (subresource !== '' && !isView(context)) return
  for (const text of resource.kind.rules.warnings?.(object, previous, resource.context) ?? []) tell(text)
}

/** The version of the kind that is written through. */
export function versionOf({ resource, through }: WriteContext): Resource {
  return through ?? resource
}

/** Whether it is written through a view of another kind, such as Scale. */
export function isView({ resource, through = resource }: WriteContext): boolean {
  return through.kind.kind !== resource.kind.kind
}

/** The version in whose fields ownership is recorded: a view has no record of its own. */
function trackedVersion(context: WriteContext): Resource {
  return isView(context) ? context.resource : versionOf(context)
}

/** What errors about the object call it: a kind goes by the group that it is stored in. */
export function writtenKind(context: WriteContext): { group: string; kind: string } {
  const { resource } = context
  return kindRef(isView(context) && resource.kind.origin === 'built-in' ? versionOf(context) : resource)
}

/** Records who owns what after this write, in the version that is written through. */
export async function withManagers(context: WriteContext, before: ApiObject, after: ApiObject): Promise<ApiObject> {
  const version = trackedVersion(context)
  const create = before === context.resource.empty
  const work = trackSteps({
    schema: version.kind.schema,
    before: create ? version.empty : fromStored(version, before),
    after: fromStored(version, after),
    writer: writerOf(context),
    readOnly: readOnlyFields(context),
    create,
    versions: otherVersions(version),
  })
  const entries = await context.pace.run(work).catch((error: unknown) => {
    if (!(error instanceof ConversionFailed)) throw error
    context.warn(`who owns which field is as it was before this write: ${error.message}`)
    return before.metadata.managedFields
  })
  const metadata = copyWithout(after.metadata, 'managedFields')
  if (entries !== undefined && entries.length > 0) metadata.managedFields = entries
  return { ...after, metadata }
}

/** The writer as managedFields know it. */
export function writerOf(context: WriteContext) {
  const { resource, subresource, fieldManager } = context
  return { name: fieldManager, apiVersion: trackedVersion(context).apiVersion, subresource, time: resource.time() }
}

/** What the kind's own rules need to know of this write. */
export function prepareContext(write: WriteContext): PrepareContext {
  const { resource, subresource, user, own = false, onDropped } = write
  const prepared = { ...versionOf(write).context, subresource, user, own, now: resource.clock.now() }
  return onDropped === undefined ? prepared : { ...prepared, onDropped }
}

/** Fields, by path, that this way of writing cannot set. */
export function readOnlyFields({ resource, subresource }: WriteContext): readonly string[] {
  if (subresource !== '') return resource.kind.views.subresources?.[subresource]?.readOnly ?? []
  return resource.kind.rules.readOnly ?? []
}

/** A write that is stored, as the JSON that the client is answered with: the very bytes that were stored. */
export interface Stored {
  readonly outcome: 'stored'
  readonly revision: number
  readonly json: Buffer
}

/** What an object takes the place of. */
export interface Replaced {
  /** What is stored; undefined: nothing. */
  readonly previous: ApiObject | undefined
  /** The revision that the key must be at; 0: absent. */
  readonly expected: number
  /** What the write rests on, and what it takes and releases beyond what the object holds. */
  readonly terms: CommitTerms
}

/** All that a commit rests on, takes and releases. */
export function commitTerms(
  resource: Resource,
  { guards, takes, releases }: CommitTerms,
  { next, previous }: { next: ApiObject | undefined; previous: ApiObject | undefined },
): CommitTerms {
  const held = reservationChanges(resource, next, previous)
  if (held === undefined) return { guards, takes, releases }
  return { guards, takes: [...held.takes, ...takes], releases: [...held.releases, ...releases] }
}

/**
 * Stores the object if its key is still at `expected`, what it rests on at the revisions given, and what it is to hold
 * free.
 */
export async function commitObject(
  context: WriteContext,
  object: ApiObject,
  { previous, expected, terms }: Replaced,
): Promise<Stored | Conflict> {
  const { resource, namespace, pace } = context
  assertKind(resource, object)
  const key = keyOf(resource, namespace, object.metadata.name!)
  const ready = asStored(resource, object, pace)
  const value = await pace.run(encodeSteps(key, storable(resource, ready instanceof Promise ? await ready : ready)))
  const lifetimeSeconds = resource.kind.life.expires ? resource.lifetimeSeconds : undefined
  // A new object has a uid that was drawn for it.
  const unique = expected === 0
  const all = commitTerms(resource, terms, { next: object, previous })
  const note = changeNote(context, previous, object)
  const write = { key, expected, value, lifetimeSeconds, unique, note, ...all }
  assertInTime(context)
  const result = await timed(context, 'store', resource.store.commit(write))
  if (result.outcome === 'conflict') return result
  const { revision } = result
  return { outcome: 'stored', revision, json: storedJson(value, formatVersion(revision), Buffer.allocUnsafe).json }
}

/**
 * Throws if the time of the request is over: its client is answered with a timeout, so nothing is stored any more. A
 * deadline that passes while the store commits is not noticed. Deadlines are on the clock of the machine, also where a
 * test moves the clock of the objects.
 */
export function assertInTime({ deadline }: WriteContext): void {
  if (deadline !== undefined && systemClock.monotonic() >= deadline)
    throw timeout('the request did not complete within its time')
}

/**
 * What to throw when a write of several steps fails after the first: an error that says "try again" would make clients
 * repeat by themselves what is done already.
 */
export function failedHalfway(error: unknown, done: string): unknown {
  // What is left is done by the type as it is now.
  if (error instanceof TypeChanged) return error
  const passing =
    error instanceof StoreError || (error instanceof ApiError && error.details?.retryAfterSeconds !== undefined)
  return passing ? timeout(`${done}, then the server failed; look before you try again`, {}, { cause: error }) : error
}

/** Every way in has seen to it that the object is of its kind; one that is not would spoil every list. */
function assertKind({ apiVersion, kind }: Resource, object: ApiObject): void {
  if (object.apiVersion !== apiVersion || object.kind !== kind.kind)
    throw new TypeError(`an object of kind ${object.kind} in ${object.apiVersion} is not stored among ${kind.plural}`)
}

function storable(resource: Resource, { object, completeFor }: ReadyToStore): Storable {
  return { object, order: orderOf(resource.kind), header: { ...headerOf(resource, object), completeFor } }
}

/** The object in the form that is stored: custom kinds have a version for that. */
export function asStored({ kind }: Resource, object: ApiObject, pace: TimeSlice): ReadyToStore | Promise<ReadyToStore> {
  return kind.evolution === undefined ? { object, completeFor: undefined } : pace.run(kind.evolution.store(object))
}

/** The JSON of an object that is not stored: a dry run, or one that is gone. Refuses what would not be stored. */
export async function unstored(
  { resource: { kind }, pace }: Pick<WriteContext, 'resource' | 'pace'>,
  object: ApiObject,
  revision?: number,
): Promise<Buffer> {
  const shown = revision === undefined ? object : withVersion(object, revision)
  return Buffer.from(`${await pace.run(storedTextSteps(asJson(shown), orderOf(kind), 0))}\n`)
}

/** The object with the revision of the store as its version. */
export function withVersion(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: formatVersion(revision) } }
}

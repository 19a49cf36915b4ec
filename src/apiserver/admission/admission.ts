/**
 * Admission: a look at every write before it is stored. A control may change the object, refuse it, or both. The chain
 * runs them in order: first all that may change the object, then, on the object as it would be stored, all that judge
 * it. `controls/all.ts` lists the controls there are.
 */

import type { JsonObject } from '../../api/json/json.ts'
import { ApiError } from '../../api/model/api-error.ts'
import type { StoredType } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { User } from '../../api/model/user.ts'
import { groupName, type Vendor } from '../../api/model/vendor.ts'
import type { TraceHeaders } from '../../base/telemetry/tracing/trace-context.ts'
import type { AuditNotes } from '../audit/record.ts'
import type { Claims, Dependency, Ending } from './commit-terms.ts'
import type { AdmissionExplanation, ControlChange } from './explanation.ts'
import type { ObjectForms } from './object-forms.ts'

/** What is done to the object, in the words of admission reviews. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A kind and its resource type, as on the wire. */
export interface AdmittedType {
  /** '' for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

/** A write or a connection that is to be admitted. `T` is the type of the object, undefined where there is none. */
export interface AdmissionRequest<T = ApiObject | undefined> {
  readonly operation: AdmissionOperation
  readonly vendor: Vendor
  /** The type in which controls see the object: the stored version. */
  readonly type: AdmittedType
  /** The type that the client asked for, which may be another version of the same. */
  readonly requested: AdmittedType
  /** How those outside of this program are shown the object. */
  readonly forms: ObjectForms
  /** '' for the object itself. */
  readonly subresource: string
  /** '' for kinds without namespaces. */
  readonly namespace: string
  readonly name: string
  /** Whether it is one of a collection that is deleted: then the request itself names no object. */
  readonly ofCollection?: boolean | undefined
  /** While a name that was drawn may still be drawn anew: the prefix, by which refusals call the object. */
  readonly drawnFrom?: string | undefined
  readonly user: User
  readonly dryRun: boolean
  /** The options that the client sent, without their type. Undefined for CONNECT, which has none. */
  readonly options: (() => JsonObject) | undefined
  /** When admission of this attempt at the write began, on the monotonic clock; undefined: with each phase anew. */
  readonly began?: number | undefined
  /** When the time of the request is over, on the monotonic clock of the machine; undefined: never. */
  readonly deadline?: number | undefined
  /** Returns a signal that aborts when nobody waits for the outcome any more. */
  readonly abandoned?: (() => AbortSignal) | undefined
  /** Gives the headers by which those who are asked about it know the trace that it belongs to. */
  readonly traceHeaders?: (() => TraceHeaders) | undefined
  /** Why no webhook is asked, where the caller has broken the glass. */
  readonly bypass?: string | undefined
  /** Where it is noted for the audit, if the request is recorded. */
  readonly audit?: AuditNotes | undefined
  /**
   * A control that decides by the state of another object says so here: the write then happens only if that object is
   * still at this revision, else everything is decided again. Where it is absent the most recent state must be looked
   * up.
   */
  readonly dependOn?: ((state: Dependency) => void) | undefined
  /**
   * A control that keeps account of the object elsewhere notes here what the commit of the write is to take and release
   * in the same step, where the object is stored by it or removed. Absent where nothing is stored.
   */
  readonly commitWith?: ((ending: Ending, claims: Claims) => void) | undefined
  /**
   * A control that has changed something elsewhere, or is to do so once the write has happened, says here what to do
   * when its outcome is known: what was charged is given back if the write failed. Absent where nothing is stored, as
   * on a dry run: there a control changes nothing.
   */
  readonly onOutcome?: ((settle: Settle) => void) | undefined
  /** Collects what the controls do with the write, if the client wants to know. */
  readonly explanation?: AdmissionExplanation | undefined
  /** Whether the controls have all been asked before, and what they are asked now was changed by a webhook since. */
  readonly again?: boolean | undefined
  /** Warns the client of something that is not an error. */
  readonly warn: (text: string) => void
  /** The new object; for CONNECT the options of the connection; undefined for DELETE. */
  readonly object: T
  /** The stored object; undefined for CREATE and CONNECT. A copy, frozen: nobody can change what is stored by it. */
  readonly oldObject: Exclude<T, undefined> | undefined
}

/** Does what is left to do after a write. Never fails: the write has its answer already. */
export type Settle = (outcome: WriteOutcome) => void | Promise<void>

/**
 * How a write ended. `removed`: there is no object any more. `failed`: nothing has changed. `unknown`: the store's
 * answer was lost, so it may be either.
 */
export type WriteOutcome = 'stored' | 'removed' | 'failed' | 'unknown'

/** The whole chain, as the registry sees it. */
export interface Admission {
  /** May change the object; throws ApiError to refuse. Undefined: it is as it was. */
  mutate(request: AdmissionRequest): Promise<ApiObject | undefined>
  /** Throws ApiError to refuse. */
  validate(request: AdmissionRequest): Promise<void>
}

/**
 * One control of the chain, under the name that users know it by. A control of certain kinds names their type, as
 * `Control<Pod>` does: the chain asks it only about requests that it handles, so its methods may take narrower
 * requests.
 */
export interface Control<T = ApiObject | undefined> {
  readonly name: string
  readonly handles: Handled<T>
  /**
   * Whether it asks others, outside of this program. What they have made of the object the built-in controls have not
   * seen, so all are asked once more; and refusals are in their words.
   */
  readonly asksOthers?: boolean
  /** Whether it has nothing to do at present, whatever the request: then it is not asked. */
  readonly isIdle?: () => boolean
  /**
   * Whether it keeps an account of what there is. It then hears of what the server deletes of its own accord too, which
   * no other control is asked about, and refuses no deletion.
   */
  readonly accounts?: boolean
  /**
   * Returns the object to go on with, or undefined where it stays as it is; throws ApiError to refuse. `memory` is the
   * same object both times that a control is asked about a write: what it must know the second time it keeps by that.
   */
  mutate?(request: AdmissionRequest<T>, memory: WeakKey): ApiObject | undefined | Promise<ApiObject | undefined>
  /** Throws ApiError to refuse. */
  validate?(request: AdmissionRequest<T>): void | Promise<void>
}

/** Which requests a control is asked about. */
export interface Handled<T = unknown> {
  readonly operations: readonly AdmissionOperation[]
  /** By the short ids of groups; every type where it is left out. */
  readonly types?: readonly StoredType<Exclude<T, undefined>>[]
  /** '' is the object itself; every sub-resource and the object where it is left out. */
  readonly subresources?: readonly string[]
}

/** Controls that decide at once are not waited for. */
export function chain(controls: readonly Control[], vendor: Vendor): Admission {
  const mutating = prepare(controls, 'mutate', vendor)
  const validating = prepare(controls, 'validate', vendor)
  return {
    mutate: async (request) => {
      const controls = mutating[request.operation](request)
      const changes: ControlChange[] = []
      request.explanation?.begin(changes)
      const { object, byOthers } = await mutateOnce(controls, request, changes)
      return byOthers ? (await mutateOnce(controls, { ...request, object, again: true }, changes)).object : object
    },
    validate: async (request) => {
      for (const control of validating[request.operation](request)) {
        if (control.isIdle?.()) continue
        const pending = asking(control, 'validate', request)
        if (pending !== undefined) await pending
      }
    },
  }
}

/**
 * Lets each control change the object in turn, and notes what it changes; `byOthers` says whether one outside of this
 * program has.
 */
async function mutateOnce(controls: readonly Control[], request: AdmissionRequest, changes: ControlChange[]) {
  let current = request
  let byOthers = false
  for (const control of controls) {
    if (control.isIdle?.()) continue
    const answer = asking(control, 'mutate', current, changes)
    const object = answer instanceof Promise ? await answer : answer
    if (object === undefined || object === current.object) continue
    byOthers ||= control.asksOthers === true
    changes.push({ control: control.name, before: current.object, after: object })
    current = { ...current, object }
  }
  return { object: current.object, byOthers }
}

/** Calls a control. A refusal names the control: in its message where the wording is ours, and in the explanation. */
function asking<P extends 'mutate' | 'validate'>(
  control: Control,
  phase: P,
  request: AdmissionRequest,
  memory: WeakKey = request,
): Answer<P> {
  const { explanation } = request
  if (explanation !== undefined) return traced(control, phase, { request, memory, explanation }) as Answer<P>
  try {
    const answer = control[phase]!(request, memory) as Answer<P>
    return answer instanceof Promise
      ? (answer.catch((error) => refusedBy(control, request, error)) as Answer<P>)
      : answer
  } catch (error) {
    return refusedBy(control, request, error)
  }
}

interface Traced {
  readonly request: AdmissionRequest
  readonly memory: WeakKey
  readonly explanation: AdmissionExplanation
}

/** The same for a client that wants to know which controls saw the write, and for how long. */
async function traced(control: Control, step: 'mutate' | 'validate', { request, memory, explanation }: Traced) {
  const began = performance.now()
  const note = (said?: string) =>
    explanation.looked({
      ...{ control: control.name, step, ms: performance.now() - began },
      ...(said === undefined ? {} : { said }),
    })
  try {
    const answer = await control[step]!(request, memory)
    note()
    return answer
  } catch (error) {
    note(error instanceof ApiError ? error.message : 'failed')
    return refusedBy(control, request, error)
  }
}

type Answer<P extends 'mutate' | 'validate'> = ReturnType<NonNullable<Control[P]>>

function refusedBy({ name, asksOthers }: Control, { explanation }: AdmissionRequest, error: unknown): never {
  if (!(error instanceof ApiError)) throw error
  if (explanation !== undefined) explanation.refusedBy = name
  if (error.code !== 403 || asksOthers || error.message.includes(name)) throw error
  const message = `${error.message} (refused by the admission control ${name})`
  throw new ApiError(error.code, error.reason, message, error.details, { cause: error })
}

/** The controls that are asked about a request, in their order. */
type Asked = (request: AdmissionRequest) => readonly Control[]

/** Those of one phase by operation. */
function prepare(controls: readonly Control[], phase: 'mutate' | 'validate', vendor: Vendor) {
  const acting = controls.filter((control) => control[phase] !== undefined)
  const forOperation = (operation: AdmissionOperation): Asked =>
    askedAmong(
      acting.filter(({ handles }) => handles.operations.includes(operation)),
      vendor,
    )
  return {
    CREATE: forOperation('CREATE'),
    UPDATE: forOperation('UPDATE'),
    DELETE: forOperation('DELETE'),
    CONNECT: forOperation('CONNECT'),
  }
}

/** Found once per type and sub-resource, so that a request meets only those that concern it. */
function askedAmong(controls: readonly Control[], vendor: Vendor): Asked {
  const known = new WeakMap<AdmittedType, Map<string, readonly Control[]>>()
  return ({ type, subresource }) => {
    const ofType = known.get(type) ?? new Map<string, readonly Control[]>()
    const found = ofType.get(subresource)
    if (found !== undefined) return found
    const asked = controls.filter(({ handles }) => concerns(handles, { type, subresource, vendor }))
    known.set(type, ofType.set(subresource, asked))
    return asked
  }
}

interface Concern extends Pick<AdmissionRequest, 'type' | 'subresource'> {
  readonly vendor: Vendor
}

function concerns({ types, subresources }: Handled, { type, subresource, vendor }: Concern): boolean {
  const ofType = types?.some(({ group, plural }) => plural === type.plural && groupName(vendor, group) === type.group)
  return ofType !== false && (subresources === undefined || subresources.includes(subresource))
}

/** For what the server itself writes. */
export const admitAll: Admission = { mutate: async ({ object }) => object, validate: async () => {} }

/**
 * Admission: checks every write before it is stored. A control may change the object, reject it, or both. The chain
 * runs all mutating controls in order, then all validating controls on the object as it would be stored.
 * `controls/all.ts` lists all controls.
 */

import type { JsonObject } from '../../api/json/json.ts'
import { ApiError } from '../../api/model/api-error.ts'
import type { StoredType } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { User } from '../../api/model/user.ts'
import { groupName, type Vendor } from '../../api/model/vendor.ts'
import type { TraceHeaders } from '../../base/telemetry/tracing/trace-context.ts'
import type { AuditNotes } from '../audit/record.ts'
import type { Dependency, Ending, KeyReservations } from './commit-terms.ts'
import type { AdmissionExplanation, ControlChange } from './explanation.ts'
import type { ObjectForms } from './object-forms.ts'

/** Operations, named as in admission reviews. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A kind and its resource type, with the names that the API uses. */
export interface AdmittedType {
  /** Name of the group, or '' for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

/** A write or a connection to admit. `T` is the type of the object, or undefined if there is no object. */
export interface AdmissionRequest<T = ApiObject | undefined> {
  readonly operation: AdmissionOperation
  readonly vendor: Vendor
  /** The type of the object that controls see. It is the storage version. */
  readonly type: AdmittedType
  /** The type of the request, which may be another version. */
  readonly requested: AdmittedType
  /** The representations of the object for webhooks. */
  readonly forms: ObjectForms
  /** Name of the subresource, or '' for the object itself. */
  readonly subresource: string
  /** Namespace of the object, or '' for cluster-scoped kinds. */
  readonly namespace: string
  readonly name: string
  /** Whether the object is deleted as part of a collection. If so, the request itself names no object. */
  readonly ofCollection?: boolean | undefined
  /**
   * The generateName prefix, as long as another name may still be generated. Rejections show it as the name of the
   * object.
   */
  readonly drawnFrom?: string | undefined
  readonly user: User
  readonly dryRun: boolean
  /** Returns the options that the client sent, without their type. Undefined for CONNECT. */
  readonly options: (() => JsonObject) | undefined
  /**
   * Monotonic time at which this attempt to admit the write started. If undefined, each phase measures its own time.
   */
  readonly began?: number | undefined
  /** Deadline of the request on the machine's monotonic clock, or undefined if there is none. */
  readonly deadline?: number | undefined
  /** Returns a signal that aborts when the caller no longer waits for the request. */
  readonly abandoned?: (() => AbortSignal) | undefined
  /** Returns the trace headers to send to webhooks. */
  readonly traceHeaders?: (() => TraceHeaders) | undefined
  /** Reason why webhooks are bypassed. Only set if the caller used break-glass access. */
  readonly bypass?: string | undefined
  /** Collects audit annotations. Undefined if the request is not recorded. */
  readonly audit?: AuditNotes | undefined
  /**
   * Makes the write depend on the state of another object: the commit succeeds only if that object still has this
   * revision. Otherwise, admission runs again. If this function is undefined, the control must look up the latest
   * state.
   */
  readonly dependOn?: ((state: Dependency) => void) | undefined
  /**
   * Adds keys that the commit creates if it stores the object and deletes if it removes the object. Used by controls
   * that keep account of objects. Absent if nothing is stored.
   */
  readonly commitWith?: ((ending: Ending, reservations: KeyReservations) => void) | undefined
  /**
   * Registers a callback for the outcome of the write. Controls use it to undo or complete changes elsewhere, for
   * example to release charged quota if the write failed. Undefined if nothing is stored, as in a dry run. In that
   * case, controls must not change anything.
   */
  readonly onOutcome?: ((settle: Settle) => void) | undefined
  /** Collects the decisions of the controls. Undefined if the client wants no explanation. */
  readonly explanation?: AdmissionExplanation | undefined
  /** Whether this is the second round, which runs after a webhook has changed the object. */
  readonly again?: boolean | undefined
  /** Adds a warning to the response. */
  readonly warn: (text: string) => void
  /** The new object. For CONNECT, the connection options. Undefined for DELETE. */
  readonly object: T
  /** A frozen copy of the stored object, or undefined for CREATE and CONNECT. */
  readonly oldObject: Exclude<T, undefined> | undefined
}

/** Completes work after a write. It must not fail, because the outcome of the write is already decided. */
export type Settle = (outcome: WriteOutcome) => void | Promise<void>

/**
 * Outcome of a write. `removed` means that the object no longer exists, `failed` that nothing has changed, and
 * `unknown` that the store's response was lost, so the write may have happened.
 */
export type WriteOutcome = 'stored' | 'removed' | 'failed' | 'unknown'

/** The chain of all controls, as used by the registry. */
export interface Admission {
  /**
   * Runs the mutating phase. Returns the changed object, or undefined if it is unchanged. Throws ApiError to reject the
   * write.
   */
  mutate(request: AdmissionRequest): Promise<ApiObject | undefined>
  /** Runs the validating phase. Throws ApiError to reject the write. */
  validate(request: AdmissionRequest): Promise<void>
}

/**
 * An admission control with its public name. A control for certain kinds names their type, such as `Control<Pod>`. The
 * chain calls it only for requests that it handles, so its methods may accept narrower requests.
 */
export interface Control<T = ApiObject | undefined> {
  readonly name: string
  readonly handles: Handled<T>
  /**
   * Whether the control calls webhooks. If a webhook changes the object, all controls run once more, because built-in
   * controls have not seen the change. The control's rejections contain the webhook's own text.
   */
  readonly asksOthers?: boolean
  /** Whether the control can be skipped because it currently affects no request. */
  readonly isIdle?: () => boolean
  /**
   * Whether the control keeps account of existing objects. If so, it also sees deletions by the server itself, which
   * skip all other controls, and must not reject deletions.
   */
  readonly accounts?: boolean
  /**
   * Changes the object. Returns the changed object, or undefined if nothing changes. Throws ApiError to reject the
   * write. `memory` is the same object in both rounds of a write, so that a control can keep state for the second
   * round.
   */
  mutate?(request: AdmissionRequest<T>, memory: WeakKey): ApiObject | undefined | Promise<ApiObject | undefined>
  /** Checks the request. Throws ApiError to reject the write. */
  validate?(request: AdmissionRequest<T>): void | Promise<void>
}

/** The requests that a control handles. */
export interface Handled<T = unknown> {
  readonly operations: readonly AdmissionOperation[]
  /** Types by group id. If undefined, the control handles all types. */
  readonly types?: readonly StoredType<Exclude<T, undefined>>[]
  /** Subresources, where '' is the object itself. If undefined, the control handles all subresources. */
  readonly subresources?: readonly string[]
}

/** Creates the chain of controls. Results of synchronous controls are not awaited. */
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

/** Runs each mutating control in turn and records its changes. `byOthers` is true if a webhook changed the object. */
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

/**
 * Calls a control. The explanation of a rejection always names the control. The message names it if the text is from
 * this server.
 */
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

/** Calls a control like `asking`, but also records which controls ran and for how long. */
async function traced(control: Control, step: 'mutate' | 'validate', { request, memory, explanation }: Traced) {
  const began = performance.now()
  const note = (said?: string) =>
    explanation.looked({
      control: control.name,
      step,
      ms: performance.now() - began,
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
  const message = `${error.message} (rejected by the admission plugin ${name})`
  throw new ApiError(error.code, error.reason, message, error.details, { cause: error })
}

/** Returns the controls that handle a request, in order. */
type ControlsFor = (request: AdmissionRequest) => readonly Control[]

/** Prepares the controls of one phase by operation. */
function prepare(controls: readonly Control[], phase: 'mutate' | 'validate', vendor: Vendor) {
  const acting = controls.filter((control) => control[phase] !== undefined)
  const forOperation = (operation: AdmissionOperation): ControlsFor =>
    controlSelector(
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

/** Caches the controls per type and subresource, so that a request runs only those that apply to it. */
function controlSelector(controls: readonly Control[], vendor: Vendor): ControlsFor {
  const controlsByType = new WeakMap<AdmittedType, Map<string, readonly Control[]>>()
  return ({ type, subresource }) => {
    const ofType = controlsByType.get(type) ?? new Map<string, readonly Control[]>()
    const matchingControls = ofType.get(subresource)
    if (matchingControls !== undefined) return matchingControls
    const asked = controls.filter(({ handles }) => concerns(handles, { type, subresource, vendor }))
    controlsByType.set(type, ofType.set(subresource, asked))
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

/** Admits everything. Used for the server's own writes. */
export const admitAll: Admission = { mutate: async ({ object }) => object, validate: async () => {} }

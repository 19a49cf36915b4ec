/**
 * Admission checks every write before it is stored. An admission plugin may change the object or reject the write. The
 * chain runs all mutating plugins in order, then all validating plugins on the object as it would be stored.
 * `controls/all.ts` lists all plugins.
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

/** The admission operations, with the names that AdmissionReview uses. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The type that a request acts on: its kind and its resource type. */
export interface AdmittedType {
  /** Name of the group, or '' for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

/**
 * Describes a write or a CONNECT request for the admission plugins. `T` is the type of its object, or undefined if
 * there is none.
 */
export interface AdmissionRequest<T = ApiObject | undefined> {
  readonly operation: AdmissionOperation
  readonly vendor: Vendor
  /** Resource type of the object in its storage version. Plugins receive the object in this version. */
  readonly type: AdmittedType
  /** Resource type in the client's request, whose version can differ from the storage version. */
  readonly requested: AdmittedType
  /** The API versions in which webhooks can receive the object. */
  readonly forms: ObjectForms
  /** Name of the subresource, or '' for the object itself. */
  readonly subresource: string
  /** Namespace of the object, or '' for cluster-scoped kinds. */
  readonly namespace: string
  readonly name: string
  /** Whether the request deletes a collection that contains the object. Such a request names no object. */
  readonly ofCollection?: boolean | undefined
  /**
   * The generateName prefix, if the server may still replace the generated name. Error messages then contain the
   * prefix, because the server may choose a different name.
   */
  readonly drawnFrom?: string | undefined
  readonly user: User
  readonly dryRun: boolean
  /**
   * Returns the options of the write, such as DeleteOptions, without their apiVersion and kind. Undefined for CONNECT.
   */
  readonly options: (() => JsonObject) | undefined
  /**
   * Monotonic time when this attempt to admit the write started. If undefined, each phase measures time from its own
   * start.
   */
  readonly began?: number | undefined
  /** Deadline of the request, measured by the machine's monotonic clock. Undefined if the request has no deadline. */
  readonly deadline?: number | undefined
  /** Returns a signal that aborts when the caller no longer waits for the request. */
  readonly abandoned?: (() => AbortSignal) | undefined
  /** Returns the trace headers to send to webhooks. */
  readonly traceHeaders?: (() => TraceHeaders) | undefined
  /** The client's reason for bypassing webhooks (break-glass). Undefined if webhooks are called. */
  readonly bypass?: string | undefined
  /** Collects audit annotations. Undefined if the request is not audited. */
  readonly audit?: AuditNotes | undefined
  /**
   * Makes the write depend on another object: the commit succeeds only if the other object still has the given
   * revision. Otherwise admission runs again. If undefined, plugins must read the latest state from the store.
   */
  readonly dependOn?: ((state: Dependency) => void) | undefined
  /**
   * Adds keys to the commit. The commit creates these keys if it stores the object, and deletes them if it removes the
   * object. The quota plugin records pending refunds in this way. Undefined if the request stores nothing.
   */
  readonly commitWith?: ((ending: Ending, reservations: KeyReservations) => void) | undefined
  /**
   * Registers a callback for the outcome of the write. Plugins use the callback to undo or complete side effects, for
   * example to refund a quota if the write failed. Undefined if the request stores nothing, as in a dry run. In that
   * case, plugins must not have side effects.
   */
  readonly onOutcome?: ((settle: Settle) => void) | undefined
  /** Collects the decisions of each plugin. Undefined if the client did not request an explanation. */
  readonly explanation?: AdmissionExplanation | undefined
  /** Whether all plugins are running a second time because a webhook changed the object. */
  readonly again?: boolean | undefined
  /** Adds a warning to the response. */
  readonly warn: (text: string) => void
  /** The new object. For CONNECT, the connection options. Undefined for DELETE. */
  readonly object: T
  /** A frozen copy of the stored object, or undefined for CREATE and CONNECT. */
  readonly oldObject: Exclude<T, undefined> | undefined
}

/**
 * Runs when the outcome of a write is known, to complete or undo side effects of admission. The callback must not
 * throw, because the outcome is final.
 */
export type Settle = (outcome: WriteOutcome) => void | Promise<void>

/**
 * Outcome of a write. `removed` means that the object no longer exists. `failed` means that nothing has changed.
 * `unknown` means that the store's response was lost, so the write may have succeeded.
 */
export type WriteOutcome = 'stored' | 'removed' | 'failed' | 'unknown'

/** The chain of all admission plugins. The registry calls the chain for every write. */
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
 * An admission plugin with its public name. A plugin for certain kinds declares them as a type argument, as in
 * `Control<Pod>`. The chain calls a plugin only for the requests that the plugin handles, so its methods may accept
 * narrower request types.
 */
export interface Control<T = ApiObject | undefined> {
  readonly name: string
  readonly handles: Handled<T>
  /**
   * Whether the plugin calls webhooks. If a webhook changes the object, all plugins run once more, because the
   * built-in plugins have not checked the change. The error messages of such a plugin contain the webhook's message.
   */
  readonly asksOthers?: boolean
  /** Whether the chain can skip the plugin because the plugin's current configuration affects no request. */
  readonly isIdle?: () => boolean
  /**
   * Whether the plugin tracks data about existing objects, such as their quota usage. Such a plugin also runs for
   * deletions by the server itself, for which all other plugins are skipped. The plugin must not reject deletions.
   */
  readonly accounts?: boolean
  /**
   * Changes the object. Returns the changed object, or undefined if nothing changes. Throws ApiError to reject the
   * write. Both admission rounds of a write pass the same `memory` object, so that a plugin can keep state for the
   * second round.
   */
  mutate?(request: AdmissionRequest<T>, memory: WeakKey): ApiObject | undefined | Promise<ApiObject | undefined>
  /** Checks the request. Throws ApiError to reject the write. */
  validate?(request: AdmissionRequest<T>): void | Promise<void>
}

/** The operations and resource types that a plugin handles. */
export interface Handled<T = unknown> {
  readonly operations: readonly AdmissionOperation[]
  /** Resource types by group name. If undefined, the plugin handles all types. */
  readonly types?: readonly StoredType<Exclude<T, undefined>>[]
  /** Subresources, where '' is the object itself. If undefined, the plugin handles all subresources. */
  readonly subresources?: readonly string[]
}

/** Creates the chain of admission plugins. Does not await the results of synchronous plugins. */
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

/** Runs each mutating plugin in turn and records its changes. `byOthers` is true if a webhook changed the object. */
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
 * Calls a plugin. If the plugin rejects the request, adds its name to the explanation. If the message comes from this
 * server rather than from a webhook, also adds the name to the error message.
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

/** Calls a plugin and adds its name, duration and result to the explanation. */
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

/** Returns the plugins that handle a request, in execution order. */
type ControlsFor = (request: AdmissionRequest) => readonly Control[]

/** Returns, for each admission operation, a function that selects the plugins to run in one phase. */
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

/**
 * Returns a function that selects the plugins for a request. The selection is cached per resource type and
 * subresource.
 */
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

/** An admission chain without plugins, for the server's own writes. */
export const admitAll: Admission = { mutate: async ({ object }) => object, validate: async () => {} }

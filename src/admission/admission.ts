/**
 * Admission: a look at every write before it is stored. A control may change the object, refuse it, or both. The chain
 * runs them in order: first all that may change the object, then, on the object as it would be stored, all that judge
 * it. `controls/all.ts` lists the controls there are.
 */
import type { ApiObject } from '../model/object.ts'
import type { User } from '../model/user.ts'
import { groupName, type Vendor } from '../model/vendor.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A kind and its resource type, as on the wire. */
export interface AdmittedType {
  /** '' for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

export interface AdmissionRequest {
  readonly operation: AdmissionOperation
  readonly vendor: Vendor
  /** The type in which controls see the object: the stored version. */
  readonly type: AdmittedType
  /** The type that the client asked for, which may be another version of the same. */
  readonly requested: AdmittedType
  /** '' for the object itself. */
  readonly subresource: string
  /** '' for kinds without namespaces. */
  readonly namespace: string
  readonly name: string
  /** While a name that was drawn may still be drawn anew: the prefix, by which refusals call the object. */
  readonly drawnFrom?: string | undefined
  readonly user: User
  readonly dryRun: boolean
  /** The options of the request, as their kind says them: CreateOptions, UpdateOptions, PatchOptions, DeleteOptions. Undefined for CONNECT. */
  readonly options: RequestOptions | undefined
  /**
   * A control that decides by the state of another object says so here: the write then happens only if that object is
   * still at this revision, else everything is decided again. Where it is absent the most recent state must be looked
   * up.
   */
  readonly restOn?: ((state: { readonly key: string; readonly revision: number }) => void) | undefined
  /** Warns the client of something that is not an error. */
  readonly warn: (text: string) => void
  /** The new object; for CONNECT the options of the connection; undefined for DELETE. */
  readonly object: ApiObject | undefined
  /** The stored object; undefined for CREATE. Nobody changes it. */
  readonly oldObject: ApiObject | undefined
}

export interface RequestOptions {
  readonly kind: string
  readonly fieldManager: string
  readonly dryRun: boolean
}

export interface Admission {
  /** May change the object; throws ApiError to refuse. Undefined: it is as it was. */
  mutate(request: AdmissionRequest): Promise<ApiObject | undefined>
  /** Throws ApiError to refuse. */
  validate(request: AdmissionRequest): Promise<void>
}

/** One control of the chain, under the name that users know it by. */
export interface Control {
  readonly name: string
  readonly handles: Handled
  /** Gives the object to go on with, or undefined where it stays as it is; throws ApiError to refuse. */
  readonly mutate?: (request: AdmissionRequest) => ApiObject | undefined | Promise<ApiObject | undefined>
  /** Throws ApiError to refuse. */
  readonly validate?: (request: AdmissionRequest) => void | Promise<void>
}

/** Which requests a control is asked about. */
export interface Handled {
  readonly operations: readonly AdmissionOperation[]
  /** By the short ids of groups; every type where it is left out. */
  readonly types?: readonly { readonly group: string; readonly plural: string }[]
  /** '' is the object itself; every sub-resource and the object where it is left out. */
  readonly subresources?: readonly string[]
}

/** Controls that decide at once are not waited for. */
export function chain(controls: readonly Control[], vendor: Vendor): Admission {
  const mutating = prepare(controls, 'mutate', vendor)
  const validating = prepare(controls, 'validate', vendor)
  return {
    mutate: async (request) => {
      let { object } = request
      for (const { control, isAsked } of mutating[request.operation]) {
        if (!isAsked(request)) continue
        const answer = control.mutate!(object === request.object ? request : { ...request, object })
        object = (answer instanceof Promise ? await answer : answer) ?? object
      }
      return object
    },
    validate: async (request) => {
      for (const { control, isAsked } of validating[request.operation]) {
        if (!isAsked(request)) continue
        const pending = control.validate!(request)
        if (pending !== undefined) await pending
      }
    },
  }
}

interface Prepared {
  readonly control: Control
  readonly isAsked: (request: AdmissionRequest) => boolean
}

/** The controls of one phase by operation, so that a request only meets those that may concern it. */
function prepare(controls: readonly Control[], phase: 'mutate' | 'validate', vendor: Vendor) {
  const acting = controls.filter((control) => control[phase] !== undefined)
  const forOperation = (operation: AdmissionOperation): Prepared[] =>
    acting
      .filter(({ handles }) => handles.operations.includes(operation))
      .map((control) => ({ control, isAsked: asks(control.handles, vendor) }))
  return {
    CREATE: forOperation('CREATE'),
    UPDATE: forOperation('UPDATE'),
    DELETE: forOperation('DELETE'),
    CONNECT: forOperation('CONNECT'),
  }
}

function asks({ types, subresources }: Handled, vendor: Vendor): Prepared['isAsked'] {
  const names = types && new Set(types.map(({ group, plural }) => `${groupName(vendor, group)}/${plural}`))
  return ({ type, subresource }) =>
    (names === undefined || names.has(`${type.group}/${type.plural}`)) &&
    (subresources === undefined || subresources.includes(subresource))
}

/** For what the server itself writes. */
export const admitAll: Admission = { mutate: async ({ object }) => object, validate: async () => {} }

/**
 * Admission: a look at every write before it is stored. A control may change the object, refuse it, or both; the
 * chain runs them in order, first all that may change it, then, on the object as it would be stored, all that judge it.
 */
import type { ApiObject } from '../model/object.ts'
import type { User } from '../model/user.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface AdmissionRequest {
  readonly operation: Operation
  /** The resource on the wire: its group, plural and subresource. */
  readonly group: string
  readonly plural: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly user: User
  readonly dryRun: boolean
  /**
   * Who decides by the state of another object says so here: the write then happens only if that is still at this
   * revision, else it is decided anew. Absent: the most recent state is to be looked up.
   */
  readonly restOn?: ((state: { readonly key: string; readonly revision: number }) => void) | undefined
  /** The new object; undefined for DELETE. */
  readonly object: ApiObject | undefined
  /** The stored object; undefined for CREATE. Nobody changes it. */
  readonly oldObject: ApiObject | undefined
}

export interface Admission {
  /** May change the object; throws ApiError to refuse. */
  mutate(request: AdmissionRequest): Promise<ApiObject | undefined>
  /** Throws ApiError to refuse. */
  validate(request: AdmissionRequest): Promise<void>
}

/** One control of the chain, under the name that users know it by. */
export interface Control {
  readonly name: string
  /** Gives the object to go on with; throws ApiError to refuse. */
  readonly mutate?: (request: AdmissionRequest) => ApiObject | undefined | Promise<ApiObject | undefined>
  /** Throws ApiError to refuse. */
  readonly validate?: (request: AdmissionRequest) => void | Promise<void>
}

/** Controls that decide at once are not waited for. */
export function chain(controls: readonly Control[]): Admission {
  const mutating = controls.filter(({ mutate }) => mutate !== undefined)
  const validating = controls.filter(({ validate }) => validate !== undefined)
  return {
    mutate: async (request) => {
      let { object } = request
      for (const control of mutating) {
        const next = control.mutate!(object === request.object ? request : { ...request, object })
        object = next instanceof Promise ? await next : next
      }
      return object
    },
    validate: async (request) => {
      for (const control of validating) {
        const pending = control.validate!(request)
        if (pending !== undefined) await pending
      }
    },
  }
}

/** For what the server itself writes. */
export const admitAll: Admission = chain([])

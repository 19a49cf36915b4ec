/**
 * What the registry needs of admission: a look at every write before it is stored. The chain of controls lives in
 * its own room and is handed in.
 */
import type { ApiObject } from '../model/object.ts'
import type { User } from '../model/user.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

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

export const admitAll: Admission = {
  mutate: async (request) => request.object,
  validate: async () => {},
}

/**
 * Defines writes by the server itself. Such writes bypass admission, and the server's field manager owns the written
 * fields. Quota controls still account for deletions.
 */

import { authenticatedUsers, superusers, type User } from '../../../api/model/user.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { admitAll } from '../../admission/admission.ts'
import type { Resource } from '../catalogue/resource.ts'
import type { WriteContext } from './write.ts'

const self: User = { name: 'system:apiserver', uid: '', groups: [superusers, authenticatedUsers], extra: new Map() }

/** The resource, object and options of a write by the server itself. */
export interface OwnWrite {
  /** The namespace of the object. Empty for cluster-scoped kinds. */
  readonly namespace?: string
  /** The name of the subresource. Empty for the object itself. */
  readonly subresource?: string
  readonly optionsKind: 'CreateOptions' | 'UpdateOptions' | 'DeleteOptions'
  readonly signal: AbortSignal
}

const ownVerbs = { CreateOptions: 'create', UpdateOptions: 'update', DeleteOptions: 'delete' } as const

/** Returns the context of a write by the server itself. Such a write needs no authorization and bypasses admission. */
export function ownWrite(resource: Resource, { signal, optionsKind, ...write }: OwnWrite): WriteContext {
  return {
    namespace: '',
    subresource: '',
    ...write,
    resource,
    user: self,
    own: true,
    verb: ownVerbs[optionsKind],
    dryRun: false,
    fieldManager: resource.vendor.managers.server,
    sentOptions: () => ({}),
    warn: () => {},
    abandoned: () => signal,
    timeSlice: new TimeSlice(),
    admission: (optionsKind === 'DeleteOptions' && resource.accounting?.()) || admitAll,
    assertMayCreate: () => {},
  }
}

/**
 * Writes by the server itself. They bypass admission and are owned by the server's field manager. Quota controls still
 * see deletions.
 */

import { authenticatedUsers, superusers, type User } from '../../../api/model/user.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { admitAll } from '../../admission/admission.ts'
import type { Resource } from '../catalogue/resource.ts'
import type { WriteContext } from './write.ts'

const self: User = { name: 'system:apiserver', uid: '', groups: [superusers, authenticatedUsers], extra: new Map() }

/** The target and the kind of a write by the server. */
export interface OwnWrite {
  /** The namespace. Empty for cluster-scoped kinds. */
  readonly namespace?: string
  /** The subresource. Empty for the object itself. */
  readonly subresource?: string
  readonly optionsKind: 'CreateOptions' | 'UpdateOptions' | 'DeleteOptions'
  readonly signal: AbortSignal
}

const ownVerbs = { CreateOptions: 'create', UpdateOptions: 'update', DeleteOptions: 'delete' } as const

/** Returns the context of a write by the server itself, which bypasses authorization and admission. */
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

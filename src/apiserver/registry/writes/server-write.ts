/**
 * Writes of the server itself: nobody's request, so nothing is admitted, and the server is the manager. What is deleted
 * is noted by those controls that keep account of what there is.
 */

import { authenticatedUsers, superusers, type User } from '../../../api/model/user.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { admitAll } from '../../admission/admission.ts'
import type { Resource } from '../catalogue/resource.ts'
import type { WriteContext } from './write.ts'

const self: User = { name: 'system:apiserver', uid: '', groups: [superusers, authenticatedUsers], extra: new Map() }

/** Where the server writes by itself, and what kind of write it is. */
export interface OwnWrite {
  /** '' for kinds without namespaces. */
  readonly namespace?: string
  /** '' for the object itself. */
  readonly subresource?: string
  readonly optionsKind: 'CreateOptions' | 'UpdateOptions' | 'DeleteOptions'
  readonly signal: AbortSignal
}

const ownVerbs = { CreateOptions: 'create', UpdateOptions: 'update', DeleteOptions: 'delete' } as const

/** The context of a write by the server itself, which bypasses authorization and admission. */
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
    pace: new TimeSlice(),
    admission: (optionsKind === 'DeleteOptions' && resource.accounting?.()) || admitAll,
    assertMayCreate: () => {},
  }
}

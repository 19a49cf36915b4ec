/** Builds the request that admission plugins receive for a write. */

import type { ApiObject } from '../../../api/model/object.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { AdmissionOperation, AdmissionRequest, AdmittedType } from '../../admission/admission.ts'
import type { Served } from '../catalogue/served.ts'
import { formsOf } from '../reads/object-forms.ts'
import { versionOf, type WriteContext } from './write.ts'
import type { WriteConditions } from './write-conditions.ts'

export interface AdmittedWrite {
  readonly operation: AdmissionOperation
  readonly name: string
  readonly object: ApiObject | undefined
  readonly oldObject: ApiObject | undefined
  /** The prefix (`generateName`) of a generated name. Undefined if the client specified the name. */
  readonly drawnFrom?: string | undefined
  /** Collects what admission plugins add: preconditions for the commit, and follow-up actions. */
  readonly conditions: WriteConditions
}

/** Builds the admission request of a write, with its objects in the storage version. */
export function admissionRequest(context: WriteContext, write: AdmittedWrite): AdmissionRequest {
  const { resource, namespace, subresource, user, dryRun, warn } = context
  const { operation, name, object, oldObject, conditions, drawnFrom } = write
  const request = {
    operation,
    vendor: resource.vendor,
    type: admittedType(resource),
    requested: admittedType(versionOf(context)),
    forms: formsOf(versionOf(context)),
    subresource,
    namespace,
    name,
    user,
    dryRun,
    options: context.sentOptions,
    began: conditions.admissionBegan(resource.clock),
    deadline: context.deadline,
    abandoned: context.abandoned,
    traceHeaders: context.traceHeaders,
    bypass: context.bypass,
    audit: context.audit,
    ofCollection: context.ofCollection,
    // Omit preconditions and follow-up actions, because a dry run stores nothing.
    dependOn: dryRun ? undefined : (guard) => conditions.dependOn(guard),
    commitWith: dryRun ? undefined : (ending, reservations) => conditions.commitWith(ending, reservations),
    onOutcome: dryRun ? undefined : (settle) => conditions.onOutcome(settle),
    explanation: context.explanation,
    warn,
    object,
    drawnFrom,
    [oldState]: oldObject === undefined ? undefined : () => conditions.show(oldObject),
  } satisfies Omit<AdmissionRequest, 'oldObject'> & OldState
  // Only requests for updates and deletes have an accessor for the old object. The accessor is expensive to create and
  // copy, and creates are the most frequent writes.
  return oldObject === undefined
    ? { ...request, oldObject: undefined }
    : (Object.defineProperty(request, 'oldObject', oldObjectAccessor) as unknown as AdmissionRequest)
}

const oldState = Symbol('old state')

interface OldState {
  readonly [oldState]: (() => ApiObject | undefined) | undefined
}

/**
 * Returns a frozen copy of the old object, which most plugins do not need. All requests share the function. V8 would
 * turn requests with functions of their own into hash tables, which are slow to create and to read.
 */
const oldObjectAccessor = {
  enumerable: true,
  get(this: OldState) {
    return this[oldState]?.()
  },
}

/** Returns the description of a type for admission requests. It is cached per type. */
export const admittedType = memoizeByObject(
  ({ group, plural, kind }: Served): AdmittedType => ({ group, version: kind.version, kind: kind.kind, plural }),
)

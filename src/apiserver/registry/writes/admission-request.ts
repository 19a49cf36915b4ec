/** What admission is asked about a write, put together in one place for every verb. */

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
  /** What the name was drawn from, where it was. */
  readonly drawnFrom?: string | undefined
  /** Where controls say what the write rests on, and what is to be done after it. */
  readonly conditions: WriteConditions
}

/** What admission is asked about a write, in the stored version. */
export function admissionRequest(context: WriteContext, write: AdmittedWrite): AdmissionRequest {
  const { resource, namespace, subresource, user, dryRun, warn } = context
  const { operation, name, object, oldObject, conditions, drawnFrom } = write
  const request: AdmissionRequest = {
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
    // A dry run stores nothing, so nobody would notice that what it rests on has changed, and nothing is left to do.
    dependOn: dryRun ? undefined : (guard) => conditions.dependOn(guard),
    commitWith: dryRun ? undefined : (ending, claims) => conditions.commitWith(ending, claims),
    onOutcome: dryRun ? undefined : (settle) => conditions.onOutcome(settle),
    explanation: context.explanation,
    warn,
    object,
    oldObject: undefined,
    drawnFrom,
  }
  // An accessor is dear to make and to copy, and a create, which is most often asked about, has no use for it.
  if (oldObject === undefined) return request
  return Object.defineProperty(request, 'oldObject', { enumerable: true, get: () => conditions.show(oldObject) })
}

/** The same for every request of one type. */
export const admittedType = memoizeByObject(
  ({ group, plural, kind }: Served): AdmittedType => ({ group, version: kind.version, kind: kind.kind, plural }),
)

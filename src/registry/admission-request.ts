/** What admission is asked about a write, put together in one place for every verb. */
import type { AdmissionOperation, AdmissionRequest, AdmittedType } from '../admission/admission.ts'
import type { ApiObject } from '../model/object.ts'
import type { Guard } from '../store/store.ts'
import type { Served } from './served.ts'
import { versionOf, type WriteContext } from './write.ts'

export interface AdmittedWrite {
  readonly operation: AdmissionOperation
  readonly name: string
  readonly object: ApiObject | undefined
  readonly oldObject: ApiObject | undefined
  /** Where those who decide by the state of other objects say so; absent where a write cannot rest on them. */
  readonly guards?: Guard[] | undefined
}

/** What admission is asked about a write, in the stored version. */
export function admissionRequest(context: WriteContext, write: AdmittedWrite): AdmissionRequest {
  const { resource, namespace, subresource, user, dryRun, fieldManager, optionsKind, warn } = context
  const { operation, name, object, oldObject, guards } = write
  return {
    operation,
    vendor: resource.vendor,
    type: admittedType(resource),
    requested: admittedType(versionOf(context)),
    subresource,
    namespace,
    name,
    user,
    dryRun,
    options: { kind: optionsKind, fieldManager, dryRun },
    // A dry run stores nothing, so nobody would notice that what it rests on has changed.
    restOn: guards === undefined || dryRun ? undefined : (guard) => void guards.push(guard),
    warn,
    object,
    oldObject,
  }
}

const types = new WeakMap<Served, AdmittedType>()

/** The same for every request of one type. */
export function admittedType(served: Served): AdmittedType {
  const known = types.get(served)
  if (known !== undefined) return known
  const { group, plural, kind } = served
  const type = { group, version: kind.version, kind: kind.kind, plural }
  types.set(served, type)
  return type
}

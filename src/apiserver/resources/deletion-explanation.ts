/**
 * Reports what blocks the deletion of an object: finalizers, dependents, a grace period or the content of a namespace
 * (`deletionexplanations`). The caller must have permission to get the object, and the response contains only
 * dependents that the caller may list. The response is based only on the caches of this server.
 */

import {
  type DeletionExplanation,
  deletionExplanation as explanationKind,
} from '../../api/kinds/ops/deletion-explanation.ts'
import { forbiddenError, notFound } from '../../api/model/api-error.ts'
import { type ApiObject, timestamp } from '../../api/model/object.ts'
import { shownName, type User } from '../../api/model/user.ts'
import type { StoredJson } from '../../api/schema/kind.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import { keyOf, notFoundError, type Resource, waitForCaches } from '../registry/catalogue/resource.ts'
import { readStored } from '../registry/reads/read-stored.ts'
import { storedTypes, VisibleTypes, type VisibleTypesParts } from './visible-types.ts'

const maxDependents = 100

export function deletionExplanation(parts: VisibleTypesParts): Endpoint {
  return {
    kind: explanationKind,
    subresource: '',
    verbs: ['create'],
    type: undefined,
    admits: 'CREATE',
    doc: 'Reports what blocks the deletion of an object.',
    answer: async ({ object, user }) => {
      const { spec = {} } = object as DeletionExplanation
      return { ...object!, status: await explain(parts, spec, user) }
    },
  }
}

type Spec = NonNullable<DeletionExplanation['spec']>

async function explain(
  parts: VisibleTypesParts,
  { group = '', resource = '', namespace = '', name = '' }: Spec,
  user: User,
) {
  const type = storedTypes(parts).find((each) => each.group === group && each.plural === resource)
  if (type === undefined) throw notFound({ group, plural: resource }, name)
  const visible = new VisibleTypes(parts, user)
  if (!(await visible.may(type, { verb: 'get', namespace, name })))
    throw forbiddenError(
      type,
      name,
      `user ${JSON.stringify(shownName(user))} may not get ${resource} ${JSON.stringify(name)}`,
    )
  await waitForCaches(type)
  const stored = type.cache.get(keyOf(type, namespace, name))
  if (stored === undefined) throw notFoundError(type, namespace, name)
  const object = readStored(type.kind, stored)
  const dependents = await dependentsOf(parts, object, visible)
  const since = beganAt(object)
  return {
    deleting: since !== undefined,
    ...(since === undefined ? {} : { since, reasons: reasonsOf(object, dependents) }),
    dependents: dependents.sort((a, b) => Number(b.blocks) - Number(a.blocks)).slice(0, maxDependents),
    dependentCount: dependents.length,
    hiddenTypes: [...visible.hidden].sort(),
  }
}

type Dependent = NonNullable<NonNullable<DeletionExplanation['status']>['dependents']>[number]

/** Returns the objects that name this object as an owner. For a namespaced object, searches only its namespace. */
async function dependentsOf(
  parts: VisibleTypesParts,
  { metadata: { uid = '', namespace } }: ApiObject,
  visible: VisibleTypes,
) {
  const collectedDependents: Dependent[] = []
  const timeSlice = new TimeSlice()
  for (const type of storedTypes(parts)) {
    const isNamespaced = type.kind.scope === 'Namespaced'
    if (namespace !== undefined && !isNamespaced) continue
    for (const slice of type.cache.slices({ namespace: isNamespaced ? namespace : undefined }))
      for (const stored of slice) {
        if (timeSlice.charge(4)) await timeSlice.yieldIfDue()
        // Skip objects whose JSON does not contain the UID. Parsing every object would take ten times as long.
        if (!stored.json.includes(uid)) continue
        const dependent = dependentIn(type, stored, uid)
        if (dependent !== undefined && (await visible.mayList(type, stored.namespace)))
          collectedDependents.push(dependent)
      }
  }
  return collectedDependents
}

function dependentIn(type: Resource, stored: StoredJson, uid: string): Dependent | undefined {
  const { apiVersion, kind, metadata } = readStored(type.kind, stored)
  const { name = '', namespace = '', deletionTimestamp, finalizers = [] } = metadata
  const reference = metadata.ownerReferences?.find((owner) => owner.uid === uid)
  if (reference === undefined) return undefined
  return {
    apiVersion,
    kind,
    namespace,
    name,
    blocks: reference.blockOwnerDeletion === true,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    finalizers,
  }
}

/**
 * Returns the time at which the deletion of an object began, or undefined if it is not being deleted. The
 * deletionTimestamp is that time plus the grace period.
 */
function beganAt({ metadata: { deletionTimestamp, deletionGracePeriodSeconds = 0 } }: ApiObject): string | undefined {
  if (deletionTimestamp === undefined) return undefined
  return timestamp(Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000)
}

function reasonsOf(object: ApiObject, dependents: readonly Dependent[]) {
  const { finalizers = [], deletionGracePeriodSeconds: grace = 0, deletionTimestamp = '' } = object.metadata
  const { spec = {}, status = {} } = object as {
    spec?: { finalizers?: string[] }
    status?: { conditions?: Condition[] }
  }
  return [
    ...finalizers.map((finalizer) => ({ finalizer, message: meaningOf(finalizer, dependents) })),
    ...(grace > 0 ? [{ message: `its containers may take until ${deletionTimestamp} to stop` }] : []),
    ...(spec.finalizers ?? []).map((finalizer) => ({
      finalizer,
      message: 'the content of the namespace must be deleted first',
    })),
    ...(status.conditions ?? [])
      .filter(({ type = '', status }) => type.startsWith('Namespace') && status === 'True')
      .map(({ message = '' }) => ({ message })),
  ]
}

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly message?: string
}

function meaningOf(finalizer: string, dependents: readonly Dependent[]): string {
  const blocking = dependents.filter(({ blocks }) => blocks).length
  if (finalizer === 'foregroundDeletion')
    return `the garbage collector deletes its dependents first; ${blocking} of them block the deletion`
  if (finalizer === 'orphan')
    return `the garbage collector first removes it from the owner references of its ${dependents.length} dependents`
  if (finalizer.endsWith('/pvc-protection')) return 'Pods still use the claim'
  if (finalizer.endsWith('/pv-protection')) return 'a claim is still bound to the volume'
  return 'the controller that set this finalizer must remove it'
}

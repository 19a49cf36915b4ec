/**
 * NodeRestriction: restricts a node agent to its own objects: its Node (except labels and taints that isolate
 * workloads), the pods bound to it, its Lease, its CSINode and its ResourceSlices. The agent cannot delete its Node,
 * either directly or by adding an owner. A node agent is a user `system:node:<name>` in the group `system:nodes`.
 */

import { type Json, type JsonObject, sameJson } from '../../../api/json/json.ts'
import { lease } from '../../../api/kinds/coordination/lease.ts'
import type { Node } from '../../../api/kinds/core/node.ts'
import { node as nodes } from '../../../api/kinds/core/node.ts'
import { persistentVolumeClaim as persistentVolumeClaims } from '../../../api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import { serviceAccount as serviceAccounts } from '../../../api/kinds/core/service-account.ts'
import { type ResourceSlice, resourceSlice } from '../../../api/kinds/resource/resource-slice.ts'
import { csiNode } from '../../../api/kinds/storage/csi-node.ts'
import { notFound } from '../../../api/model/api-error.ts'
import type { Lookup, StoredType } from '../../../api/model/lookup.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { nodesGroup, nodeUserPrefix, type User } from '../../../api/model/user.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import { assertMirrorPod } from '../node-restriction/mirror-pods.ts'
import { changedLabels, forbiddenLabels } from '../node-restriction/node-labels.ts'
import { assertAudience } from '../node-restriction/token-audience.ts'
import { refusal } from '../refusal.ts'

interface Parts {
  readonly emulation: Emulation
  readonly lookup: Lookup
  readonly authorizer: Authorizer
}

/** Restricts the requests of node agents for objects of one type. */
interface Restriction<T = ApiObject | undefined> {
  readonly type: StoredType<Exclude<T, undefined>>
  /** Throws an error unless the agent of the node `node` may make the request. Called only for objects of this type. */
  assert(request: AdmissionRequest<T>, node: string, parts: Parts): void | Promise<void>
}

const restrictions: readonly Restriction[] = [
  { type: nodes, assert: assertNode } satisfies Restriction<Node | undefined>,
  { type: pods, assert: assertPod } satisfies Restriction<Pod | undefined>,
  { type: persistentVolumeClaims, assert: assertClaim },
  { type: serviceAccounts, assert: assertAccount },
  { type: lease, assert: assertLease },
  { type: csiNode, assert: assertCsiNode },
  { type: resourceSlice, assert: assertSlice } satisfies Restriction<ResourceSlice | undefined>,
]

export function nodeRestriction(parts: Parts): Control {
  const types = restrictions.map(({ type }) => type)
  const byPlural = new Map(restrictions.map((restriction) => [restriction.type.plural, restriction]))
  return {
    name: 'NodeRestriction',
    handles: { operations: ['CREATE', 'UPDATE', 'DELETE'], types },
    mutate: async (request) => {
      const node = agentOf(request.user)
      if (node === undefined) return undefined
      if (node === '') throw refusal(request, `could not determine node from user "${request.user.name}"`)
      await byPlural.get(request.type.plural)!.assert(request, node, parts)
      return undefined
    },
  }
}

/** Returns the name of a node agent's node, or undefined for other users. */
function agentOf({ name, groups }: User): string | undefined {
  return name.startsWith(nodeUserPrefix) && groups.includes(nodesGroup) ? name.slice(nodeUserPrefix.length) : undefined
}

function assertNode(request: AdmissionRequest<Node | undefined>, node: string): void {
  const { operation, name, object, oldObject, vendor } = request
  const refuse = (what: string) => refusal(request, `node "${node}" is not allowed to ${what}`)
  if (name !== node) throw refuse(`modify node "${name}"`)
  if (operation === 'DELETE') throw refuse('delete its node')
  const next = object!
  const previous = oldObject ?? undefined
  if (!sameOwners(next, previous)) throw refuse('modify ownerReferences')
  if (next.spec?.configSource !== undefined && !same(next.spec.configSource, previous?.spec?.configSource))
    throw refuse('set configSource')
  if (previous === undefined) {
    const labels = forbiddenLabels(Object.keys(next.metadata.labels ?? {}), vendor)
    if (labels.length > 0) throw refuse(`set the following labels: ${labels.join(', ')}`)
    return
  }
  if (!same(next.spec?.taints ?? [], previous.spec?.taints ?? [])) throw refuse('modify taints')
  const labels = forbiddenLabels(changedLabels(next.metadata.labels, previous.metadata.labels), vendor)
  if (labels.length > 0) throw refuse(`modify labels: ${labels.join(', ')}`)
}

/**
 * Whether the owner references are unchanged. A node agent must not add owners to its Node, because deleting an owner
 * deletes its dependents.
 */
function sameOwners(next: ApiObject, previous: ApiObject | undefined): boolean {
  return same(next.metadata.ownerReferences ?? [], previous?.metadata.ownerReferences ?? [])
}

function same(a: unknown, b: unknown): boolean {
  return sameJson(a, b)
}

function assertPod(request: AdmissionRequest<Pod | undefined>, node: string, { lookup }: Parts): void | Promise<void> {
  const { operation, subresource } = request
  const act = `${operation} ${subresource}`
  if (isNew(request)) return assertMirrorPod(lookup, request, node)
  if (act === 'CREATE eviction') return assertEviction(lookup, request, node)
  if (act === 'DELETE ') return assertBound(request, node, 'delete pods')
  if (act === 'UPDATE status') return assertPodStatus(request, node)
  throw refusal(request, `node "${node}" may not ${operation.toLowerCase()} pods${subresource && `/${subresource}`}`)
}

/** Whether the request creates a pod, as opposed to a subresource of a pod. */
function isNew(request: AdmissionRequest<Pod | undefined>): request is AdmissionRequest<Pod> {
  return request.operation === 'CREATE' && request.subresource === ''
}

function assertBound(request: AdmissionRequest<Pod | undefined>, node: string, what: string): void {
  if (nodeOf(request.oldObject) !== node)
    throw refusal(request, `node "${node}" can only ${what} with spec.nodeName set to itself`)
}

function nodeOf(pod: Pod | undefined): string {
  return pod?.spec?.nodeName ?? ''
}

function assertPodStatus(request: AdmissionRequest<Pod | undefined>, node: string): void {
  assertBound(request, node, 'update pod status for pods')
  if (changedLabels(request.object?.metadata.labels, request.oldObject?.metadata.labels).length > 0)
    throw refusal(request, `node "${node}" cannot update labels through pod status`)
  if (!same(claimStatuses(request.object), claimStatuses(request.oldObject)))
    throw refusal(request, `node "${node}" cannot update resource claim statuses`)
}

/**
 * Returns the pod's status entries for generated ResourceClaims. These entries grant the pod's node read access to the
 * claims.
 */
function claimStatuses(pod: Pod | undefined): unknown {
  const { resourceClaimStatuses = [], extendedResourceClaimStatus = null } = pod?.status ?? {}
  return [resourceClaimStatuses, extendedResourceClaimStatus]
}

async function assertEviction(lookup: Lookup, request: AdmissionRequest<Pod | undefined>, node: string): Promise<void> {
  const { namespace, name } = request
  const storedPod = await lookup.getLatest(pods, { namespace, name })
  if (storedPod === undefined) throw notFound({ group: '', plural: 'pods' }, name)
  if (nodeOf(storedPod.object) !== node)
    throw refusal(request, `node "${node}" can only evict pods with spec.nodeName set to itself`)
}

/** Checks a node agent's update of a claim. The agent may only report the size of the claim's volume. */
function assertClaim(request: AdmissionRequest, node: string): void {
  const { operation, subresource, object, oldObject } = request
  if (operation !== 'UPDATE' || subresource !== 'status')
    throw refusal(request, `node "${node}" may only update the status of persistentvolumeclaims`)
  if (!same(besidesSize(object!), besidesSize(oldObject!)))
    throw refusal(
      request,
      `node "${node}" is not allowed to update fields other than status.capacity and status.conditions`,
    )
}

const ofSize = ['capacity', 'conditions', 'allocatedResources', 'resizeStatus']

function besidesSize(claim: ApiObject): Json {
  const { metadata, status = {}, ...rest } = asJson(claim) as { metadata: JsonObject; status?: JsonObject }
  const { managedFields: _fields, resourceVersion: _version, ...comparedMetadata } = metadata
  const others = Object.fromEntries(Object.entries(status).filter(([key]) => !ofSize.includes(key)))
  return { ...rest, metadata: comparedMetadata, status: others } as Json
}

interface TokenRequest {
  readonly spec?: {
    readonly audiences?: readonly string[]
    readonly boundObjectRef?: { readonly apiVersion?: string; kind?: string; name?: string; uid?: string }
  }
}

/**
 * Checks a token request by a node agent. The token must be bound to a pod on the agent's node, and the pod must use
 * the token's audiences.
 */
async function assertAccount(request: AdmissionRequest, node: string, parts: Parts): Promise<void> {
  const { lookup, emulation } = parts
  const { operation, subresource, object, namespace } = request
  if (operation !== 'CREATE' || subresource !== 'token')
    throw refusal(request, `node "${node}" may only request tokens for service accounts`)
  const { boundObjectRef, audiences = [] } = (object as TokenRequest).spec ?? {}
  const { kind, apiVersion = 'v1', name = '', uid = '' } = boundObjectRef ?? {}
  if (kind !== 'Pod' || apiVersion !== 'v1') throw refusal(request, 'node requested token not bound to a pod')
  if (uid === '') throw refusal(request, 'node requested token with a pod binding without a uid')
  const storedPod = await lookup.getLatest(pods, { namespace, name })
  if (storedPod === undefined) throw notFound({ group: '', plural: 'pods' }, name)
  if (storedPod.object.metadata.uid !== uid)
    throw refusal(
      request,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  if (nodeOf(storedPod.object) !== node)
    throw refusal(request, 'node requested token bound to a pod scheduled on a different node')
  if (emulation.gates.has('ServiceAccountNodeAudienceRestriction'))
    await assertAudience(parts, request, { pod: storedPod.object, audiences })
}

const leaseNamespace = 'kube-node-lease'

function assertLease(request: AdmissionRequest, node: string): void {
  if (request.namespace !== leaseNamespace)
    throw refusal(request, `can only access leases in the "${leaseNamespace}" system namespace`)
  if (request.name !== node)
    throw refusal(request, 'can only access node lease with the same name as the requesting node')
}

function assertCsiNode(request: AdmissionRequest, node: string): void {
  if (request.name !== node) throw refusal(request, 'can only access CSINode with the same name as the requesting node')
}

function assertSlice(request: AdmissionRequest<ResourceSlice | undefined>, node: string): void {
  const { operation, object, oldObject } = request
  const isForeign = (slice: ResourceSlice | undefined) => slice?.spec?.nodeName !== node
  if ((operation !== 'DELETE' && isForeign(object)) || (operation !== 'CREATE' && isForeign(oldObject)))
    throw refusal(
      request,
      `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`,
    )
}

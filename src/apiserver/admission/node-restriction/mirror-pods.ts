/**
 * Validates mirror pods, the only pods that a node agent may create. A mirror pod represents a pod that the node runs
 * on its own. A mirror pod must be bound to the node, be owned only by the node and reference no other objects, because
 * a pod grants its node read access to the objects that the pod references.
 */

import { node as nodes } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import { notFound } from '../../../api/model/api-error.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import type { OwnerReference } from '../../../api/model/object.ts'
import { secretsOf } from '../../../api/model/pod-secrets.ts'
import { vendorKey } from '../../../api/model/vendor.ts'
import type { AdmissionRequest } from '../admission.ts'
import { refusal } from '../refusal.ts'

export async function assertMirrorPod(lookup: Lookup, request: AdmissionRequest<Pod>, node: string): Promise<void> {
  const { metadata, spec = {} } = request.object
  const refuse = (why: string) => refusal(request, why)
  const mirror = vendorKey(request.vendor, 'config.mirror')
  if (metadata.annotations?.[mirror] === undefined)
    throw refuse(`pod does not have "${mirror}" annotation, node "${node}" can only create mirror pods`)
  if (spec.nodeName !== node) throw refuse(`node "${node}" can only create pods with spec.nodeName set to itself`)
  const fault = ownerFault(metadata.ownerReferences ?? [], node)
  if (fault !== '') throw refuse(`node "${node}" ${fault}`)
  await assertOwner(lookup, request, { node, uid: metadata.ownerReferences![0]!.uid })
  const named = referenced(spec)
  if (named !== '') throw refuse(`node "${node}" can not create pods that reference ${named}`)
}

/** Returns the reason why the owner references are not allowed, or '' if the node is the only owner. */
function ownerFault(owners: readonly OwnerReference[], node: string): string {
  const [owner, ...others] = owners
  if (others.length > 0) return 'can only create pods with a single owner reference set to itself'
  const isItself = owner?.apiVersion === 'v1' && owner.kind === 'Node' && owner.name === node
  if (!isItself) return 'can only create pods with an owner reference set to itself'
  if (!owner.controller) return 'can only create pods with a controller owner reference set to itself'
  return owner.blockOwnerDeletion ? 'must not set blockOwnerDeletion on an owner reference' : ''
}

async function assertOwner(
  lookup: Lookup,
  request: AdmissionRequest,
  { node, uid }: { node: string; uid: string },
): Promise<void> {
  const storedNode = await lookup.getLatest(nodes, { namespace: '', name: node })
  if (storedNode === undefined) throw notFound({ group: '', plural: 'nodes' }, node)
  if (storedNode.object.metadata.uid !== uid)
    throw refusal(request, `node ${node} UID mismatch: expected ${uid} got ${storedNode.object.metadata.uid}`)
  request.dependOn?.(storedNode)
}

/** Returns the kind of a forbidden reference in the pod, or '' if there is none. */
function referenced(spec: PodSpec): string {
  const { serviceAccountName = '', volumes = [] } = spec
  if (serviceAccountName !== '') return 'a service account'
  if (secretsOf(spec).length > 0) return 'secrets'
  if (hasConfigMaps(spec)) return 'configmaps'
  if (volumes.some((volume) => volume.persistentVolumeClaim !== undefined)) return 'persistentvolumeclaims'
  // An ephemeral volume claim is created with the pod and would grant the node access to the claim and its volume.
  if (volumes.some(({ ephemeral }) => ephemeral !== undefined)) return 'ephemeral persistentvolumeclaims'
  // The ResourceClaim for a claim template is created only after the pod, so the pod must not refer to any claim
  // template.
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims'
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? [])
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)) return 'service account tokens'
  if (sources.some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined)) return 'clustertrustbundles'
  return sources.some(({ podCertificate }) => podCertificate !== undefined) ? 'pod certificates' : ''
}

function hasConfigMaps({ initContainers = [], containers = [], volumes = [] }: PodSpec): boolean {
  const inEnvironment = ({ env = [], envFrom = [] }: Container) =>
    env.some(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined) ||
    envFrom.some(({ configMapRef }) => configMapRef !== undefined)
  return (
    [...initContainers, ...containers].some(inEnvironment) ||
    volumes.some(
      ({ configMap, projected }) =>
        configMap !== undefined || (projected?.sources ?? []).some((source) => source.configMap !== undefined),
    )
  )
}

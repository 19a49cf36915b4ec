/**
 * Creates the ResourceClaims of pods from ResourceClaimTemplates, and records their names in the status of the pods.
 * The pod owns the claim, so the claim is deleted with the pod. The suffix of a claim's name is a hash of the pod's
 * UID, so that a repeated step never creates a second claim.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { ResourceClaim } from '../../../api/kinds/resource/resource-claim.ts'
import type { ResourceClaimTemplate } from '../../../api/kinds/resource/resource-claim-template.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { changeObject } from '../../../client/informers/change-object.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Index } from '../../../client/informers/object-index.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey, objectKey } from '../../../client/requests/resource-type.ts'
import { StatusError } from '../../../client/requests/status-error.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { isActive } from '../workloads/pod-state.ts'
import { contentHash } from '../workloads/template-hash.ts'
import { isOwnedBy, owningPod, podClaimAnnotation } from './pod-claims.ts'

export interface ClaimCreationParts {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly vendor: Vendor
  readonly pods: Informer<Pod>
  readonly claims: Informer<ResourceClaim>
  readonly templates: Informer<ResourceClaimTemplate>
}

interface Parts extends ClaimCreationParts {
  /** Index of ResourceClaims by the UID of the pod that owns them. */
  readonly byOwner: Index<ResourceClaim>
}

type ClaimStatuses = NonNullable<NonNullable<Pod['status']>['resourceClaimStatuses']>

/** An entry of a pod's `spec.resourceClaims` that refers to a ResourceClaimTemplate. */
interface Wanted {
  readonly name: string
  readonly template: string
}

export function claimCreationLoop(given: ClaimCreationParts): Loop {
  const parts = { ...given, byOwner: given.claims.index((claim) => [owningPod(claim)?.uid]) }
  const podsByTemplate = parts.pods.index((pod) =>
    wantedClaims(pod).map(({ template }) => `${pod.metadata.namespace}/${template}`),
  )
  return {
    name: 'resourceclaim-creation',
    sources: [
      fromInformer(parts.pods),
      // Pods may have been waiting for this template to be created.
      fromInformer(parts.templates, ({ key, previous }) =>
        previous === undefined ? podsByTemplate.get(key).map(objectKey) : [],
      ),
      // Recreates a deleted claim while its pod exists.
      fromInformer(parts.claims, ({ object, previous }) => {
        const owner = object === undefined ? owningPod(previous!) : undefined
        return owner === undefined ? [] : [`${previous!.metadata.namespace}/${owner.name}`]
      }),
    ],
    reconcile: async (key, signal) => {
      const pod = parts.pods.get(nameOfKey(key))
      return pod === undefined || !isActive(pod) ? 'done' : await reconcile(parts, pod, signal)
    },
  }
}

async function reconcile(parts: Parts, pod: Pod, signal: AbortSignal): Promise<StepOutcome> {
  let outcome: StepOutcome = 'done'
  const created: ClaimStatuses = []
  for (const wanted of wantedClaims(pod)) {
    if (isRecorded(parts, pod, wanted)) continue
    const found = await ensureClaim(parts, pod, { wanted, signal })
    if ('claim' in found) created.push({ name: wanted.name, resourceClaimName: found.claim })
    else {
      const message = `PodResourceClaim ${wanted.name}: ${found.why}`
      parts.recorder.record(pod, { type: 'Warning', reason: 'FailedResourceClaimCreation', message })
      outcome = 'later'
    }
  }
  if (created.length > 0) await recordClaims(parts, pod, { created, signal })
  return outcome
}

function wantedClaims({ spec }: Pod): Wanted[] {
  return (spec?.resourceClaims ?? []).flatMap(({ name = '', resourceClaimTemplateName: template }) =>
    template === undefined ? [] : [{ name, template }],
  )
}

/** Whether the status of the pod names the claim and the claim exists, or the status shows that no claim is needed. */
function isRecorded({ claims }: Parts, pod: Pod, { name }: Wanted): boolean {
  const status = pod.status?.resourceClaimStatuses?.find((each) => each.name === name)
  if (status === undefined) return false
  if (status.resourceClaimName === undefined) return true
  const { namespace = '' } = pod.metadata
  const claim = claims.get({ namespace, name: status.resourceClaimName })
  return claim !== undefined && isOwnedBy(claim, pod)
}

type Found = { readonly claim: string } | { readonly why: string }

/**
 * Returns the name of the pod's claim, creating the claim if it is missing. If there is no claim, returns the reason.
 */
async function ensureClaim(
  { client, vendor, byOwner, claims, templates }: Parts,
  pod: Pod,
  { wanted, signal }: { wanted: Wanted; signal: AbortSignal },
): Promise<Found> {
  const annotation = podClaimAnnotation(vendor)
  const { uid = '', namespace = '' } = pod.metadata
  const existing = byOwner.get(uid).find(({ metadata }) => metadata.annotations?.[annotation] === wanted.name)
  if (existing !== undefined) return { claim: existing.metadata.name ?? '' }
  const template = templates.get({ namespace, name: wanted.template })
  if (template === undefined) return { why: `resource claim template "${wanted.template}" not found` }
  const draft = claimOf(pod, { wanted, template, annotation })
  const { name } = draft.metadata
  try {
    await client.create(claims.type, draft, { signal })
    return { claim: name }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    if (error.reason !== 'AlreadyExists') return { why: error.message }
    const claim = await ignoreNotFound(client.get(claims.type, { namespace, name }, { signal }))
    if (claim !== undefined && isOwnedBy(claim, pod)) return { claim: name }
    return { why: `resource claim "${name}" exists, but the pod does not own it` }
  }
}

interface Source {
  readonly wanted: Wanted
  readonly template: ResourceClaimTemplate
  readonly annotation: string
}

function claimOf({ metadata: { name = '', namespace = '', uid = '' } }: Pod, { wanted, template, annotation }: Source) {
  const { metadata: { labels, annotations } = {}, spec } = template.spec ?? {}
  const prefix = prefixOf(name, wanted.name)
  const owner = { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true, blockOwnerDeletion: true }
  return {
    metadata: {
      generateName: prefix,
      name: `${prefix}${contentHash([uid, wanted.name], undefined).slice(-suffixLength)}`,
      namespace,
      ownerReferences: [owner],
      annotations: { ...annotations, [annotation]: wanted.name },
      ...(labels === undefined ? {} : { labels }),
    },
    ...(spec === undefined ? {} : { spec }),
  }
}

const suffixLength = 5
/** Maximum length of a prefix, which leaves room for a hyphen and the suffix in a name of 63 characters. */
const maxPrefix = 63 - 1 - suffixLength

/** Returns `<pod>-<claim>-`. Shortens both names if they are too long, and then removes trailing dots. */
function prefixOf(pod: string, claim: string): string {
  const length = pod.length + 1 + claim.length
  if (length <= maxPrefix) return `${pod}-${claim}-`
  const part = (text: string) =>
    text.slice(0, Math.max(1, Math.floor((text.length * (maxPrefix - 1)) / length))).replace(/\.$/, '')
  return `${part(pod)}-${part(claim)}-`
}

async function recordClaims(
  { client, pods }: Parts,
  { metadata: { uid, namespace = '', name = '' } }: Pod,
  { created, signal }: { created: ClaimStatuses; signal: AbortSignal },
): Promise<void> {
  const names = new Set(created.map((each) => each.name))
  const change = (pod: Pod): Pod | undefined => {
    if (pod.metadata.uid !== uid) return undefined
    const others = (pod.status?.resourceClaimStatuses ?? []).filter((each) => !names.has(each.name))
    return { ...pod, status: { ...pod.status, resourceClaimStatuses: [...others, ...created] } }
  }
  await ignoreNotFound(
    changeObject(client, pods.type, { name: { namespace, name }, subresource: 'status', change, signal }),
  )
}

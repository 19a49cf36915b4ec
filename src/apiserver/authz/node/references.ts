/** Extracts the references of pods and volumes: Secrets, ConfigMaps, claims, devices and the service account. */
import type { ApiObject } from '../../../api/model/object.ts'

export interface PodNeeds {
  /** The node that the pod is assigned to, or ''. */
  readonly node: string
  /** Keys of the objects that the pod needs, such as `secrets/a/b`, without duplicates. */
  readonly needs: ReadonlySet<string>
}

/** Returns the key of an object in the graph, such as `secrets/<namespace>/<name>`. */
export function thing(plural: string, namespace: string, name: string): string {
  return `${plural}/${namespace}/${name}`
}

interface Named {
  readonly name?: string
}

interface Container {
  readonly env?: readonly { readonly valueFrom?: { readonly secretKeyRef?: Named; readonly configMapKeyRef?: Named } }[]
  readonly envFrom?: readonly { readonly secretRef?: Named; readonly configMapRef?: Named }[]
}

interface Source {
  readonly secretName?: string
  readonly secretNamespace?: string
  readonly secretRef?: Named & { readonly namespace?: string }
}

interface Volume {
  readonly name?: string
  readonly secret?: { readonly secretName?: string }
  readonly configMap?: Named
  readonly projected?: { readonly sources?: readonly { readonly secret?: Named; readonly configMap?: Named }[] }
  readonly persistentVolumeClaim?: { readonly claimName?: string }
  readonly ephemeral?: object
  readonly csi?: { readonly nodePublishSecretRef?: Named }
  readonly [source: string]: unknown
}

interface PodSpec {
  readonly nodeName?: string
  readonly serviceAccountName?: string
  readonly imagePullSecrets?: readonly Named[]
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly ephemeralContainers?: readonly Container[]
  readonly volumes?: readonly Volume[]
  readonly resourceClaims?: readonly (Named & { readonly resourceClaimName?: string })[]
}

interface PodStatus {
  readonly resourceClaimStatuses?: readonly (Named & { readonly resourceClaimName?: string })[]
  readonly extendedResourceClaimStatus?: { readonly resourceClaimName?: string }
}

/** Kinds of volumes that can reference a Secret. */
const sourcesWithSecret = ['azureFile', 'cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos']

/**
 * Returns the objects that a pod needs. `mirrorKey` is the annotation of mirror pods, which represent pods that a node
 * runs on its own. Mirror pods must not grant permissions.
 */
export function podNeeds({ metadata, spec = {}, status = {} }: ApiObject, mirrorKey: string): PodNeeds {
  const { namespace = '', name: pod = '' } = metadata
  const { nodeName = '', ...rest } = spec as PodSpec
  const needs = new Set<string>()
  if (nodeName === '' || metadata.annotations?.[mirrorKey] !== undefined) return { node: nodeName, needs }
  const need = (plural: string, name: string | undefined) => {
    if (name) needs.add(thing(plural, namespace, name))
  }
  need('serviceaccounts', rest.serviceAccountName)
  for (const { name } of rest.imagePullSecrets ?? []) need('secrets', name)
  for (const containers of [rest.containers, rest.initContainers, rest.ephemeralContainers])
    for (const container of containers ?? []) containerNeeds(container, need)
  for (const volume of rest.volumes ?? []) volumeNeeds(volume, pod, need)
  claimNeeds(rest, status as PodStatus, need)
  return { node: nodeName, needs }
}

type Need = (plural: string, name: string | undefined) => void

function containerNeeds({ env = [], envFrom = [] }: Container, need: Need): void {
  for (const { valueFrom } of env) {
    need('secrets', valueFrom?.secretKeyRef?.name)
    need('configmaps', valueFrom?.configMapKeyRef?.name)
  }
  for (const { secretRef, configMapRef } of envFrom) {
    need('secrets', secretRef?.name)
    need('configmaps', configMapRef?.name)
  }
}

/** Collects the ResourceClaims that a pod uses. The names of generated claims are in the pod's status. */
function claimNeeds({ resourceClaims = [] }: PodSpec, status: PodStatus, need: Need): void {
  const { resourceClaimStatuses = [], extendedResourceClaimStatus } = status
  const generated = new Set(resourceClaims.filter((each) => !each.resourceClaimName).map(({ name }) => name))
  for (const { resourceClaimName } of resourceClaims) need('resourceclaims', resourceClaimName)
  for (const { name, resourceClaimName } of resourceClaimStatuses)
    if (generated.has(name)) need('resourceclaims', resourceClaimName)
  need('resourceclaims', extendedResourceClaimStatus?.resourceClaimName)
}

function volumeNeeds(volume: Volume, pod: string, need: Need): void {
  need('secrets', volume.secret?.secretName)
  need('configmaps', volume.configMap?.name)
  for (const { secret, configMap } of volume.projected?.sources ?? []) {
    need('secrets', secret?.name)
    need('configmaps', configMap?.name)
  }
  need('persistentvolumeclaims', volume.persistentVolumeClaim?.claimName)
  // The claim of an ephemeral volume is named `<pod>-<volume>`.
  if (volume.ephemeral !== undefined) need('persistentvolumeclaims', `${pod}-${volume.name}`)
  need('secrets', volume.csi?.nodePublishSecretRef?.name)
  for (const source of sourcesWithSecret) need('secrets', secretOf(volume[source] as Source | undefined))
}

function secretOf(source: Source | undefined): string | undefined {
  return source?.secretName ?? source?.secretRef?.name
}

export interface VolumeNeeds {
  /** The claim that the volume is bound to, or ''. */
  readonly claim: string
  readonly secrets: readonly string[]
}

interface VolumeSpec {
  readonly claimRef?: { readonly namespace?: string; readonly name?: string }
  readonly csi?: {
    readonly nodePublishSecretRef?: Source['secretRef']
    readonly nodeStageSecretRef?: Source['secretRef']
  }
  readonly [source: string]: unknown
}

export function persistentVolumeNeeds({ spec = {} }: ApiObject): VolumeNeeds {
  const { claimRef, csi, ...sources } = spec as VolumeSpec
  if (!claimRef?.name) return { claim: '', secrets: [] }
  const { namespace: home = '', name } = claimRef
  const named = sourcesWithSecret.flatMap((source) => {
    const { secretName, secretNamespace, secretRef } = (sources[source] ?? {}) as Source
    return [{ name: secretName, namespace: secretNamespace }, secretRef]
  })
  const secrets = [...named, csi?.nodePublishSecretRef, csi?.nodeStageSecretRef].flatMap((ref) =>
    ref?.name ? [thing('secrets', ref.namespace || home, ref.name)] : [],
  )
  return { claim: thing('persistentvolumeclaims', home, name), secrets }
}

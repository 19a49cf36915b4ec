/**
 * The kinds that have a description of their own, by the short name of their group. Values of Secrets are never shown.
 * Whoever adds one writes a function here or in a file beside, and a line in the list at the end.
 */
import { compareUtf8 } from '../../../base/utf8-order.ts'
import { isNotFound } from '../../../client/status-error.ts'
import type { Deployment } from '../../../kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../kinds/apps/replica-set.ts'
import type { Job } from '../../../kinds/batch/job.ts'
import type { ConfigMap } from '../../../kinds/core/config-map.ts'
import type { Endpoints } from '../../../kinds/core/endpoints.ts'
import type { LimitRange } from '../../../kinds/core/limit-range.ts'
import type { Namespace } from '../../../kinds/core/namespace.ts'
import type { Node } from '../../../kinds/core/node.ts'
import type { PersistentVolume } from '../../../kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../kinds/core/pod.ts'
import type { ResourceQuota } from '../../../kinds/core/resource-quota.ts'
import type { Secret } from '../../../kinds/core/secret.ts'
import type { ApiObject } from '../../../model/object.ts'
import type { Session } from '../../session.ts'
import { multiline } from './fields.ts'
import { conditionsText, head, pairsText, quantitiesText, table, timeText } from './parts.ts'
import { describePod, podTemplateText } from './pod.ts'

export interface Describer {
  readonly group: string
  readonly kind: string
  readonly describe: (object: ApiObject, session: Session) => string | Promise<string>
  /** false: nobody reports events of it. */
  readonly events?: boolean
}

function describeConfigMap(map: ConfigMap): string {
  const data = Object.entries(map.data ?? {}).sort(([a], [b]) => compareUtf8(a, b))
  const binary = Object.entries(map.binaryData ?? {}).sort(([a], [b]) => compareUtf8(a, b))
  const texts = data.map(([key, value]) => `${key}:\n----\n${value}\n`).join('')
  const sizes = binary.map(([key, value]) => `${key}: ${bytesIn(value)} bytes\n`).join('')
  return `${head(map as ApiObject)}\nData\n====\n${texts}${binary.length === 0 ? '' : `\nBinaryData\n====\n${sizes}`}`
}

function bytesIn(base64: string): number {
  return Buffer.from(base64, 'base64').length
}

/** How long each value is, and nothing else of it. */
function describeSecret(secret: Secret): string {
  const data = Object.entries(secret.data ?? {}).sort(([a], [b]) => compareUtf8(a, b))
  const sizes = data.map(([key, value]) => `${key}:\t${bytesIn(value)} bytes\n`).join('')
  return `${head(secret as ApiObject)}\nType:\t${secret.type ?? ''}\n\nData\n====\n${sizes}`
}

const quotas = { group: '', version: 'v1', plural: 'resourcequotas', namespaced: true }
const limits = { group: '', version: 'v1', plural: 'limitranges', namespaced: true }

async function describeNamespace(namespace: Namespace, { client, context }: Session): Promise<string> {
  const place = { namespace: namespace.metadata.name ?? '', signal: context.signal }
  const [quota, limit] = await Promise.all([client.list(quotas, place), client.list(limits, place)])
  return [
    `${head(namespace as ApiObject)}Status:\t${namespace.status?.phase ?? ''}\n`,
    conditionsText(namespace.status?.conditions),
    quota.items.length === 0
      ? '\nNo resource quota.\n'
      : `\nResource Quotas\n${(quota.items as ResourceQuota[]).map(quotaText).join('')}`,
    limit.items.length === 0
      ? '\nNo LimitRange resource.\n'
      : `\nResource Limits\n${(limit.items as LimitRange[]).map(limitText).join('')}`,
  ].join('')
}

function quotaText({ metadata, status }: ResourceQuota): string {
  const rows = Object.entries(status?.hard ?? {}).map(([name, hard]) => [name, status?.used?.[name] ?? '0', hard])
  return `  Name:\t${metadata.name}\n${table(['Resource', 'Used', 'Hard'], rows)}`
}

function limitText({ spec }: LimitRange): string {
  const rows = (spec?.limits ?? []).flatMap(
    ({ type = '', min = {}, max = {}, default: most = {}, defaultRequest = {} }) => {
      const names = new Set([min, max, most, defaultRequest].flatMap((each) => Object.keys(each)))
      return [...names].map((name) => [
        type,
        name,
        min[name] ?? '-',
        max[name] ?? '-',
        defaultRequest[name] ?? '-',
        most[name] ?? '-',
      ])
    },
  )
  return table(['Type', 'Resource', 'Min', 'Max', 'Default Request', 'Default Limit'], rows)
}

const endpoints = { group: '', version: 'v1', plural: 'endpoints', namespaced: true }

interface Service extends ApiObject {
  spec?: {
    selector?: { [key: string]: string }
    type?: string
    ipFamilyPolicy?: string
    ipFamilies?: string[]
    clusterIP?: string
    clusterIPs?: string[]
    externalIPs?: string[]
    sessionAffinity?: string
    ports?: { name?: string; port?: number; protocol?: string; targetPort?: number | string; nodePort?: number }[]
  }
}

async function describeService(service: Service, { client, context }: Session): Promise<string> {
  const { name = '', namespace = '' } = service.metadata
  const spec = service.spec ?? {}
  const reached = await client
    .get(endpoints, { namespace, name }, { signal: context.signal })
    .catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    })
  const ports = (spec.ports ?? []).flatMap(
    ({ name: port = '<unset>', port: number, protocol, targetPort, nodePort }) => [
      `Port:\t${port}\t${number}/${protocol}\nTargetPort:\t${targetPort}/${protocol}\n`,
      nodePort ? `NodePort:\t${port}\t${nodePort}/${protocol}\n` : '',
      `Endpoints:\t${addressesOf(reached as Endpoints | undefined, port)}\n`,
    ],
  )
  return [
    `${head(service)}Selector:\t${pairsText(spec.selector)}\nType:\t${spec.type ?? ''}\n`,
    spec.ipFamilyPolicy
      ? `IP Family Policy:\t${spec.ipFamilyPolicy}\nIP Families:\t${(spec.ipFamilies ?? []).join(',')}\n`
      : '',
    `IP:\t${spec.clusterIP ?? ''}\nIPs:\t${(spec.clusterIPs ?? []).join(',') || '<none>'}\n`,
    spec.externalIPs?.length ? `External IPs:\t${spec.externalIPs.join(',')}\n` : '',
    ...ports,
    `Session Affinity:\t${spec.sessionAffinity ?? ''}\n`,
  ].join('')
}

function addressesOf(found: Endpoints | undefined, port: string): string {
  const all = (found?.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
    ports
      .filter(({ name = '<unset>' }) => name === port)
      .flatMap((each) => addresses.map(({ ip }) => `${ip}:${each.port}`)),
  )
  if (all.length === 0) return '<none>'
  return all.length > 3 ? `${all.slice(0, 3).join(',')} + ${all.length - 3} more...` : all.join(',')
}

const replicaSets = { group: 'apps', version: 'v1', plural: 'replicasets', namespaced: true }

async function describeDeployment(deployment: Deployment, { client, context }: Session): Promise<string> {
  const { metadata, spec = {}, status = {} } = deployment
  const { items } = await client.list(replicaSets, { namespace: metadata.namespace ?? '', signal: context.signal })
  const own = (items as ReplicaSet[]).filter(({ metadata: { ownerReferences = [] } }) =>
    ownerReferences.some(({ uid }) => uid === metadata.uid),
  )
  const sets = own
    .sort((a, b) => revisionOf(a) - revisionOf(b))
    .map(
      ({ metadata, status, spec }) =>
        `${metadata.name} (${status?.replicas ?? 0}/${spec?.replicas ?? 0} replicas created)`,
    )
  const { maxSurge, maxUnavailable } = spec.strategy?.rollingUpdate ?? {}
  return [
    head(deployment as ApiObject).replace(
      /^Labels:/m,
      `CreationTimestamp:\t${timeText(metadata.creationTimestamp)}\nLabels:`,
    ),
    `Selector:\t${pairsText(spec.selector?.matchLabels)}\n`,
    `Replicas:\t${spec.replicas ?? 0} desired | ${status.updatedReplicas ?? 0} updated | ${status.replicas ?? 0} total | ${status.availableReplicas ?? 0} available | ${status.unavailableReplicas ?? 0} unavailable\n`,
    `StrategyType:\t${spec.strategy?.type ?? ''}\nMinReadySeconds:\t${spec.minReadySeconds ?? 0}\n`,
    maxSurge === undefined ? '' : `RollingUpdateStrategy:\t${maxUnavailable} max unavailable, ${maxSurge} max surge\n`,
    podTemplateText(spec.template),
    conditionsText(status.conditions),
    `OldReplicaSets:\t${sets.slice(0, -1).join(', ') || '<none>'}\nNewReplicaSet:\t${sets.at(-1) ?? '<none>'}\n`,
  ].join('')
}

/** Which change of the deployment it was made for. */
function revisionOf({ metadata }: ReplicaSet): number {
  const [, revision] =
    Object.entries(metadata.annotations ?? {}).find(([key]) => /^deployment\..*\/revision$/.test(key)) ?? []
  return Number(revision ?? 0)
}

function describeJob(job: Job): string {
  const { spec = {}, status = {} } = job
  return [
    head(job as ApiObject),
    `Selector:\t${pairsText(spec.selector?.matchLabels)}\nParallelism:\t${spec.parallelism ?? 1}\nCompletions:\t${spec.completions ?? '<unset>'}\n`,
    `Start Time:\t${timeText(status.startTime)}\n`,
    status.completionTime === undefined ? '' : `Completed At:\t${timeText(status.completionTime)}\n`,
    `Pods Statuses:\t${status.active ?? 0} Running / ${status.succeeded ?? 0} Succeeded / ${status.failed ?? 0} Failed\n`,
    podTemplateText(spec.template),
    conditionsText(status.conditions),
  ].join('')
}

const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true }

async function describeNode(node: Node, { client, context }: Session): Promise<string> {
  const { metadata, spec = {}, status = {} } = node
  const { items } = await client.list(pods, { fieldSelector: `spec.nodeName=${metadata.name}`, signal: context.signal })
  const roles = Object.keys(metadata.labels ?? {}).flatMap((key) => /^node-role\.[^/]+\/(.+)$/.exec(key)?.[1] ?? [])
  const rows = (items as Pod[]).map(({ metadata, status }) => [
    metadata.namespace ?? '',
    metadata.name ?? '',
    status?.phase ?? '',
  ])
  const { osImage, kernelVersion, containerRuntimeVersion, kubeletVersion, architecture } = status.nodeInfo ?? {}
  return [
    `Name:\t${metadata.name}\nRoles:\t${roles.join(',') || '<none>'}\n${head(node as ApiObject).replace(/^Name:.*\n/, '')}`,
    `CreationTimestamp:\t${timeText(metadata.creationTimestamp)}\n`,
    multiline(
      'Taints',
      (spec.taints ?? []).map(({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`),
    ),
    `Unschedulable:\t${spec.unschedulable ?? false}\n`,
    conditionsText(status.conditions),
    multiline(
      'Addresses',
      (status.addresses ?? []).map(({ type, address }) => `${type}: ${address}`),
    ),
    quantitiesText('Capacity', status.capacity, ''),
    quantitiesText('Allocatable', status.allocatable, ''),
    status.nodeInfo === undefined
      ? ''
      : `System Info:\n  OS Image:\t${osImage ?? ''}\n  Kernel Version:\t${kernelVersion ?? ''}\n  Architecture:\t${architecture ?? ''}\n  Container Runtime Version:\t${containerRuntimeVersion ?? ''}\n  Agent Version:\t${kubeletVersion ?? ''}\n`,
    `Non-terminated Pods:\t(${rows.length} in total)\n${rows.length === 0 ? '' : table(['Namespace', 'Name', 'Phase'], rows)}`,
  ].join('')
}

async function describeClaim(claim: PersistentVolumeClaim, { client, context }: Session): Promise<string> {
  const { metadata, spec = {}, status = {} } = claim
  const { items } = await client.list(pods, { namespace: metadata.namespace ?? '', signal: context.signal })
  const users = (items as Pod[]).filter(({ spec }) =>
    spec?.volumes?.some(({ persistentVolumeClaim: used }) => used?.claimName === metadata.name),
  )
  return [
    head(claim as ApiObject).replace(
      /^Labels:/m,
      `StorageClass:\t${spec.storageClassName ?? ''}\nStatus:\t${metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating'}\nVolume:\t${spec.volumeName ?? ''}\nLabels:`,
    ),
    `Finalizers:\t[${(metadata.finalizers ?? []).join(' ')}]\nCapacity:\t${status.capacity?.storage ?? ''}\nAccess Modes:\t${(status.accessModes ?? []).join(',')}\nVolumeMode:\t${spec.volumeMode ?? ''}\n`,
    multiline(
      'Used By',
      users.map(({ metadata }) => metadata.name ?? ''),
    ),
    conditionsText(status.conditions),
  ].join('')
}

function describeVolume(volume: PersistentVolume): string {
  const { metadata, spec = {}, status = {} } = volume
  const claim = spec.claimRef === undefined ? '' : `${spec.claimRef.namespace}/${spec.claimRef.name}`
  return [
    head(volume as ApiObject),
    `Finalizers:\t[${(metadata.finalizers ?? []).join(' ')}]\nStorageClass:\t${spec.storageClassName ?? ''}\n`,
    `Status:\t${metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating'}\nClaim:\t${claim}\n`,
    `Reclaim Policy:\t${spec.persistentVolumeReclaimPolicy ?? ''}\nAccess Modes:\t${(spec.accessModes ?? []).join(',')}\nVolumeMode:\t${spec.volumeMode ?? ''}\n`,
    `Capacity:\t${spec.capacity?.storage ?? ''}\nMessage:\t${status.message ?? ''}\n`,
  ].join('')
}

/** What a describer is given is of its kind: the list below says so. */
function of<T>(describe: (object: T, session: Session) => string | Promise<string>): Describer['describe'] {
  return (object, session) => describe(object as T, session)
}

export const describers: readonly Describer[] = [
  { group: '', kind: 'ConfigMap', describe: of(describeConfigMap) },
  { group: '', kind: 'Secret', describe: of(describeSecret), events: false },
  { group: '', kind: 'Namespace', describe: of(describeNamespace), events: false },
  { group: '', kind: 'Pod', describe: of(describePod) },
  { group: '', kind: 'Node', describe: of(describeNode) },
  { group: '', kind: 'Service', describe: of(describeService) },
  { group: '', kind: 'PersistentVolumeClaim', describe: of(describeClaim) },
  { group: '', kind: 'PersistentVolume', describe: of(describeVolume) },
  { group: 'apps', kind: 'Deployment', describe: of(describeDeployment) },
  { group: 'batch', kind: 'Job', describe: of(describeJob) },
]

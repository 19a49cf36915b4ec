/**
 * PodSpec: the containers of a pod, their shared settings and scheduling constraints. Pods and pod templates both
 * contain a PodSpec. Defaults and rules for pods only are in pod.ts.
 */

import { at, child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain, checkIpAddress, type NameCheck } from '../../../model/names.ts'
import { emulationOf, type PrepareContext, type RuleContext } from '../../../schema/context.ts'
import type { Effort } from '../../../schema/effort.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkLabelKey, checkLabels } from '../../../selectors/label-rules.ts'
import { byIp, byName } from '../../list-keys.ts'
import { container, ephemeralContainer } from './container.ts'
import { localObjectReference } from './local-references.ts'
import { podResourceClaim, schedulingGate, schedulingGroup, workloadReference } from './pod-claims.ts'
import { checkContainersTogether } from './pod-containers.ts'
import { resourceList, roundResources } from './resource-list.ts'
import { checkContainerResources, resourceRequirements } from './resources.ts'
import { affinity, checkRepeatedSpread, toleration, topologySpreadConstraint } from './scheduling.ts'
import { podSecurityContext } from './security-context.ts'
import { volume } from './volume.ts'

const hostAlias = s.object(
  {
    ip: field(1, s.string(), { doc: 'IP address of the entry.' }),
    hostnames: field(2, s.list(s.string()), { doc: 'Host names that resolve to the IP address.' }),
  },
  { name: 'HostAlias', doc: "An entry in a pod's hosts file." },
)

const dnsOption = s.object(
  {
    name: field(1, s.string(), { doc: 'Name of the resolver option.' }),
    value: field(2, s.string(), { zeroValue: 'keep', doc: 'Value of the resolver option, if it has one.' }),
  },
  { name: 'PodDNSConfigOption', doc: 'A DNS resolver option.' },
)

const dnsConfigFields = {
  nameservers: field(1, s.list(s.string()), { doc: 'Additional DNS servers by IP address. At most 3.' }),
  searches: field(2, s.list(s.string()), {
    doc: 'Additional DNS search domains. At most 6, and at most 256 characters in total.',
  }),
  options: field(3, s.list(dnsOption), { doc: 'Additional DNS resolver options.' }),
}

type DnsConfig = InferFields<typeof dnsConfigFields>

const dnsConfig = s.object(dnsConfigFields, {
  name: 'PodDNSConfig',
  doc: 'DNS settings for a pod, merged with the settings from the DNS policy.',
})

const readinessGate = s.object(
  { conditionType: field(1, s.string(), { zeroValue: 'write', doc: 'Type of the pod condition.' }) },
  {
    name: 'PodReadinessGate',
    doc: 'A pod condition that must be True before the pod is ready.',
    check: ({ conditionType = '' }, path) => checkLabelKey(conditionType, child(path, 'conditionType')),
  },
)

const podOs = s.object(
  { name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the operating system: linux or windows.' }) },
  { name: 'PodOS', doc: "Operating system of a pod's containers." },
)

const spread = s.list(topologySpreadConstraint, {
  list: 'map',
  keys: ['topologyKey', 'whenUnsatisfiable'],
  patch: 'merge',
  mergeKey: 'topologyKey',
})

const fields = {
  volumes: field(1, s.list(volume, { ...byName, retainKeys: true }), {
    doc: "Volumes that the pod's containers can mount.",
  }),
  initContainers: field(20, s.list(container, byName), {
    doc: 'Containers that run to completion, one after the other, before the regular containers start.',
  }),
  containers: field(2, s.list(container, byName), {
    zeroValue: 'write',
    doc: 'Containers in the pod. At least one is required. Containers cannot be added or removed later.',
  }),
  ephemeralContainers: field(34, s.list(ephemeralContainer, byName), {
    doc: 'Debugging containers added to the running pod. Changed only through the ephemeralcontainers subresource.',
  }),
  restartPolicy: field(3, s.oneOf('Always', 'OnFailure', 'Never'), {
    default: 'Always',
    doc: 'When to restart terminated containers: Always, OnFailure or Never. Defaults to Always.',
  }),
  terminationGracePeriodSeconds: field(4, s.int64(), {
    zeroValue: 'keep',
    default: 30,
    doc: 'Seconds the pod gets to terminate gracefully. 0 kills it immediately. Defaults to 30.',
  }),
  activeDeadlineSeconds: field(5, s.int64(), {
    zeroValue: 'keep',
    doc: 'Seconds after which a running pod is terminated and marked as failed. At least 1. Unset means no limit.',
  }),
  dnsPolicy: field(6, s.oneOf('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'), {
    default: 'ClusterFirst',
    doc: 'DNS policy: ClusterFirst, ClusterFirstWithHostNet, Default (as the node) or None. Defaults to ClusterFirst.',
  }),
  nodeSelector: field(7, s.map(s.string(), { atomic: true }), { doc: 'Labels that a node must have to run the pod.' }),
  serviceAccountName: field(8, s.string(), { doc: 'Name of the service account that the pod runs as.' }),
  serviceAccount: field(9, s.string(), { doc: 'Deprecated alias for serviceAccountName.' }),
  automountServiceAccountToken: field(21, s.boolean(), {
    zeroValue: 'keep',
    doc: "Whether to mount a service account token. Unset uses the service account's setting.",
  }),
  nodeName: field(10, s.string(), { doc: 'Name of the node that runs the pod. Usually set by the scheduler.' }),
  hostNetwork: field(11, s.boolean(), {
    doc: "Whether the pod uses the node's network namespace. Defaults to false.",
  }),
  hostPID: field(12, s.boolean(), { doc: "Whether the pod uses the node's PID namespace. Defaults to false." }),
  hostIPC: field(13, s.boolean(), { doc: "Whether the pod uses the node's IPC namespace. Defaults to false." }),
  shareProcessNamespace: field(27, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether all containers share one PID namespace. Cannot be combined with hostPID. Defaults to false.',
  }),
  securityContext: field(14, podSecurityContext, {
    default: {},
    doc: "Security settings for all containers. A container's own settings override them.",
  }),
  imagePullSecrets: field(15, s.list(localObjectReference, byName), {
    doc: "Secrets in the same namespace for pulling the pod's images.",
  }),
  hostname: field(16, s.string(), {
    doc: "Host name of the pod. Must be a DNS label. Defaults to the pod's name.",
  }),
  subdomain: field(17, s.string(), {
    doc: 'Subdomain of the pod. Its full name becomes `<hostname>.<subdomain>.<namespace>.svc.<cluster domain>`.',
  }),
  affinity: field(18, affinity, { doc: 'Scheduling constraints relative to nodes and other pods.' }),
  schedulerName: field(19, s.string(), {
    default: 'default-scheduler',
    doc: 'Name of the scheduler that assigns the pod to a node. Defaults to default-scheduler.',
  }),
  tolerations: field(22, s.list(toleration), { doc: 'Taints that the pod tolerates.' }),
  hostAliases: field(23, s.list(hostAlias, byIp), {
    doc: "Additional entries for the pod's hosts file.",
  }),
  priorityClassName: field(24, s.string(), {
    doc: "Name of the PriorityClass that determines the pod's priority.",
  }),
  priority: field(25, s.int32(), {
    zeroValue: 'keep',
    doc: 'Priority of the pod. Higher values are more important. Set from the PriorityClass.',
  }),
  dnsConfig: field(26, dnsConfig, { doc: 'DNS settings for the pod, merged with the settings from the DNS policy.' }),
  readinessGates: field(28, s.list(readinessGate), {
    doc: 'Additional conditions that must be True before the pod is ready.',
  }),
  runtimeClassName: field(29, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the RuntimeClass that runs the pod. Unset uses the default runtime.',
  }),
  enableServiceLinks: field(30, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether to expose the Services in the namespace as environment variables. Defaults to true.',
  }),
  preemptionPolicy: field(31, s.oneOf('PreemptLowerPriority', 'Never'), {
    zeroValue: 'keep',
    doc: 'Preemption policy: PreemptLowerPriority or Never. Unset means PreemptLowerPriority.',
  }),
  overhead: field(32, resourceList, {
    doc: "Resources needed to run the pod in addition to its containers' resources. Set from the RuntimeClass.",
  }),
  topologySpreadConstraints: field(33, spread, {
    doc: 'Constraints on how evenly matching pods are spread across topology domains.',
  }),
  setHostnameAsFQDN: field(35, s.boolean(), {
    zeroValue: 'keep',
    doc: "Whether the pod's host name is its fully qualified domain name. Defaults to false.",
  }),
  os: field(36, podOs, {
    gate: 'IdentifyPodOS',
    doc: 'Operating system of the containers. Requires the IdentifyPodOS feature gate.',
  }),
  hostUsers: field(37, s.boolean(), {
    zeroValue: 'keep',
    since: '1.25',
    gate: { anyOf: ['UserNamespacesSupport', 'UserNamespacesStatelessPodsSupport'] },
    doc: "Whether the pod uses the host's user namespace. Defaults to true.",
  }),
  schedulingGates: field(38, s.list(schedulingGate, byName), {
    since: '1.26',
    gate: 'PodSchedulingReadiness',
    doc: 'Gates that keep the pod from being scheduled. They can only be removed after the pod is created.',
  }),
  resourceClaims: field(39, s.list(podResourceClaim, { ...byName, retainKeys: true }), {
    since: '1.26',
    gate: 'DynamicResourceAllocation',
    doc: 'ResourceClaims that must be allocated before the pod starts. Containers refer to them by name. Immutable.',
  }),
  resources: field(40, resourceRequirements, {
    since: '1.32',
    gate: 'PodLevelResources',
    doc: 'Resource requests and limits for the whole pod: cpu, memory and huge pages.',
  }),
  hostnameOverride: field(41, s.string(), {
    zeroValue: 'keep',
    since: '1.34',
    gate: 'HostnameOverride',
    doc: 'Host name of the pod, instead of its name. Cannot be combined with hostNetwork or setHostnameAsFQDN.',
  }),
  workloadRef: field(42, workloadReference, {
    since: '1.35',
    until: '1.36',
    gate: 'GenericWorkload',
    doc: 'Pod group in a Workload to which the pod belongs. Immutable.',
  }),
  schedulingGroup: field(43, schedulingGroup, {
    since: '1.36',
    gate: 'GenericWorkload',
    doc: 'Group of pods that are scheduled together. Immutable.',
  }),
}

export type PodSpec = InferFields<typeof fields>

export const podSpec = s.object(fields, {
  name: 'PodSpec',
  doc: 'Specification of a pod.',
  fill: (spec) => {
    nameAccountTwice(spec)
    roundResources(spec.overhead)
    if (spec.hostNetwork) openHostPorts(spec)
  },
  check: checkPodSpec,
})

/** Keeps `serviceAccount`, the older field, equal to `serviceAccountName`, which takes precedence. */
function nameAccountTwice(spec: PodSpec): void {
  const account = spec.serviceAccountName ?? spec.serviceAccount
  if (account === undefined) return
  spec.serviceAccountName = account
  spec.serviceAccount = account
}

/** With the host network, defaults each host port to its container port. */
function openHostPorts({ containers = [], initContainers = [] }: PodSpec): void {
  for (const { ports = [] } of [...containers, ...initContainers])
    for (const port of ports) if (port.containerPort) port.hostPort ??= port.containerPort
}

/** Resets fields of disabled features to their defaults, if they cannot be dropped. Mutates the spec. */
export function resetGated(spec: PodSpec = {}, path: FieldPath, context: PrepareContext): void {
  if (emulationOf(context).gates.has('ProcMountType')) return
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const)
    for (const [i, { securityContext }] of (spec[list] ?? []).entries()) {
      if (securityContext?.procMount === undefined || securityContext.procMount === 'Default') continue
      securityContext.procMount = 'Default'
      context.onDropped?.({
        path: `${at(child(path, list), i)}.securityContext.procMount`,
        feature: 'ProcMountType',
      })
    }
}

function checkPodSpec(spec: PodSpec, path: FieldPath, context: RuleContext, effort?: Effort): FieldError[] {
  return [
    ...checkContainersTogether(spec, path, { ...context, sound: effort?.isClean() === true }),
    ...checkNames(spec, path),
    ...checkDeadline(spec, path),
    ...checkLabels(spec.nodeSelector, child(path, 'nodeSelector')),
    ...checkDns(spec, child(path, 'dnsConfig')),
    ...checkHostAliases(spec, child(path, 'hostAliases')),
    ...checkSharing(spec, child(path, 'securityContext')),
    ...checkRepeatedSpread(spec.topologySpreadConstraints ?? [], child(path, 'topologySpreadConstraints')),
    ...(spec.overhead === undefined
      ? []
      : checkContainerResources({ limits: spec.overhead }, child(path, 'overhead'), context.vendor)),
  ]
}

const names: readonly (readonly [
  'hostname' | 'subdomain' | 'nodeName' | 'serviceAccountName' | 'priorityClassName' | 'runtimeClassName',
  NameCheck,
])[] = [
  ['hostname', checkDnsLabel],
  ['subdomain', checkDnsLabel],
  ['nodeName', checkDnsSubdomain],
  ['serviceAccountName', checkDnsSubdomain],
  ['priorityClassName', checkDnsSubdomain],
  ['runtimeClassName', checkDnsSubdomain],
]

function checkNames(spec: PodSpec, path: FieldPath): FieldError[] {
  return names.flatMap(([field, check]) => {
    const name = spec[field]
    return name === undefined ? [] : check(name).map((text) => invalid(child(path, field), name, text))
  })
}

export const maxDeadline = 2 ** 31 - 1

function checkDeadline({ activeDeadlineSeconds: deadline }: PodSpec, path: FieldPath): FieldError[] {
  if (deadline === undefined || (deadline >= 1 && deadline <= maxDeadline)) return []
  const place = child(path, 'activeDeadlineSeconds')
  return [invalid(place, deadline, `must be between 1 and ${maxDeadline}, inclusive`)]
}

/** With policy None and no name server, reports only the missing name server. */
function checkDns({ dnsPolicy, dnsConfig: config }: PodSpec, path: FieldPath): FieldError[] {
  if (dnsPolicy !== 'None') return config === undefined ? [] : checkDnsConfig(config, path)
  if (config === undefined) return [required(path, 'must be set when `dnsPolicy` is None')]
  if ((config.nameservers ?? []).length > 0) return checkDnsConfig(config, path)
  return [required(child(path, 'nameservers'), 'at least one is required when `dnsPolicy` is None')]
}

const maxServers = 3
const maxSearches = 6
const maxSearchLength = 256

function checkDnsConfig({ nameservers = [], searches = [], options = [] }: DnsConfig, path: FieldPath): FieldError[] {
  const servers = child(path, 'nameservers')
  const domains = child(path, 'searches')
  return [
    ...(nameservers.length > maxServers ? [invalid(servers, nameservers, `at most ${maxServers}`)] : []),
    ...nameservers.flatMap((ip, i) => checkIpAddress(ip).map((text) => invalid(at(servers, i), ip, text))),
    ...(searches.length > maxSearches ? [invalid(domains, searches, `at most ${maxSearches}`)] : []),
    ...(searches.join(' ').length > maxSearchLength
      ? [invalid(domains, searches, `at most ${maxSearchLength} characters together`)]
      : []),
    ...searches.flatMap((name, i) =>
      checkDnsSubdomain(name.replace(/\.$/, '')).map((text) => invalid(at(domains, i), name, text)),
    ),
    ...options.flatMap(({ name = '' }, i) =>
      name === '' ? [required(at(child(path, 'options'), i), 'must not be empty')] : [],
    ),
  ]
}

/** Errors name the list, because clients expect that path. */
function checkHostAliases({ hostAliases = [] }: PodSpec, path: FieldPath): FieldError[] {
  return hostAliases.flatMap(({ ip = '', hostnames = [] }) => [
    ...checkIpAddress(ip).map((text) => invalid(child(path, 'ip'), ip, text)),
    ...hostnames.flatMap((name) =>
      checkDnsSubdomain(name).map((text) => invalid(child(path, 'hostnames'), name, text)),
    ),
  ])
}

function checkSharing({ shareProcessNamespace, hostPID }: PodSpec, path: FieldPath): FieldError[] {
  if (!shareProcessNamespace || !hostPID) return []
  return [invalid(child(path, 'shareProcessNamespace'), true, 'cannot be enabled together with hostPID')]
}

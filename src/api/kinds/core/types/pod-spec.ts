/**
 * PodSpec: the containers of a pod, their shared settings and scheduling constraints. Pods and pod templates both
 * contain a PodSpec. Defaults and rules for pods only are in pod.ts.
 */

import { child, type FieldError, type FieldPath, forbidden, invalid, tooLong } from '../../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain, type NameCheck } from '../../../model/names.ts'
import { isEnabled, isSince, type RuleContext } from '../../../schema/context.ts'
import type { Effort } from '../../../schema/effort.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkLabelKey, checkLabels } from '../../../selectors/label-rules.ts'
import { byIp, byName } from '../../list-keys.ts'
import { container, initContainer } from './container.ts'
import { ephemeralContainer } from './ephemeral-container.ts'
import { localObjectReference } from './local-references.ts'
import {
  checkRepeatedClaims,
  checkSchedulingGates,
  podResourceClaim,
  schedulingGate,
  schedulingGroup,
  workloadReference,
} from './pod-claims.ts'
import { checkContainersTogether } from './pod-containers.ts'
import { checkDns, checkHostAliases, dnsConfig, hostAlias } from './pod-dns.ts'
import { checkOs, podOs } from './pod-os.ts'
import { checkPodResources } from './pod-resources.ts'
import { resourceList, roundResources } from './resource-list.ts'
import { checkContainerResources, resourceRequirements } from './resources.ts'
import { affinity, checkRepeatedSpread, toleration, topologySpreadConstraint } from './scheduling.ts'
import { podSecurityContext } from './security-context.ts'
import { checkHostSysctls } from './sysctls.ts'
import { volume } from './volume.ts'

const readinessGate = s.object(
  { conditionType: field(1, s.string(), { zeroValue: 'write', doc: 'Type of the pod condition.' }) },
  {
    name: 'PodReadinessGate',
    doc: 'A pod condition that must be True before the pod is ready.',
    check: ({ conditionType = '' }, path) => checkLabelKey(conditionType, child(path, 'conditionType')),
  },
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
  initContainers: field(20, s.list(initContainer, byName), {
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
  fill: (spec, context) => {
    nameAccountTwice(spec)
    roundResources(spec.overhead)
    // Since 1.28, pod templates leave host ports to the pods.
    if (!isSince('1.28', context) || isEnabled('DefaultHostNetworkHostPortsInPodTemplates', context))
      openHostPorts(spec)
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

/** With the host network, defaults each host port to its container port. Mutates the spec. */
export function openHostPorts({ hostNetwork, containers = [], initContainers = [] }: PodSpec): void {
  if (!hostNetwork) return
  for (const { ports = [] } of [...containers, ...initContainers])
    for (const port of ports) if (port.containerPort) port.hostPort ??= port.containerPort
}

function checkPodSpec(spec: PodSpec, path: FieldPath, context: RuleContext, effort?: Effort): FieldError[] {
  return [
    ...checkContainersTogether(spec, path, { ...context, sound: effort?.isClean() === true }),
    ...checkNames(spec, path),
    ...checkDeadline(spec, path),
    ...checkLabels(spec.nodeSelector, child(path, 'nodeSelector')),
    ...checkDns(spec, child(path, 'dnsConfig'), context),
    ...checkHostAliases(spec.hostAliases ?? [], child(path, 'hostAliases'), context),
    ...checkSharing(spec, child(path, 'securityContext')),
    ...checkOs(spec, path, context),
    ...checkHostUsers(spec, path, context),
    ...checkHostnameOverride(spec, child(path, 'hostnameOverride')),
    ...checkHostSysctls(spec, child(path, 'securityContext.sysctls'), context),
    ...checkSchedulingGates(spec.schedulingGates ?? [], child(path, 'schedulingGates')),
    ...checkRepeatedClaims(spec.resourceClaims ?? [], child(path, 'resourceClaims')),
    ...checkPodResources(spec, child(path, 'resources'), context),
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

function checkSharing({ shareProcessNamespace, hostPID }: PodSpec, path: FieldPath): FieldError[] {
  if (!shareProcessNamespace || !hostPID) return []
  return [invalid(child(path, 'shareProcessNamespace'), true, 'cannot be enabled together with hostPID')]
}

const hostNamespaces = [
  ['hostNetwork', 'hostNetwork'],
  ['hostPID', 'HostPID'],
  ['hostIPC', 'HostIPC'],
] as const

/**
 * A pod with its own user namespace uses no other namespace of the host. Only a feature gate allows the host network.
 * Clients expect the spelling of the paths.
 */
function checkHostUsers(spec: PodSpec, path: FieldPath, context: RuleContext): FieldError[] {
  if (spec.hostUsers !== false) return []
  const sharesNetwork = isEnabled('UserNamespacesHostNetworkSupport', context)
  return hostNamespaces
    .filter(([name]) => spec[name] && !(name === 'hostNetwork' && sharesNetwork))
    .map(([, name]) => forbidden(child(path, name), 'when `hostUsers` is false'))
}

const maxHostname = 64

function checkHostnameOverride({ hostnameOverride: name, hostNetwork, setHostnameAsFQDN }: PodSpec, path: FieldPath) {
  if (name === undefined) return []
  return [
    ...(hostNetwork ? [forbidden(path, 'may not be specified when hostNetwork is true')] : []),
    ...(setHostnameAsFQDN ? [forbidden(path, 'may not be specified when setHostnameAsFQDN is true')] : []),
    ...checkDnsSubdomain(name).map((text) => invalid(path, name, text)),
    ...(name.length > maxHostname ? [tooLong(path, maxHostname)] : []),
  ]
}

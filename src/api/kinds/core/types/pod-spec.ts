/**
 * PodSpec describes the containers of a pod, their shared settings and scheduling constraints. Pods and pod templates
 * both contain a PodSpec. Defaults and rules that apply only to pods are in pod.ts.
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
    doc: 'Volumes that the containers of the pod can mount.',
  }),
  initContainers: field(20, s.list(initContainer, byName), {
    doc: 'Containers that run to completion, one after another, before the regular containers start.',
  }),
  containers: field(2, s.list(container, byName), {
    zeroValue: 'write',
    doc: 'Containers of the pod. At least one is required. Containers cannot be added or removed after the pod has been created.',
  }),
  ephemeralContainers: field(34, s.list(ephemeralContainer, byName), {
    doc: 'Debugging containers that were added to the running pod. They can be added only through the ephemeralcontainers subresource.',
  }),
  restartPolicy: field(3, s.oneOf('Always', 'OnFailure', 'Never'), {
    default: 'Always',
    doc: 'When to restart terminated containers: `Always`, `OnFailure` or `Never`. Defaults to `Always`.',
  }),
  terminationGracePeriodSeconds: field(4, s.int64(), {
    zeroValue: 'keep',
    default: 30,
    doc: 'Number of seconds that the pod has to terminate gracefully. With 0, the pod is killed immediately. Defaults to 30.',
  }),
  activeDeadlineSeconds: field(5, s.int64(), {
    zeroValue: 'keep',
    doc: 'Number of seconds after which a running pod is terminated and marked as failed. Must be at least 1. If unset, there is no limit.',
  }),
  dnsPolicy: field(6, s.oneOf('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'), {
    default: 'ClusterFirst',
    doc: "DNS policy: `ClusterFirst`, `ClusterFirstWithHostNet`, `Default` (use the node's DNS settings) or `None` (use only `dnsConfig`). Defaults to `ClusterFirst`.",
  }),
  nodeSelector: field(7, s.map(s.string(), { atomic: true }), { doc: 'Labels that a node must have to run the pod.' }),
  serviceAccountName: field(8, s.string(), { doc: 'Name of the service account that the pod runs as.' }),
  serviceAccount: field(9, s.string(), { doc: 'Deprecated alias for serviceAccountName.' }),
  automountServiceAccountToken: field(21, s.boolean(), {
    zeroValue: 'keep',
    doc: "Whether to mount the service account's token into the pod. If unset, the service account's setting applies.",
  }),
  nodeName: field(10, s.string(), { doc: 'Name of the node that runs the pod. Usually set by the scheduler.' }),
  hostNetwork: field(11, s.boolean(), {
    doc: "Whether the pod uses the node's network namespace. Defaults to false.",
  }),
  hostPID: field(12, s.boolean(), { doc: "Whether the pod uses the node's PID namespace. Defaults to false." }),
  hostIPC: field(13, s.boolean(), { doc: "Whether the pod uses the node's IPC namespace. Defaults to false." }),
  shareProcessNamespace: field(27, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether all containers share one PID namespace. Mutually exclusive with `hostPID`. Defaults to false.',
  }),
  securityContext: field(14, podSecurityContext, {
    default: {},
    doc: "Security settings for all containers. A container's own security settings override them.",
  }),
  imagePullSecrets: field(15, s.list(localObjectReference, byName), {
    doc: "Secrets in the same namespace for pulling the pod's images.",
  }),
  hostname: field(16, s.string(), {
    doc: "Host name of the pod. Must be a DNS label. Defaults to the pod's name.",
  }),
  subdomain: field(17, s.string(), {
    doc: "Subdomain of the pod. The pod's full host name is `<hostname>.<subdomain>.<namespace>.svc.<cluster domain>`.",
  }),
  affinity: field(18, affinity, { doc: 'Scheduling constraints relative to nodes and other pods.' }),
  schedulerName: field(19, s.string(), {
    default: 'default-scheduler',
    doc: 'Name of the scheduler that assigns the pod to a node. Defaults to default-scheduler.',
  }),
  tolerations: field(22, s.list(toleration), {
    doc: 'Tolerations of the pod. They allow the pod to run on nodes with matching taints.',
  }),
  hostAliases: field(23, s.list(hostAlias, byIp), {
    doc: "Additional entries for the pod's hosts file.",
  }),
  priorityClassName: field(24, s.string(), {
    doc: "Name of the PriorityClass that determines the pod's priority.",
  }),
  priority: field(25, s.int32(), {
    zeroValue: 'keep',
    doc: 'Priority of the pod. Pods with higher values are more important. The server sets this field from the PriorityClass.',
  }),
  dnsConfig: field(26, dnsConfig, {
    doc: 'DNS settings for the pod. They are merged with the settings from the DNS policy.',
  }),
  readinessGates: field(28, s.list(readinessGate), {
    doc: 'Additional conditions that must be True before the pod is ready.',
  }),
  runtimeClassName: field(29, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the RuntimeClass for running the pod. If unset, the default container runtime runs the pod.',
  }),
  enableServiceLinks: field(30, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the pod gets environment variables for the Services in its namespace. Defaults to true.',
  }),
  preemptionPolicy: field(31, s.oneOf('PreemptLowerPriority', 'Never'), {
    zeroValue: 'keep',
    doc: 'Whether the pod may preempt pods with a lower priority: `PreemptLowerPriority` or `Never`. Defaults to `PreemptLowerPriority`.',
  }),
  overhead: field(32, resourceList, {
    doc: 'Resources that the pod consumes in addition to those of its containers. The server sets this field from the RuntimeClass.',
  }),
  topologySpreadConstraints: field(33, spread, {
    doc: 'Constraints on how evenly pods are spread across topology domains.',
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
    doc: 'Scheduling gates, which keep the pod from being scheduled. After the pod has been created, gates can only be removed.',
  }),
  resourceClaims: field(39, s.list(podResourceClaim, { ...byName, retainKeys: true }), {
    since: '1.26',
    gate: 'DynamicResourceAllocation',
    doc: 'ResourceClaims that must be allocated before the pod can start. Containers refer to the claims by name. Immutable.',
  }),
  resources: field(40, resourceRequirements, {
    since: '1.32',
    gate: 'PodLevelResources',
    doc: 'Resource requests and limits for the pod as a whole. Supports CPU, memory and huge pages.',
  }),
  hostnameOverride: field(41, s.string(), {
    zeroValue: 'keep',
    since: '1.34',
    gate: 'HostnameOverride',
    doc: "Host name to use instead of the pod's name. Mutually exclusive with `hostNetwork` and `setHostnameAsFQDN`.",
  }),
  workloadRef: field(42, workloadReference, {
    since: '1.35',
    until: '1.36',
    gate: 'GenericWorkload',
    doc: 'Workload and pod group to which the pod belongs. Immutable.',
  }),
  schedulingGroup: field(43, schedulingGroup, {
    since: '1.36',
    gate: 'GenericWorkload',
    doc: 'Group of pods with which the pod is scheduled. Immutable.',
  }),
}

export type PodSpec = InferFields<typeof fields>

export const podSpec = s.object(fields, {
  name: 'PodSpec',
  doc: 'Specification of a Pod.',
  fill: (spec, context) => {
    nameAccountTwice(spec)
    roundResources(spec.overhead)
    // Since 1.28, host ports in pod templates have no default.
    if (!isSince('1.28', context) || isEnabled('DefaultHostNetworkHostPortsInPodTemplates', context))
      openHostPorts(spec)
  },
  check: checkPodSpec,
})

/** Keeps the older field `serviceAccount` equal to `serviceAccountName`, which takes precedence. */
function nameAccountTwice(spec: PodSpec): void {
  const account = spec.serviceAccountName ?? spec.serviceAccount
  if (account === undefined) return
  spec.serviceAccountName = account
  spec.serviceAccount = account
}

/** Sets each host port to its container port by default if the pod uses the host network. Modifies the spec. */
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
 * Rejects a pod that has its own user namespace but shares another namespace with the host. The host network is allowed
 * only with a feature gate. The errors have the paths that clients expect.
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

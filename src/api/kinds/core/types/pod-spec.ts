/**
 * PodSpec: the containers of a pod, what they share and where they may run. It stands in pods and in the templates that
 * pods are made from. Defaults and rules that hold for pods alone are the pod's.
 */
import { dropGated } from '../../../schema/gated-fields.ts'
import { at, child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkLabelKey, checkLabels } from '../../../selectors/label-rules.ts'
import { checkDnsLabel, checkDnsSubdomain, checkIpAddress, type NameCheck } from '../../../model/names.ts'
import type { RuleContext, PrepareContext } from '../../../schema/context.ts'
import type { Effort } from '../../../schema/effort.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { byIp, byName } from '../../list-keys.ts'
import { container, ephemeralContainer } from './container.ts'
import { localObjectReference } from './local-references.ts'
import { checkContainersTogether } from './pod-containers.ts'
import { resourceList, roundResources } from './resource-list.ts'
import { checkContainerResources } from './resources.ts'
import { affinity, checkRepeatedSpread, toleration, topologySpreadConstraint } from './scheduling.ts'
import { podSecurityContext } from './security-context.ts'
import { volume } from './volume.ts'

const hostAlias = s.object(
  { ip: field(1, s.string(), { doc: 'The address.' }), hostnames: field(2, s.list(s.string()), { doc: 'Its names.' }) },
  { name: 'HostAlias', doc: 'Names that an address is known by inside the pod.' },
)

const dnsOption = s.object(
  {
    name: field(1, s.string(), { doc: 'The name of the option.' }),
    value: field(2, s.string(), { zero: 'keep', doc: 'Its value, if it has one.' }),
  },
  { name: 'PodDNSConfigOption', doc: 'An option of the resolver.' },
)

const dnsConfigFields = {
  nameservers: field(1, s.list(s.string()), { doc: 'Further DNS servers; at most 3.' }),
  searches: field(2, s.list(s.string()), { doc: 'Further domains to search; at most 6.' }),
  options: field(3, s.list(dnsOption), { doc: 'Further options.' }),
}

type DnsConfig = InferFields<typeof dnsConfigFields>

const dnsConfig = s.object(dnsConfigFields, {
  name: 'PodDNSConfig',
  doc: 'Settings of the resolver beyond those of the DNS policy.',
})

const readinessGate = s.object(
  { conditionType: field(1, s.string(), { zero: 'write', doc: 'The type of the condition.' }) },
  {
    name: 'PodReadinessGate',
    doc: 'A condition that must be true before the pod counts as ready.',
    check: ({ conditionType = '' }, path) => checkLabelKey(conditionType, child(path, 'conditionType')),
  },
)

const podOs = s.object(
  { name: field(1, s.string(), { zero: 'write', doc: 'linux or windows.' }) },
  { name: 'PodOS', doc: 'The operating system that the containers are made for.' },
)

const spread = s.list(topologySpreadConstraint, {
  list: 'map',
  keys: ['topologyKey', 'whenUnsatisfiable'],
  patch: 'merge',
  mergeKey: 'topologyKey',
})

const fields = {
  volumes: field(1, s.list(volume, { ...byName, retainKeys: true }), {
    doc: 'The volumes that its containers can mount.',
  }),
  initContainers: field(20, s.list(container, byName), {
    doc: 'Containers that run before the others, one after the other, each to its end.',
  }),
  containers: field(2, s.list(container, byName), {
    zero: 'write',
    doc: 'Its containers; at least one. None can be added or taken away.',
  }),
  ephemeralContainers: field(34, s.list(ephemeralContainer, byName), {
    doc: 'Containers put into it while it runs. Changed through the subresource ephemeralcontainers.',
  }),
  restartPolicy: field(3, s.oneOf('Always', 'OnFailure', 'Never'), {
    default: 'Always',
    doc: 'When containers that end are started again: Always, OnFailure or Never.',
  }),
  terminationGracePeriodSeconds: field(4, s.int64(), {
    zero: 'keep',
    default: 30,
    doc: 'How long it may take to end; 0 is at once.',
  }),
  activeDeadlineSeconds: field(5, s.int64(), {
    zero: 'keep',
    doc: 'How long it may run before it is ended as failed; for good if unset.',
  }),
  dnsPolicy: field(6, s.oneOf('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'), {
    default: 'ClusterFirst',
    doc: 'Where names are looked up: ClusterFirst, ClusterFirstWithHostNet, Default (as the node does) or None.',
  }),
  nodeSelector: field(7, s.map(s.string(), { atomic: true }), { doc: 'Labels that its node must have.' }),
  serviceAccountName: field(8, s.string(), { doc: 'The service account it acts as.' }),
  serviceAccount: field(9, s.string(), { doc: 'An older name of serviceAccountName.' }),
  automountServiceAccountToken: field(21, s.boolean(), {
    zero: 'keep',
    doc: 'Whether a token of its account is mounted; as the account says if unset.',
  }),
  nodeName: field(10, s.string(), { doc: 'The node it runs on. Usually the scheduler says so.' }),
  hostNetwork: field(11, s.boolean(), { doc: 'Whether it is on the network of its node.' }),
  hostPID: field(12, s.boolean(), { doc: 'Whether it sees the processes of its node.' }),
  hostIPC: field(13, s.boolean(), { doc: 'Whether it shares the memory segments and semaphores of its node.' }),
  shareProcessNamespace: field(27, s.boolean(), {
    zero: 'keep',
    doc: 'Whether its containers see the processes of each other.',
  }),
  securityContext: field(14, podSecurityContext, { default: {}, doc: 'With which rights its containers run.' }),
  imagePullSecrets: field(15, s.list(localObjectReference, byName), { doc: 'Secrets to fetch its images with.' }),
  hostname: field(16, s.string(), { doc: 'Its host name; the name of the pod if unset.' }),
  subdomain: field(17, s.string(), { doc: 'Makes its full name hostname.subdomain.namespace.svc.domain.' }),
  affinity: field(18, affinity, { doc: 'What it wants of its place.' }),
  schedulerName: field(19, s.string(), { default: 'default-scheduler', doc: 'The scheduler that chooses its node.' }),
  tolerations: field(22, s.list(toleration), { doc: 'Taints that it tolerates.' }),
  hostAliases: field(23, s.list(hostAlias, byIp), {
    doc: 'Further lines of its hosts file.',
  }),
  priorityClassName: field(24, s.string(), { doc: 'How important it is, by the name of a PriorityClass.' }),
  priority: field(25, s.int32(), { zero: 'keep', doc: 'How important it is; higher is more. Set from the class.' }),
  dnsConfig: field(26, dnsConfig, { doc: 'Settings of its resolver.' }),
  readinessGates: field(28, s.list(readinessGate), { doc: 'Further conditions that must be true before it is ready.' }),
  runtimeClassName: field(29, s.string(), {
    zero: 'keep',
    doc: 'The RuntimeClass that runs it; the default one if unset.',
  }),
  enableServiceLinks: field(30, s.boolean(), {
    zero: 'keep',
    doc: 'Whether the Services of its namespace are listed in environment variables.',
  }),
  preemptionPolicy: field(31, s.oneOf('PreemptLowerPriority', 'Never'), {
    zero: 'keep',
    doc: 'Whether it may push out pods that are less important: PreemptLowerPriority or Never.',
  }),
  overhead: field(32, resourceList, { doc: 'What running it takes beyond its containers. Set from the RuntimeClass.' }),
  topologySpreadConstraints: field(33, spread, { doc: 'How evenly pods like it are to be spread.' }),
  setHostnameAsFQDN: field(35, s.boolean(), { zero: 'keep', doc: 'Whether its host name is its full name.' }),
  os: field(36, podOs, { doc: 'The operating system of its containers.' }),
}

export type PodSpec = InferFields<typeof fields>

export const podSpec = s.object(fields, {
  name: 'PodSpec',
  doc: 'What a pod is made of and where it may run.',
  fill: (spec) => {
    nameAccountTwice(spec)
    roundResources(spec.overhead)
    if (spec.hostNetwork) openHostPorts(spec)
  },
  check: checkPodSpec,
})

/** The account has two names for older clients; the newer one counts. */
function nameAccountTwice(spec: PodSpec): void {
  const account = spec.serviceAccountName ?? spec.serviceAccount
  if (account === undefined) return
  spec.serviceAccountName = account
  spec.serviceAccount = account
}

/** On the network of the host a port of a container is a port of the host. */
function openHostPorts({ containers = [], initContainers = [] }: PodSpec): void {
  for (const { ports = [] } of [...containers, ...initContainers])
    for (const port of ports) if (port.containerPort) port.hostPort ??= port.containerPort
}

/** Leaves out what is not served yet, or makes it the default: fields of features that are off. Changes the spec. */
export function dropUnserved(spec: PodSpec = {}, path: FieldPath, { onDropped }: Reporting): void {
  const report = { path, onDropped }
  dropGated(spec, 'os', { ...report, feature: 'IdentifyPodOS' })
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const)
    for (const [i, container] of (spec[list] ?? []).entries())
      dropOfContainer(container, { path: at(child(path, list), i), onDropped })
  for (const [i, { ephemeral }] of (spec.volumes ?? []).entries())
    dropGated(ephemeral?.volumeClaimTemplate?.spec, 'dataSourceRef', {
      path: `${at(child(path, 'volumes'), i)}.ephemeral.volumeClaimTemplate.spec`,
      ...{ feature: 'AnyVolumeDataSource', onDropped },
    })
}

type Reporting = Pick<PrepareContext, 'onDropped'>
type GatedContainer = NonNullable<PodSpec['containers']>[number] | NonNullable<PodSpec['ephemeralContainers']>[number]

function dropOfContainer(container: GatedContainer, { path, onDropped }: Reporting & { path: FieldPath }): void {
  const { securityContext } = container
  if (securityContext?.procMount !== undefined && securityContext.procMount !== 'Default') {
    securityContext.procMount = 'Default'
    onDropped?.({ path: `${path}.securityContext.procMount`, feature: 'ProcMountType' })
  }
  for (const probe of ['livenessProbe', 'startupProbe'] as const)
    dropGated(container[probe], 'terminationGracePeriodSeconds', {
      ...{ path: child(path, probe), feature: 'ProbeTerminationGracePeriod', onDropped },
    })
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

/** Where all names are looked up by this configuration alone and it has no server, nothing else of it is judged. */
function checkDns({ dnsPolicy, dnsConfig: config }: PodSpec, path: FieldPath): FieldError[] {
  if (dnsPolicy !== 'None') return config === undefined ? [] : checkDnsConfig(config, path)
  if (config === undefined) return [required(path, 'must be given when `dnsPolicy` is None')]
  if ((config.nameservers ?? []).length > 0) return checkDnsConfig(config, path)
  return [required(child(path, 'nameservers'), 'at least one is needed when `dnsPolicy` is None')]
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

/** Faults name the list, as clients are used to. */
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

/**
 * PodSpec: the containers of a pod, what they share and where they may run. It stands in pods and in the templates that
 * pods are made from. Defaults and rules that hold for pods alone are the pod's.
 */
import { at, child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkLabelKey, checkLabels } from '../../../model/label-rules.ts'
import { checkDnsLabel, checkDnsSubdomain, checkIpAddress, type NameCheck } from '../../../model/names.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { container, ephemeralContainer } from './container.ts'
import { localObjectReference } from './local-references.ts'
import { checkContainersTogether } from './pod-containers.ts'
import { resourceList, roundResources } from './resource-list.ts'
import { checkContainerResources } from './resources.ts'
import { affinity, checkRepeatedSpread, toleration, topologySpreadConstraint } from './scheduling.ts'
import { podSecurityContext } from './security-context.ts'
import { volume } from './volume.ts'

const hostAlias = s.object(
  { ip: field(1, s.string()), hostnames: field(2, s.list(s.string())) },
  { name: 'HostAlias', doc: 'Names that an address is known by inside the pod.' },
)

const dnsOption = s.object(
  { name: field(1, s.string()), value: field(2, s.string(), { zero: 'keep' }) },
  {
    name: 'PodDNSConfigOption',
    doc: 'An option of the resolver.',
    check: ({ name = '' }, path) => (name === '' ? [required(path, 'must not be empty')] : []),
  },
)

const dnsConfigFields = {
  nameservers: field(1, s.list(s.string())),
  searches: field(2, s.list(s.string())),
  options: field(3, s.list(dnsOption)),
}

type DnsConfig = InferFields<typeof dnsConfigFields>

const dnsConfig = s.object(dnsConfigFields, {
  name: 'PodDNSConfig',
  doc: 'Settings of the resolver beyond those of the DNS policy.',
  check: checkDnsConfig,
})

const readinessGate = s.object(
  { conditionType: field(1, s.string(), { zero: 'write' }) },
  {
    name: 'PodReadinessGate',
    doc: 'A condition that must be true before the pod counts as ready.',
    check: ({ conditionType = '' }, path) => checkLabelKey(conditionType, child(path, 'conditionType')),
  },
)

const podOs = s.object(
  { name: field(1, s.string(), { zero: 'write' }) },
  { name: 'PodOS', doc: 'The operating system that the containers are made for.' },
)

const byName = { list: 'map', keys: ['name'], patch: 'merge', mergeKey: 'name' } as const
const spread = s.list(topologySpreadConstraint, {
  list: 'map',
  keys: ['topologyKey', 'whenUnsatisfiable'],
  patch: 'merge',
  mergeKey: 'topologyKey',
})

const fields = {
  volumes: field(1, s.list(volume, byName)),
  containers: field(2, s.list(container, byName), { zero: 'write' }),
  restartPolicy: field(3, s.oneOf('Always', 'OnFailure', 'Never'), { default: 'Always' }),
  terminationGracePeriodSeconds: field(4, s.int64(), { zero: 'keep', default: 30 }),
  activeDeadlineSeconds: field(5, s.int64(), { zero: 'keep' }),
  dnsPolicy: field(6, s.oneOf('ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'), {
    default: 'ClusterFirst',
  }),
  nodeSelector: field(7, s.map(s.string(), { atomic: true })),
  serviceAccountName: field(8, s.string()),
  serviceAccount: field(9, s.string(), { doc: 'An older name of serviceAccountName.' }),
  nodeName: field(10, s.string()),
  hostNetwork: field(11, s.boolean()),
  hostPID: field(12, s.boolean()),
  hostIPC: field(13, s.boolean()),
  securityContext: field(14, podSecurityContext, { default: {} }),
  imagePullSecrets: field(15, s.list(localObjectReference, byName)),
  hostname: field(16, s.string()),
  subdomain: field(17, s.string()),
  affinity: field(18, affinity),
  schedulerName: field(19, s.string(), { default: 'default-scheduler' }),
  initContainers: field(20, s.list(container, byName)),
  automountServiceAccountToken: field(21, s.boolean(), { zero: 'keep' }),
  tolerations: field(22, s.list(toleration)),
  hostAliases: field(23, s.list(hostAlias, { list: 'map', keys: ['ip'], patch: 'merge', mergeKey: 'ip' })),
  priorityClassName: field(24, s.string()),
  priority: field(25, s.int32(), { zero: 'keep' }),
  dnsConfig: field(26, dnsConfig),
  shareProcessNamespace: field(27, s.boolean(), { zero: 'keep' }),
  readinessGates: field(28, s.list(readinessGate)),
  runtimeClassName: field(29, s.string(), { zero: 'keep' }),
  enableServiceLinks: field(30, s.boolean(), { zero: 'keep' }),
  preemptionPolicy: field(31, s.oneOf('PreemptLowerPriority', 'Never'), { zero: 'keep' }),
  overhead: field(32, resourceList),
  topologySpreadConstraints: field(33, spread),
  ephemeralContainers: field(34, s.list(ephemeralContainer, byName)),
  setHostnameAsFQDN: field(35, s.boolean(), { zero: 'keep' }),
  os: field(36, podOs),
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

/** Leaves out what is not served yet: fields of features that are off. Changes the spec. */
export function dropUnserved(spec: PodSpec): void {
  delete spec.os
  const { containers = [], initContainers = [], ephemeralContainers = [], volumes = [] } = spec
  for (const { securityContext, livenessProbe, readinessProbe, startupProbe } of [
    ...containers,
    ...initContainers,
    ...ephemeralContainers,
  ]) {
    delete securityContext?.procMount
    for (const probe of [livenessProbe, readinessProbe, startupProbe]) {
      delete probe?.grpc
      delete probe?.terminationGracePeriodSeconds
    }
  }
  for (const { ephemeral } of volumes) delete ephemeral?.volumeClaimTemplate?.spec?.dataSourceRef
}

function checkPodSpec(spec: PodSpec, path: FieldPath, context: RuleContext): FieldError[] {
  return [
    ...checkContainersTogether(spec, path, context),
    ...checkNames(spec, path),
    ...checkDeadline(spec, path),
    ...checkLabels(spec.nodeSelector, child(path, 'nodeSelector')),
    ...checkDnsNone(spec, child(path, 'dnsConfig')),
    ...checkHostAliases(spec, child(path, 'hostAliases')),
    ...checkSharing(spec, child(path, 'securityContext')),
    ...checkRepeatedSpread(spec.topologySpreadConstraints ?? [], child(path, 'topologySpreadConstraints')),
    ...checkContainerResources({ limits: spec.overhead ?? {} }, child(path, 'overhead'), context.vendor),
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

const longestDeadline = 2 ** 31 - 1

function checkDeadline({ activeDeadlineSeconds: deadline }: PodSpec, path: FieldPath): FieldError[] {
  if (deadline === undefined || (deadline >= 1 && deadline <= longestDeadline)) return []
  const place = child(path, 'activeDeadlineSeconds')
  return [invalid(place, deadline, `must be between 1 and ${longestDeadline}, inclusive`)]
}

function checkDnsNone({ dnsPolicy, dnsConfig: config }: PodSpec, path: FieldPath): FieldError[] {
  if (dnsPolicy !== 'None') return []
  if (config === undefined) return [required(path, 'must be given when `dnsPolicy` is None')]
  if (config.nameservers !== undefined) return []
  return [required(child(path, 'nameservers'), 'at least one is needed when `dnsPolicy` is None')]
}

const maxServers = 3
const maxSearches = 6
const maxSearchLength = 256

function checkDnsConfig({ nameservers = [], searches = [] }: DnsConfig, path: FieldPath): FieldError[] {
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

/** Validates updates of a pod's status. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notJudged,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { parseIp } from '../../../model/ip-range.ts'
import { checkDnsLabel, checkDnsSubdomain, checkIpAddress, checkQualifiedName } from '../../../model/names.ts'
import { ipWarnings } from '../../../model/strict-ip.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'
import { checkEnded, type StatusUpdate } from './container-ends.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'
import { repeatedAt } from './repeated.ts'
import { checkResourceAmount, checkResourceName } from './resource-names.ts'
import { checkId } from './security-context.ts'
import { type Located, strictIpFaults } from './strict-values.ts'

const ownConditions = ['PodScheduled', 'Ready', 'Initialized']

export function checkStatusUpdate(update: StatusUpdate, context: RuleContext): FieldError[] {
  const { next, previous, spec } = update
  const { nominatedNodeName: nominated = '' } = next
  const renominated = nominated !== '' && nominated !== previous.nominatedNodeName
  return [
    ...checkConditions(next.conditions ?? [], isSince('1.33', context) ? 'status' : 'metadata'),
    ...(renominated ? checkDnsSubdomain(nominated) : []).map((text) =>
      invalid('status.nominatedNodeName', nominated, text),
    ),
    ...checkGeneration(next.observedGeneration, 'status.observedGeneration'),
    ...checkEnded(update, context),
    ...checkClaimStatuses(next.resourceClaimStatuses ?? [], spec, context),
    ...checkExtendedClaim(next.extendedResourceClaimStatus, spec),
    ...checkAllocatableClaims(next.nodeAllocatableResourceClaimStatuses ?? [], spec, context),
    ...checkPodAddresses(next),
    ...checkHostAddresses(next),
    ...strictIpFaults({ next: statusAddresses(next), previous: statusAddresses(previous) }, context),
    ...checkContainerStatuses(next, spec, context),
  ]
}

/** Validates the types and observed generations of conditions. Errors have the paths that clients expect. */
function checkConditions(conditions: NonNullable<PodStatus['conditions']>, place: FieldPath): FieldError[] {
  return conditions.flatMap(({ type = '', observedGeneration }, i) => [
    ...(ownConditions.includes(type)
      ? []
      : checkQualifiedName(type).map((text) => invalid(`${place}.conditions[${i}].Type`, type, text))),
    ...checkGeneration(observedGeneration, `status.conditions[${i}].observedGeneration`),
  ])
}

function checkGeneration(generation = 0, path: FieldPath): FieldError[] {
  return generation >= 0 ? [] : [invalid(path, generation, 'must be a non-negative integer')]
}

/** Returns the IP addresses in a status, each with its field path. */
function statusAddresses({ podIPs = [], hostIPs = [] }: PodStatus): Located[] {
  return [
    ...podIPs.map(({ ip = '' }, i): Located => [`status.podIPs[${i}]`, ip]),
    ...hostIPs.map(({ ip = '' }, i): Located => [`status.hostIPs[${i}]`, ip]),
  ]
}

/** Warns about IP addresses that are valid but not in canonical form. */
export function podStatusWarnings(status: PodStatus, context: RuleContext): string[] {
  if (!isSince('1.33', context)) return []
  return statusAddresses(status).flatMap(([path, ip]) => ipWarnings(child(path, 'ip'), ip))
}

function checkPodAddresses({ podIPs = [] }: PodStatus): FieldError[] {
  const path = 'status.podIPs'
  const ips = podIPs.map(({ ip = '' }) => ip)
  return [...checkFamilies(ips, path), ...[...repeatedAt(ips)].map((i) => duplicate(at(path, i), ips[i]!))]
}

/** Requires all addresses to be valid, with at most one address per IP family. */
function checkFamilies(ips: readonly string[], path: FieldPath): FieldError[] {
  const families = new Set(ips.map((ip) => parseIp(ip)?.family))
  const faults = ips.flatMap((ip, i) => checkIpAddress(ip).map((text) => invalid(at(path, i), ip, text)))
  const unreadable = ips.length > 1 && faults.length > 0
  return [
    ...faults,
    ...(unreadable ? [notJudged(path, 'the IP families of the addresses are unknown')] : []),
    ...(unreadable || ips.length > families.size
      ? [invalid(path, ips, 'may specify no more than one IP for each IP family')]
      : []),
  ]
}

function checkHostAddresses({ hostIP = '', hostIPs = [] }: PodStatus): FieldError[] {
  if (hostIPs.length === 0) return []
  const path = 'status.hostIPs'
  const ips = hostIPs.map(({ ip = '' }) => ip)
  return [
    ...(ips[0] === hostIP ? [] : [invalid(child(at(path, 0), 'ip'), ips[0], 'must be equal to `hostIP`')]),
    ...checkFamilies(ips, path),
  ]
}

type ClaimStatuses = NonNullable<PodStatus['resourceClaimStatuses']>

function checkClaimStatuses(statuses: ClaimStatuses, { resourceClaims = [] }: PodSpec, context: RuleContext) {
  const claims = new Set(resourceClaims.map(({ name }) => name))
  return statuses.flatMap(({ name, resourceClaimName: claim }, i) => {
    const path = at('status.resourceClaimStatuses', i)
    // Before 1.35, errors in the claim's name are reported for the field `name`, as clients expect.
    const place = child(path, isSince('1.35', context) ? 'resourceClaimName' : 'name')
    return [
      ...(claims.has(name)
        ? []
        : [invalid(child(path, 'name'), name, 'must match the name of an entry in `spec.resourceClaims`')]),
      ...(claim === undefined ? [] : checkDnsSubdomain(claim).map((text) => invalid(place, claim, text))),
    ]
  })
}

function checkExtendedClaim(status: PodStatus['extendedResourceClaimStatus'], spec: PodSpec): FieldError[] {
  if (status === undefined) return []
  const path = 'status.extendedResourceClaimStatus'
  const names = new Set([...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(({ name }) => name))
  const { requestMappings = [], resourceClaimName: claim = '' } = status
  const place = child(path, 'resourceClaimName')
  return [
    ...requestMappings.flatMap(({ containerName, requestName = '' }, i) => [
      ...(names.has(containerName)
        ? []
        : [invalid(`${path}.requestMappings[${i}].containerName`, containerName, 'must name a container of the pod')]),
      // These paths contain no index, because clients expect them in this form.
      ...checkDnsLabel(requestName).map((text) => invalid(child(path, 'requestName'), requestName, text)),
    ]),
    ...(claim === '' ? [required(place)] : checkDnsSubdomain(claim).map((text) => invalid(place, claim, text))),
  ]
}

type AllocatableClaims = NonNullable<PodStatus['nodeAllocatableResourceClaimStatuses']>

function checkAllocatableClaims(statuses: AllocatableClaims, spec: PodSpec, { vendor }: RuleContext): FieldError[] {
  const names = new Set([...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(({ name }) => name))
  const repeated = repeatedAt(statuses.map(({ resourceClaimName }) => resourceClaimName))
  return statuses.flatMap(({ resourceClaimName: claim = '', containers = [], resources = {} }, i) => {
    const path = at('status.nodeAllocatableResourceClaimStatuses', i)
    const place = child(path, 'resourceClaimName')
    return [
      ...(claim === '' ? [required(place)] : checkDnsSubdomain(claim).map((text) => invalid(place, claim, text))),
      ...(repeated.has(i) ? [duplicate(place, claim)] : []),
      ...containers.flatMap((name, j) =>
        names.has(name) ? [] : [invalid(at(child(path, 'containers'), j), name, 'must name a container of the pod')],
      ),
      ...(Object.keys(resources).length === 0 ? [required(child(path, 'resources'))] : []),
      ...Object.entries(resources).flatMap(([name, amount]) => {
        const key = at(child(path, 'resources'), name)
        return [...checkResourceName(name, key), ...checkResourceAmount([name, amount], key, vendor)]
      }),
    ]
  })
}

const lists = [
  ['containerStatuses', 'containers'],
  ['initContainerStatuses', 'initContainers'],
  ['ephemeralContainerStatuses', 'ephemeralContainers'],
] as const

function checkContainerStatuses(status: PodStatus, spec: PodSpec, context: RuleContext): FieldError[] {
  return lists.flatMap(([list, containers]) => {
    const resources = new Map(spec[containers]?.map(({ name, resources = {} }) => [name, resources]))
    return (status[list] ?? []).flatMap((one, i) => {
      const path = at(child('status', list), i)
      return [
        ...checkUser(one, { path, os: spec.os?.name }, context),
        ...(list === 'ephemeralContainerStatuses'
          ? checkNoDevices(one, path)
          : checkDevices(one, resources.get(one.name), path)),
      ]
    })
  })
}

interface StatusPlace {
  readonly path: FieldPath
  readonly os: string | undefined
}

function checkUser({ user }: ContainerStatus, { path, os }: StatusPlace, context: RuleContext): FieldError[] {
  if (user?.linux === undefined) return []
  const { uid = 0, gid = 0, supplementalGroups = [] } = user.linux
  const place = child(path, isSince('1.32', context) ? 'user.linux' : 'linux')
  if (os === 'windows') return [forbidden(place, 'cannot be set for a windows pod')]
  return [
    ...checkId(uid, child(place, 'uid')),
    ...checkId(gid, child(place, 'gid')),
    ...supplementalGroups.flatMap((id, i) => checkId(id, at(child(place, 'supplementalGroups'), i))),
  ]
}

function checkNoDevices({ allocatedResourcesStatus }: ContainerStatus, path: FieldPath): FieldError[] {
  if (allocatedResourcesStatus === undefined) return []
  return [forbidden(child(path, 'allocatedResourcesStatus'), 'cannot be set for a container status')]
}

type Resources = NonNullable<NonNullable<PodSpec['containers']>[number]['resources']>

const healthStates = ['Healthy', 'Unhealthy', 'Unknown']

/** Validates the health of devices, each of which must belong to a resource that the container requests. */
function checkDevices(
  { allocatedResourcesStatus = [] }: ContainerStatus,
  resources: Resources | undefined,
  path: FieldPath,
) {
  return allocatedResourcesStatus.flatMap(({ name = '', resources: devices = [] }, i) => {
    const place = at(child(path, 'allocatedResourcesStatus'), i)
    const repeated = repeatedAt(devices.map(({ resourceID = '' }) => resourceID))
    return [
      ...(resources === undefined || isRequested(name, resources)
        ? []
        : [invalid(child(place, 'name'), name, "must match one of the container's resource requests")]),
      ...devices.flatMap(({ resourceID, health = '' }, j) => [
        ...(healthStates.includes(health)
          ? []
          : [notSupported(child(at(child(place, 'resources'), j), 'health'), health, healthStates)]),
        ...(repeated.has(j) ? [duplicate(child(at(child(place, 'resources'), j), 'resourceID'), resourceID)] : []),
      ]),
    ]
  })
}

const claimPrefix = 'claim:'

function isRequested(name: string, { requests = {}, claims = [] }: Resources): boolean {
  if (!name.startsWith(claimPrefix)) return Object.hasOwn(requests, name)
  const claim = name.slice(claimPrefix.length)
  return claims.some(({ name, request }) => claim === (request ? `${name}/${request}` : name))
}

/**
 * Addresses and IP families of a Service. `clusterIP` equals the first entry of `clusterIPs`, and each entry belongs to
 * the family at the same index of `ipFamilies`. `ipFamilyPolicy` determines how many families there are. Clients may
 * set any of these fields, and `allocateAddresses` completes the others from the ranges of the cluster.
 */

import { sameJson } from '../../../json/json.ts'
import { at, duplicate, type FieldError, invalid, notSupported, required } from '../../../model/field-error.ts'
import { formatIp, type IpFamily, parseIp } from '../../../model/ip-range.ts'
import { checkIpAddress } from '../../../model/names.ts'
import type { Allocator, Reservation } from '../../../schema/reservations.ts'
import { isHeadless, isInCluster, type ServiceSpec } from './service-spec.ts'

/** Name of the reservation pool for each IP family. */
export const addressPools: { readonly [family in IpFamily]: string } = {
  IPv4: 'cluster-ips-v4',
  IPv6: 'cluster-ips-v6',
}

const families: readonly string[] = ['IPv4', 'IPv6']
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
const policyPath = 'spec.ipFamilyPolicy'
const ipsPath = 'spec.clusterIPs'

/** Returns the reservations for the cluster IPs of a Service. */
export function heldAddresses(spec: ServiceSpec): Reservation[] {
  if (!isInCluster(spec)) return []
  return (spec.clusterIPs ?? []).flatMap((text) => {
    const ip = parseIp(text)
    return ip === undefined ? [] : [{ pool: addressPools[ip.family], value: formatIp(ip) }]
  })
}

/** Validates the consistency of addresses and families, whether set by a client or by the server. */
export function checkAddresses(spec: ServiceSpec): FieldError[] {
  if (!isInCluster(spec)) return []
  const errors = [...checkFirst(spec), ...checkFamilies(spec)]
  const { clusterIPs = [] } = spec
  const form = checkForm(clusterIPs)
  errors.push(...form)
  if (clusterIPs.length > 2) errors.push(invalid(ipsPath, clusterIPs, 'may only hold up to 2 values'))
  return form.length > 0 ? errors : [...errors, ...checkKinds(spec)]
}

function checkFirst({ clusterIP = '', clusterIPs = [] }: ServiceSpec): FieldError[] {
  if (clusterIP === '')
    return clusterIPs.length === 0
      ? []
      : [invalid(ipsPath, clusterIPs, 'must be empty when `clusterIP` is not specified')]
  if (clusterIPs.length === 0) return [required(ipsPath)]
  return clusterIPs[0] === clusterIP ? [] : [invalid(ipsPath, clusterIPs, 'first value must match `clusterIP`')]
}

function checkFamilies({ ipFamilies = [], ipFamilyPolicy: policy }: ServiceSpec): FieldError[] {
  return [
    ...ipFamilies.flatMap((family, i) => [
      ...(families.includes(family) ? [] : [notSupported(at('spec.ipFamilies', i), family, families)]),
      ...(ipFamilies.indexOf(family) < i ? [duplicate(at('spec.ipFamilies', i), family)] : []),
    ]),
    ...(policy === undefined || policies.includes(policy) ? [] : [notSupported(policyPath, policy, policies)]),
  ]
}

function checkForm(clusterIPs: string[]): FieldError[] {
  return clusterIPs.flatMap((ip, i) => {
    if (i > 0 || ip !== 'None') return checkIpAddress(ip).map((text) => invalid(at(ipsPath, i), ip, text))
    return clusterIPs.length === 1 ? [] : [invalid(ipsPath, clusterIPs, "'None' must be the first and only value")]
  })
}

function checkKinds(spec: ServiceSpec): FieldError[] {
  const { clusterIPs = [], ipFamilies = [] } = spec
  if (isHeadless(spec)) return []
  const parsedFamilies = clusterIPs.map((ip) => parseIp(ip)?.family)
  const mixed = new Set(parsedFamilies).size === 2 || clusterIPs.length < 2
  return [
    ...(mixed ? [] : [invalid(ipsPath, clusterIPs, 'may specify no more than one IP for each IP family')]),
    ...parsedFamilies.flatMap((family, i) => {
      const slotsToFill = ipFamilies[i]
      return slotsToFill === undefined || slotsToFill === family || !families.includes(slotsToFill)
        ? []
        : [
            invalid(
              at(ipsPath, i),
              clusterIPs[i],
              `expected an ${slotsToFill} value as indicated by \`ipFamilies[${i}]\``,
            ),
          ]
    }),
  ]
}

/** Completes families and addresses. Returns errors for values that the cluster does not support. Modifies `next`. */
export function allocateAddresses(
  next: ServiceSpec,
  previous: ServiceSpec | undefined,
  allocator: Allocator,
): FieldError[] {
  if (!isInCluster(next) || staysAsItWas(next, previous)) return []
  const faults = settleFamilies(next, previous, allocator)
  if (faults.length > 0 || isHeadless(next)) return faults
  const slotsToFill = placesToFill(next, previous)
  for (const place of slotsToFill) {
    const fault = fillPlace(next, place, allocator)
    if (fault !== undefined) return [fault]
  }
  next.clusterIP = next.clusterIPs?.[0] ?? ''
  return []
}

/**
 * Whether an update preserves the addresses and families. A PreferDualStack Service keeps the addresses from its
 * creation. If the ranges of the cluster change, the Service gains or loses addresses only when a client updates these
 * fields.
 */
function staysAsItWas(next: ServiceSpec, previous: ServiceSpec | undefined): boolean {
  return (
    previous !== undefined &&
    next.type === previous.type &&
    next.ipFamilyPolicy === 'PreferDualStack' &&
    (previous.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack' &&
    sameJson(next.clusterIPs ?? [], previous.clusterIPs ?? []) &&
    sameJson(next.ipFamilies ?? [], previous.ipFamilies ?? [])
  )
}

function settleFamilies(next: ServiceSpec, previous: ServiceSpec | undefined, allocator: Allocator): FieldError[] {
  const names = next.clusterIP === 'None' && Object.keys(next.selector ?? {}).length === 0
  next.ipFamilyPolicy ??= previous?.ipFamilyPolicy ?? (names ? 'RequireDualStack' : 'SingleStack')
  const unsound = checkAddresses(next)
  if (unsound.length > 0) return unsound
  const faults = [
    ...(previous === undefined ? [] : checkReduced(next, previous)),
    ...checkOneStack(next),
    ...inferFamilies(next, allocator),
  ]
  if (faults.length > 0) return faults
  const served = servedFamilies(allocator)
  // A headless Service without a selector has no allocated address, and its endpoints are managed externally. It may
  // therefore use families that the cluster does not support.
  const missing = names ? [] : checkServed(next, served)
  if (missing.length > 0) return missing
  completeFamilies(next, names ? families : served, served)
  return []
}

function completeFamilies(next: ServiceSpec, possible: readonly string[], served: readonly string[]): void {
  const requestedFamilies = next.ipFamilies ?? []
  const first = requestedFamilies.length > 0 ? requestedFamilies : served.slice(0, 1)
  const other = next.ipFamilyPolicy === 'SingleStack' ? [] : possible.filter((family) => !first.includes(family))
  next.ipFamilies = [...first, ...other]
}

/** Returns the IP families for which the cluster has ranges, primary family first. */
function servedFamilies({ pools }: Allocator): string[] {
  return pools.flatMap((name) => families.filter((family) => addressPools[family as IpFamily] === name))
}

/**
 * Releases the second address if the policy is SingleStack. With other policies, omitting the second address is an
 * error. Modifies `next`.
 */
function checkReduced(next: ServiceSpec, previous: ServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  for (const [name, noun] of [
    ['clusterIPs', 'cluster IP'],
    ['ipFamilies', 'IP family'],
  ] as const) {
    const before = previous[name] ?? []
    const after = next[name] ?? []
    if (next.ipFamilyPolicy === 'SingleStack') {
      if (after.length > 1 && sameJson(after, before)) next[name] = after.slice(0, 1)
    } else if (after.length > 0 && after.length < before.length)
      errors.push(invalid(policyPath, next.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${noun}`))
  }
  return errors
}

function checkOneStack({ ipFamilyPolicy: policy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] {
  if (policy !== 'SingleStack') return []
  const secondaryForbidden = (noun: string) =>
    invalid(policyPath, policy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${noun} are specified`)
  return [
    ...(clusterIPs.length === 2 ? [secondaryForbidden('cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [secondaryForbidden('IP families')] : []),
  ]
}

/** Derives missing families from the requested addresses. Modifies `next`. */
function inferFamilies(next: ServiceSpec, allocator: Allocator): FieldError[] {
  const served = servedFamilies(allocator)
  const { clusterIPs = [] } = next
  const requestedFamilies = next.ipFamilies ?? []
  if (isHeadless(next)) return []
  const further = clusterIPs.slice(requestedFamilies.length).map((ip) => parseIp(ip)!.family)
  next.ipFamilies = [...requestedFamilies, ...further]
  return further.flatMap((family, i) =>
    served.includes(family)
      ? []
      : [invalid(at(ipsPath, requestedFamilies.length + i), clusterIPs, `${family} is not configured on this cluster`)],
  )
}

function checkServed(
  { ipFamilyPolicy: policy, ipFamilies = [] }: ServiceSpec,
  served: readonly string[],
): FieldError[] {
  return [
    ...(policy === 'RequireDualStack' && served.length < 2
      ? [invalid(policyPath, policy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...ipFamilies.flatMap((family, i) =>
      served.includes(family) ? [] : [invalid(at('spec.ipFamilies', i), family, 'not configured on this cluster')],
    ),
  ]
}

/**
 * Returns the indexes of `clusterIPs` that still need an address. Existing addresses remain, and validation rejects
 * changes to them.
 */
function placesToFill(next: ServiceSpec, previous: ServiceSpec | undefined): number[] {
  const places = [...(next.ipFamilies ?? []).keys()]
  if (previous === undefined || !isInCluster(previous)) return places
  if (isHeadless(previous)) return []
  return places.slice(previous.ipFamilies?.length ?? 0)
}

function fillPlace(next: ServiceSpec, place: number, allocator: Allocator): FieldError | undefined {
  const pool = addressPools[next.ipFamilies![place] as IpFamily]
  const clusterIPs = [...(next.clusterIPs ?? [])]
  const requestedIp = parseIp(clusterIPs[place] ?? '')
  if (requestedIp !== undefined) {
    const refusal = allocator.refuse(pool, formatIp(requestedIp))
    return (
      (refusal && invalid(ipsPath, clusterIPs, `failed to allocate IP ${clusterIPs[place]}: ${refusal}`)) || undefined
    )
  }
  const drawn = allocator.draw(pool)
  if (drawn === undefined) return invalid(ipsPath, clusterIPs, 'failed to allocate an IP: the range is full')
  clusterIPs[place] = drawn
  next.clusterIPs = clusterIPs
  return undefined
}

/** Rejects changes to the primary address and family. The secondary address and family may be added and removed. */
export function checkAddressUpdate(next: ServiceSpec, previous: ServiceSpec): FieldError[] {
  if (!isInCluster(next) || !isInCluster(previous)) return []
  const headless = isHeadless(next)
  const wasHeadless = isHeadless(previous)
  return [
    ...(headless && wasHeadless ? [] : checkKept(next, previous, 'clusterIPs')),
    ...(headless || wasHeadless ? [] : checkKept(next, previous, 'ipFamilies')),
  ]
}

function checkKept(next: ServiceSpec, previous: ServiceSpec, name: 'clusterIPs' | 'ipFamilies'): FieldError[] {
  const before = previous[name] ?? []
  const after = next[name] ?? []
  const path = `spec.${name}`
  if (after.length === 0 && before.length > 0) return [invalid(at(path, 0), after, 'the first value cannot be removed')]
  const common = before.length === after.length ? before : before.slice(0, 1)
  const changed = [...common.entries()].filter(([i, value]) => value !== after[i])
  const released = before.length > after.length && next.ipFamilyPolicy !== 'SingleStack'
  return [
    ...changed.map(([i]) => invalid(at(path, i), after, 'may not change once set')),
    ...(released
      ? [invalid(policyPath, next.ipFamilyPolicy, `must be set to 'SingleStack' when releasing the second of ${name}`)]
      : []),
  ]
}

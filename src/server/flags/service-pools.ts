/** Pools of cluster IPs and node ports for Services, as configured by flags. */

import { addressPools } from '../../api/kinds/core/types/service-addresses.ts'
import { portPool } from '../../api/kinds/core/types/service-ports.ts'
import { formatIp, type IpRange, parseIp, parsePlainRange } from '../../api/model/ip-range.ts'
import type { Gates } from '../../api/versions/feature-gates.ts'
import { JointPool } from '../../apiserver/registry/reservations/joint-pool.ts'
import type { Pool } from '../../apiserver/registry/reservations/pools.ts'
import type { ReadyRanges } from '../../apiserver/registry/reservations/ready-ranges.ts'
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import { UsageError } from '../../base/flags/flags.ts'

export interface PortRange {
  readonly first: number
  readonly last: number
}

export interface ServiceRanges {
  /** CIDR range for cluster IPs, or one range per IP family, primary family first. */
  readonly serviceClusterIpRange: readonly IpRange[]
  readonly serviceNodePortRange: PortRange
}

const smallest = 8n
const largest = 1n << 20n

export function readClusterRanges(text: string): IpRange[] {
  const ranges = text.split(',').map((item) => readClusterRange(item.trim()))
  if (ranges.length > 2) throw new UsageError('specify at most two ranges, one per IP family')
  if (ranges.length === 2 && ranges[0]!.family === ranges[1]!.family)
    throw new UsageError(
      `${ranges[0]!.text} and ${ranges[1]!.text} have the same IP family: use one IPv4 and one IPv6 range`,
    )
  return ranges
}

function readClusterRange(text: string): IpRange {
  const range = parsePlainRange(text)
  if (range === undefined)
    throw new UsageError(`${JSON.stringify(text)} is not a CIDR range: use a range such as 10.0.0.0/24`)
  if (range.size < smallest)
    throw new UsageError(`${range.text} is too small: use a range with at least ${smallest} addresses`)
  if (range.size > largest)
    throw new UsageError(`${range.text} is too large: use /${range.family === 'IPv4' ? 12 : 108} or a longer prefix`)
  return range
}

/** Parses a range of ports: `30000-32767`, a first port and a count such as `30000+100`, or a single port. */
export function readPortRange(text: string): PortRange {
  const [, from = '', sign, to = ''] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(text) ?? []
  const first = Number(from)
  const last = sign === undefined ? first : sign === '-' ? Number(to) : first + Number(to)
  if (from === '' || first < 1 || last > 65535 || last < first)
    throw new UsageError(`${JSON.stringify(text)} is not a port range: use a range such as 30000-32767`)
  return { first, last }
}

/** Returns the pools of cluster IPs and node ports that the server allocates to Services. */
export function servicePools({ serviceClusterIpRange, serviceNodePortRange }: ServiceRanges, gates: Gates): Pool[] {
  return [...addressPoolsOf(serviceClusterIpRange, gates), nodePortPool(serviceNodePortRange, gates)]
}

/**
 * Returns the pools for a server whose Service addresses come from ServiceCIDRs. Until a ServiceCIDR exists, the ranges
 * in the flags are used.
 */
export function poolsOfServiceCidrs(
  { serviceClusterIpRange, serviceNodePortRange }: ServiceRanges,
  ready: Pick<ReadyRanges, 'current'>,
  gates: Gates,
): Pool[] {
  const own = addressPoolsOf(serviceClusterIpRange, gates)
  const joint = own.map((pool, i) => {
    const { family, text } = serviceClusterIpRange[i]!
    const poolOf = (range: IpRange) => (range.text === text ? pool : addressPool(range, gates))
    const ofFamily = memoizeByObject((ranges: readonly IpRange[]) =>
      ranges.filter((range) => range.family === family).map(poolOf),
    )
    return new JointPool(pool, () => {
      const ranges = ready.current()
      return ranges === undefined ? [pool] : ofFamily(ranges)
    })
  })
  return [...joint, nodePortPool(serviceNodePortRange, gates)]
}

function addressPoolsOf([primary, ...others]: readonly IpRange[], gates: Gates): Pool[] {
  // Reserve the first address for the API servers' own Service (`ownAddress`).
  return [{ ...addressPool(primary!, gates), reserved: 1 }, ...others.map((range) => addressPool(range, gates))]
}

/**
 * Returns the size of a pool's static band as in Kubernetes: a fraction of the range, within limits. Small ranges have
 * no static band.
 */
function staticBandOf(size: number, { fraction, most }: { readonly fraction: number; readonly most: number }): number {
  const least = 16
  return size <= least ? 0 : Math.min(Math.max(least, Math.floor(size / fraction)), most)
}

/** Returns the cluster IP of the API server: the first address of the primary range. */
export function ownAddress({ serviceClusterIpRange: [primary] }: ServiceRanges): string {
  const { family, base } = primary!
  return formatIp({ family, number: base + 1n })
}

/** Maximum number of addresses to use from an IPv6 range. This limits the search for a free address. */
const maxAddresses = 65536n

/** Returns the pool for a range. Excludes the network address and, for IPv4, the broadcast address. */
function addressPool({ family, base, size, text }: IpRange, gates: Gates): Pool {
  const usable = family === 'IPv4' ? size - 2n : (size < maxAddresses ? size : maxAddresses) - 1n
  const used = usable < 0n ? 0n : usable
  const poolIndex = (value: string) => {
    const address = parseIp(value)
    return address?.family === family ? address.number - base - 1n : -1n
  }
  return {
    name: addressPools[family],
    size: Number(used),
    ...(gates.has('ServiceIPStaticSubrange') && {
      staticBand: staticBandOf(Number(size), { fraction: 16, most: 256 }),
    }),
    at: (place) => formatIp({ family, number: base + 1n + BigInt(place) }),
    contains: (value) => poolIndex(value) >= 0n && poolIndex(value) < used,
    outside: (value) => `the provided IP (${value}) is not in the valid range. The range of valid IPs is ${text}`,
    takenError: 'provided IP is already allocated',
  }
}

function nodePortPool({ first, last }: PortRange, gates: Gates): Pool {
  const size = last - first + 1
  return {
    name: portPool,
    size,
    ...(gates.has('ServiceNodePortStaticSubrange') && { staticBand: staticBandOf(size, { fraction: 32, most: 128 }) }),
    at: (place) => String(first + place),
    contains: (value) => Number(value) >= first && Number(value) <= last,
    outside: () => `provided port is not in the valid range. The range of valid ports is ${first}-${last}`,
    takenError: 'provided port is already allocated',
  }
}

/** Parses and formats IP addresses and ranges such as `10.0.0.0/24`. Each address has one canonical form. */
import { ipVersion, withoutLeadingZeros } from './names.ts'

/** IP address family. */
export type IpFamily = 'IPv4' | 'IPv6'

/** An IP address as a number. */
export interface IpAddress {
  readonly family: IpFamily
  readonly number: bigint
}

/** An IP address range such as `10.0.0.0/24`. */
export interface IpRange {
  readonly family: IpFamily
  /** First address of the range as a number. */
  readonly base: bigint
  /** Number of addresses in the range. */
  readonly size: bigint
  /** Canonical text of the range. */
  readonly text: string
}

const widths = { IPv4: 32, IPv6: 128 } as const
/** The 16 bits before the IPv4 address in an IPv4-mapped address, such as `::ffff:10.0.0.1`. */
const mapped = 0xffffn

/**
 * Parses an address. Returns undefined if the string is not an address. Numbers with leading zeros are parsed as
 * decimal.
 */
export function parseIp(address: string): IpAddress | undefined {
  const version = ipVersion(address)
  if (version === 0) return undefined
  if (version === 4) return { family: 'IPv4', number: BigInt(`0x${hexOfIpv4(address)}`) }
  const number = BigInt(`0x${hexOfIpv6(address)}`)
  return number >> 32n === mapped ? { family: 'IPv4', number: number & 0xffffffffn } : { family: 'IPv6', number }
}

/** Returns the canonical text of an address. */
export function formatIp({ family, number }: IpAddress): string {
  if (family === 'IPv4') return groupsOf(number.toString(16).padStart(8, '0'), 2).join('.')
  return shortIpv6(groupsOf(number.toString(16).padStart(32, '0'), 4))
}

/**
 * Parses a range. Returns undefined if the string is not a range. Bits below the mask are ignored, so 10.0.0.7/24 is
 * the same range as 10.0.0.0/24.
 */
export function parseRange(text: string): IpRange | undefined {
  const [, first = '', digits = ''] = /^([^/]{1,45})\/(0|[1-9][0-9]{0,2})$/.exec(withoutLeadingZeros(text)) ?? []
  const address = parseIp(first)
  const bits = Number(digits)
  if (address === undefined || bits > widths[address.family]) return undefined
  const { family, number } = address
  const size = 1n << BigInt(widths[family] - bits)
  const base = number - (number % size)
  return { family, base, size, text: `${formatIp({ family, number: base })}/${bits}` }
}

/**
 * Parses a range in operator configuration. Leading zeros are rejected because some programs interpret them as octal.
 */
export function parsePlainRange(text: string): IpRange | undefined {
  return withoutLeadingZeros(text) === text ? parseRange(text) : undefined
}

/** Whether an address is in a range. */
export function isWithin({ family, number }: IpAddress, range: IpRange): boolean {
  return family === range.family && number >= range.base && number < range.base + range.size
}

/** Whether a range lies inside another range and is smaller. */
export function isStrictlyWithin(inner: IpRange, outer: IpRange): boolean {
  if (inner.family !== outer.family || inner.size >= outer.size) return false
  return inner.base - (inner.base % outer.size) === outer.base
}

/** Converts an IPv4 address to eight hexadecimal digits. */
function hexOfIpv4(text: string): string {
  let hex = ''
  for (const part of text.split('.')) hex += Number(part).toString(16).padStart(2, '0')
  return hex
}

/** Returns all 32 hexadecimal digits of an IPv6 address. The last two groups can be written as an IPv4 address. */
function hexOfIpv6(text: string): string {
  const gap = text.indexOf('::')
  if (gap < 0) return hexOfGroups(text)
  const before = hexOfGroups(text.slice(0, gap))
  const after = hexOfGroups(text.slice(gap + 2))
  return `${before}${after.padStart(32 - before.length, '0')}`
}

function hexOfGroups(text: string): string {
  let hex = ''
  if (text === '') return hex
  for (const group of text.split(':')) hex += group.includes('.') ? hexOfIpv4(group) : group.padStart(4, '0')
  return hex
}

function groupsOf(hex: string, digits: number): number[] {
  const groups: number[] = []
  for (let at = 0; at < hex.length; at += digits) groups.push(Number.parseInt(hex.slice(at, at + digits), 16))
  return groups
}

/**
 * Formats an IPv6 address in lower case. Omits the longest run of at least two zero groups, or the first of equally
 * long runs.
 */
function shortIpv6(groups: readonly number[]): string {
  let start = 0
  let length = 1
  for (let from = 0; from < groups.length; ) {
    let to = from
    while (groups[to] === 0) to++
    if (to - from > length) [start, length] = [from, to - from]
    from = to + 1
  }
  const written = groups.map((group) => group.toString(16))
  if (length === 1) return written.join(':')
  return `${written.slice(0, start).join(':')}::${written.slice(start + length).join(':')}`
}

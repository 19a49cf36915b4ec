/** Addresses as numbers, and ranges of them: `10.0.0.0/24`. Each address has one spelling here. */
import { isIPv4 } from 'node:net'
import { checkIpAddress, withoutLeadingZeros } from './names.ts'

/** The two versions of IP. */
export type IpFamily = 'IPv4' | 'IPv6'

export interface IpAddress {
  readonly family: IpFamily
  readonly number: bigint
}

/** The addresses that share a prefix. */
export interface IpRange {
  readonly family: IpFamily
  /** The address that all others count from. */
  readonly base: bigint
  /** How many addresses it has. */
  readonly size: bigint
  /** As it is written. */
  readonly text: string
}

const widths = { IPv4: 32, IPv6: 128 } as const
/** `::ffff:10.0.0.1` is another spelling of 10.0.0.1. */
const mapped = 0xffffn

/** Undefined where the text is not an address. Numbers with zeros before them are decimal. */
export function parseIp(address: string): IpAddress | undefined {
  if (checkIpAddress(address).length > 0) return undefined
  const text = withoutLeadingZeros(address)
  if (isIPv4(text)) return { family: 'IPv4', number: numberOf(text.split('.').map(Number), 8n) }
  const number = parseIpv6(text)
  return number >> 32n === mapped ? { family: 'IPv4', number: number & 0xffffffffn } : { family: 'IPv6', number }
}

/** The canonical text of an address. */
export function formatIp({ family, number }: IpAddress): string {
  if (family === 'IPv4') return partsOf(number, 4, 8n).join('.')
  const groups = partsOf(number, 8, 16n).map((group) => group.toString(16))
  return shortIpv6(groups.join(':'))
}

/** Undefined where the text is not a range. Bits below the mask do not count: 10.0.0.7/24 is 10.0.0.0/24. */
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

/** A range as an operator writes it: zeros before a number, which some read as octal, are not taken for decimal. */
export function parsePlainRange(text: string): IpRange | undefined {
  return withoutLeadingZeros(text) === text ? parseRange(text) : undefined
}

/** Whether a range lies within another and is smaller. */
export function isStrictlyWithin(inner: IpRange, outer: IpRange): boolean {
  if (inner.family !== outer.family || inner.size >= outer.size) return false
  return inner.base - (inner.base % outer.size) === outer.base
}

function parseIpv6(text: string): bigint {
  const [head = '', tail] = shortIpv6(text).split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const gap = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return numberOf([...before, ...gap, ...after], 16n)
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

/** The URL parser has one spelling for each address: lower case, the longest run of zeros left out, no dots. */
function shortIpv6(text: string): string {
  return new URL(`http://[${text}]`).hostname.slice(1, -1)
}

function numberOf(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n)
}

function partsOf(number: bigint, count: number, bits: bigint): number[] {
  const mask = (1n << bits) - 1n
  return Array.from({ length: count }, (_, i) => Number((number >> (bits * BigInt(count - 1 - i))) & mask))
}

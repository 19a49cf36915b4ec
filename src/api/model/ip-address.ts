/** Determines which IP addresses other hosts can reach, as opposed to addresses that are local to a host or link. */
import { BlockList, isIPv4 } from 'node:net'
import { checkIpAddress, withoutLeadingZeros } from './names.ts'

type Range = readonly [address: string, bits: number]

/** In an IPv6 multicast address, four flag bits precede the scope, which is 2 for link-local. */
const multicastOnLink = Array.from({ length: 16 }, (_, flags): Range => [`ff${flags.toString(16)}2::`, 16])

const special: readonly { readonly ranges: BlockList; readonly text: (ip: string) => string }[] = [
  {
    ranges: rangesOf(['0.0.0.0', 32], ['::', 128]),
    text: (ip) => `may not be unspecified (${isIPv4(ip) ? '0.0.0.0' : '::'})`,
  },
  {
    ranges: rangesOf(['127.0.0.0', 8], ['::1', 128]),
    text: () => 'may not be in the loopback range (127.0.0.0/8, ::1/128)',
  },
  {
    ranges: rangesOf(['169.254.0.0', 16], ['fe80::', 10]),
    text: () => 'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  },
  {
    ranges: rangesOf(['224.0.0.0', 24], ...multicastOnLink),
    text: () => 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
  },
]

/** Requires an address that other hosts can reach, that is, one that is not local to a host or link. */
export function checkReachableAddress(text: string): string[] {
  const faults = checkIpAddress(text)
  if (faults.length > 0) return faults
  const ip = withoutLeadingZeros(text)
  const family = isIPv4(ip) ? 'ipv4' : 'ipv6'
  return special.filter(({ ranges }) => ranges.check(ip, family)).map(({ text }) => text(ip))
}

function rangesOf(...ranges: readonly Range[]): BlockList {
  const list = new BlockList()
  for (const [address, bits] of ranges) list.addSubnet(address, bits, isIPv4(address) ? 'ipv4' : 'ipv6')
  return list
}

/** Returns the family of a range such as `10.0.0.0/24`, or undefined if the string is not a range. */
export function familyOfRange(text: string): 4 | 6 | undefined {
  const [, address = '', bits = ''] = /^([^/]{1,45})\/(0|[1-9][0-9]{0,2})$/.exec(withoutLeadingZeros(text)) ?? []
  if (checkIpAddress(address).length > 0) return undefined
  const family = isIPv4(address) ? 4 : 6
  return Number(bits) <= (family === 4 ? 32 : 128) ? family : undefined
}

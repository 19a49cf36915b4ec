/**
 * Requires a strict notation for IP addresses and ranges. Older clients could send leading zeros, IPv4 addresses in
 * IPv6 form and ranges with bits beyond the prefix. Other programs read such values differently.
 */
import { formatIp, parseIp, parseRange } from './ip-range.ts'
import { checkIpAddress, withoutLeadingZeros } from './names.ts'

const rangeRule = 'must be a valid IP range in CIDR notation (e.g. 10.9.8.0/24 or 2001:db8::/64)'

/** Requires an address in strict notation. IPv6 addresses may still be written in different ways. */
export function checkStrictIp(text: string): string[] {
  const faults = checkIpAddress(text)
  if (faults.length > 0) return faults
  return [
    ...(withoutLeadingZeros(text) === text ? [] : ['must not have leading zeros']),
    ...(isMapped(text) ? ['must not be an IPv4-mapped IPv6 address'] : []),
  ]
}

/** Requires a range in strict notation. IPv6 addresses may still be written in different ways. */
export function checkStrictRange(text: string): string[] {
  const range = parseRange(text)
  if (range === undefined) return [rangeRule]
  const [address = ''] = text.split('/')
  return [
    ...(withoutLeadingZeros(text) === text ? [] : ['must not have leading zeros in the address or prefix length']),
    ...(isMapped(address) ? ['must not have an IPv4-mapped IPv6 address'] : []),
    ...(parseIp(address)?.number === range.base ? [] : ['must not have bits set beyond the prefix length']),
  ]
}

/** Requires a range to be in canonical form. */
export function checkCanonicalRange(text: string): string[] {
  const faults = checkStrictRange(text)
  const canonical = parseRange(text)?.text
  return faults.length > 0 || canonical === text ? faults : [`must be in canonical form ("${canonical}")`]
}

/** Requires an address to be in canonical form. */
export function checkCanonicalIp(text: string): string[] {
  const faults = checkStrictIp(text)
  if (faults.length > 0) return faults
  const canonical = formatIp(parseIp(text)!)
  return canonical === text ? [] : [`must be in canonical form ("${canonical}")`]
}

/** Returns a warning if an address is valid but not in canonical form. */
export function ipWarnings(path: string, text: string): string[] {
  const ip = parseIp(text)
  if (ip === undefined || formatIp(ip) === text) return []
  return [`${path}: IP address "${text}" is not in canonical form; use "${formatIp(ip)}"`]
}

/** Returns a warning if a range is valid but not in canonical form. */
export function rangeWarnings(path: string, text: string): string[] {
  const range = parseRange(text)
  if (range === undefined || range.text === text) return []
  return [`${path}: IP range "${text}" is not in canonical form; use "${range.text}"`]
}

function isMapped(text: string): boolean {
  return text.includes(':') && parseIp(text)?.family === 'IPv4'
}

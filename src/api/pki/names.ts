/**
 * The names of a server certificate: DNS names and IP addresses. They are validated and converted to canonical form,
 * and can also be read from a certificate. `010.1.2.3` is rejected because some programs read it as octal
 * (CVE-2021-29923).
 */

import { isIPv4 } from 'node:net'
import { shorten } from '../../base/text/shorten.ts'
import { childrenOf, MalformedDer, readWhole, tags } from './der.ts'
import { element } from './encode-der.ts'

import { extensionOf } from './tbs.ts'

/** The host names and addresses for which a server certificate is valid. */
export interface AlternativeNames {
  readonly dns: readonly string[]
  readonly ips: readonly string[]
}

/** Maximum number of names in a certificate. Clients would reject a larger certificate because of its size. */
const maxNames = 256

const subjectAltNameId = Buffer.from('551d11', 'hex')
const dnsTag = 0x82
const ipTag = 0x87

/**
 * Validates names, converts them to canonical form, sorts them and removes duplicates. Throws an error for the first
 * invalid name.
 */
export function canonicalNames({ dns, ips }: AlternativeNames): AlternativeNames {
  if (dns.length + ips.length > maxNames) throw new Error(`more than ${maxNames} names for one certificate`)
  return { dns: sortedSet(dns.map(canonicalDns)), ips: sortedSet(ips.map(canonicalIp)) }
}

/** Returns the DNS names and addresses of a certificate in canonical form. Names of other types are omitted. */
export function readNames(certificate: Buffer): AlternativeNames {
  const extension = extensionOf(certificate, subjectAltNameId)
  const names = extension === undefined ? [] : childrenOf(readWhole(extension, tags.sequence))
  return {
    dns: sortedSet(names.filter(({ tag }) => tag === dnsTag).map(({ content }) => content.toString('latin1'))),
    ips: sortedSet(names.filter(({ tag }) => tag === ipTag).map(({ content }) => addressOf(content))),
  }
}

/** Encodes the names in DER for a certificate. */
export function alternativeNames(names: AlternativeNames): Buffer[] {
  const { dns, ips } = canonicalNames(names)
  return [
    ...dns.map((name) => element(dnsTag, Buffer.from(name, 'latin1'))),
    ...ips.map((address) => element(ipTag, bytesOf(address))),
  ]
}

/** Whether two canonical lists of names are equal. */
export function sameNames(a: AlternativeNames, b: AlternativeNames): boolean {
  return a.dns.join() === b.dns.join() && a.ips.join() === b.ips.join()
}

function canonicalDns(text: string): string {
  const labels = text.toLowerCase().split('.')
  const named = labels[0] === '*' && labels.length > 1 ? labels.slice(1) : labels
  const fits = text.length <= 253 && named.every(isLabel) && !isDigits(named.at(-1) ?? '')
  if (!fits) throw new Error(`not a DNS name: ${JSON.stringify(shorten(text, 300))}`)
  return labels.join('.')
}

function isLabel(label: string): boolean {
  return label.length <= 63 && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label)
}

// Whether a label consists only of digits. A name whose last label consists of digits looks like an IP address.
function isDigits(label: string): boolean {
  return /^[0-9]+$/.test(label)
}

function canonicalIp(text: string): string {
  const address = isIPv4(text) ? text : canonicalIpv6(text)
  if (address === undefined) throw new Error(`not an IP address: ${JSON.stringify(shorten(text, 300))}`)
  return address
}

// Returns an IPv6 address in canonical form. The URL parser is used because it rejects zones and leading zeros and
// produces one spelling for each address. `isIP` would compile a pattern at each start, which takes six milliseconds.
function canonicalIpv6(text: string): string | undefined {
  const plausible = text.length <= 45 && /^[0-9a-fA-F:.]+$/.test(text)
  return plausible ? URL.parse(`http://[${text}]`)?.hostname.slice(1, -1) : undefined
}

/** Formats an IPv4 or IPv6 address from its bytes, in canonical form. */
export function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length !== 16) throw new MalformedDer(`an IP address has ${bytes.length} bytes`)
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16))
  return canonicalIp(groups.join(':'))
}

// Returns the bytes of an IPv6 address in canonical form. In the address, `::` replaces the zero groups that are
// missing from the total of eight.
function bytesOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number))
  const [before, after] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const groups =
    after === undefined ? before! : [...before!, ...Array(8 - before!.length - after.length).fill('0'), ...after]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function sortedSet(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}

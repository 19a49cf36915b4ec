/**
 * Functions on IP addresses and address ranges, available since Kubernetes 1.30. The functions reject IPv4-mapped IPv6
 * addresses and addresses with a zone.
 */
import { formatIp, type IpAddress, parseIp } from '../../model/ip-range.ts'
import { sizeOf } from '../compare.ts'
import { type Costs, define, type Functions, type Implementation, introducedIn, joinTables } from '../overload.ts'
import { traversal } from '../size.ts'
import { CelError, Opaque, type Value } from '../values.ts'

class Ip extends Opaque {
  readonly kind = 'ip'
  readonly text: string
  readonly address: IpAddress

  constructor(address: IpAddress) {
    super()
    this.address = address
    this.text = formatIp(address)
  }
}

class Cidr extends Opaque {
  readonly kind = 'cidr'
  readonly text: string
  readonly address: IpAddress
  readonly bits: number

  constructor(address: IpAddress, bits: number) {
    super()
    this.address = address
    this.bits = bits
    this.text = `${formatIp(address)}/${bits}`
  }

  get width(): number {
    return widthOf(this.address)
  }

  contains({ family, number }: IpAddress): boolean {
    const host = BigInt(this.width - this.bits)
    return family === this.address.family && number >> host === this.address.number >> host
  }

  get masked(): Cidr {
    const host = BigInt(this.width - this.bits)
    const { family, number } = this.address
    return new Cidr({ family, number: (number >> host) << host }, this.bits)
  }
}

function widthOf({ family }: IpAddress): number {
  return family === 'IPv4' ? 32 : 128
}

/** Maximum length of an IP address or address range in text form. */
const maxText = 64
const leadingZero = /(?:^|\.)0\d/

/** Parses an IP address. Returns undefined if the string is not an address. */
function readIp(text: string): Ip | undefined {
  if (text.length > maxText || text.includes('%')) return undefined
  const isV6 = text.includes(':')
  if (leadingZero.test(isV6 ? text.slice(text.lastIndexOf(':') + 1) : text) && text.includes('.')) return undefined
  const address = parseIp(text)
  if (address === undefined || (isV6 && address.family === 'IPv4')) return undefined
  return new Ip(address)
}

function readCidr(text: string): Cidr | undefined {
  const match = /^([^/]{1,64})\/(0|[1-9]\d{0,2})$/.exec(text)
  const ip = match === null ? undefined : readIp(match[1]!)
  const bits = Number(match?.[2])
  return ip === undefined || bits > widthOf(ip.address) ? undefined : new Cidr(ip.address, bits)
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, maxText))
}

function ipOf(text: Value | undefined): Ip {
  const ip = readIp(text as string)
  if (ip === undefined)
    throw new CelError(`IP Address ${quoted(text as string)} parse error during conversion from string`)
  return ip
}

function cidrOf(text: Value | undefined): Cidr {
  const cidr = readCidr(text as string)
  if (cidr === undefined) throw new CelError(`CIDR ${quoted(text as string)} parse error during conversion from string`)
  return cidr
}

/**
 * Returns the cost of parsing a string. As in Kubernetes, the estimate is one unit regardless of the string's length.
 */
function reading(factor = 0.1): Costs {
  return { actual: ([text]) => traversal(sizeOf(text!), factor) }
}

/** Size in bytes of an IPv6 address, the largest value to compare. */
const maxBytes = 16

interface Compared {
  /** Whether the second operand of a comparison is a string, which must be parsed first. */
  readonly isText: boolean
  /** Whether the second operand is a range, whose address must be masked before the comparison. */
  readonly isRange: boolean
}

/** Returns the cost of comparing the bytes of two addresses. */
function comparing({ isText, isRange }: Compared): Costs {
  const bytesCost = (bytes: number) => traversal(2 * bytes) + (isRange ? traversal(bytes) + 1 : 0)
  return {
    actual: ([range, other]) => bytesCost(Math.ceil(asCidr(range).bits / 8)) + (isText ? traversal(sizeOf(other!)) : 0),
    estimate: ([, other]) => ({ cost: bytesCost(maxBytes) + (isText ? traversal(other!.size.max) : 0) }),
  }
}

const asCidr = (value: Value | undefined) => value as Cidr

function containsRange(outer: Cidr, inner: Cidr): boolean {
  return inner.bits >= outer.bits && outer.contains(inner.address)
}

/** Returns a function that tests whether an address is in one of the given ranges of its address family. */
function isIn(v4: readonly string[], v6: readonly string[]): Implementation {
  const ranges = [...v4, ...v6].map((text) => readCidr(text)!)
  return (_, [ip]) => ranges.some((range) => range.contains((ip as Ip).address))
}

const isUnspecified = isIn(['0.0.0.0/32'], ['::/128'])
const isLoopback = isIn(['127.0.0.0/8'], ['::1/128'])
const isLinkLocalMulticast = isIn(['224.0.0.0/24'], ['ff02::/16'])
const isLinkLocalUnicast = isIn(['169.254.0.0/16'], ['fe80::/10'])
const isMulticast = isIn(['224.0.0.0/4'], ['ff00::/8'])
const isBroadcast = isIn(['255.255.255.255/32'], [])
const isGlobalUnicast: Implementation = (run, args) =>
  ![isUnspecified, isLoopback, isMulticast, isLinkLocalUnicast, isBroadcast].some((test) => test(run, args))

const familyOf = ({ family }: IpAddress) => (family === 'IPv4' ? 4 : 6)

const addresses: Functions = new Map([
  [
    'ip',
    [
      define('(string) ip', (_, [text]) => ipOf(text), reading()),
      define('cidr.() ip', (_, [cidr]) => new Ip(asCidr(cidr).address)),
    ],
  ],
  ['isIP', [define('(string) bool', (_, [text]) => readIp(text as string) !== undefined, reading())]],
  ['ip.isCanonical', [define('(string) bool', (_, [text]) => ipOf(text).text === text, reading(0.2))]],
  ['family', [define('ip.() int', (_, [ip]) => familyOf((ip as Ip).address))]],
  ['isUnspecified', [define('ip.() bool', isUnspecified)]],
  ['isLoopback', [define('ip.() bool', isLoopback)]],
  ['isLinkLocalMulticast', [define('ip.() bool', isLinkLocalMulticast)]],
  ['isLinkLocalUnicast', [define('ip.() bool', isLinkLocalUnicast)]],
  ['isGlobalUnicast', [define('ip.() bool', isGlobalUnicast)]],
])

const ranges: Functions = new Map([
  ['cidr', [define('(string) cidr', (_, [text]) => cidrOf(text), reading())]],
  ['isCIDR', [define('(string) bool', (_, [text]) => readCidr(text as string) !== undefined, reading())]],
  [
    'containsIP',
    [
      define(
        'cidr.(string) bool',
        (_, [cidr, text]) => asCidr(cidr).contains(ipOf(text).address),
        comparing({ isText: true, isRange: false }),
      ),
      define(
        'cidr.(ip) bool',
        (_, [cidr, ip]) => asCidr(cidr).contains((ip as Ip).address),
        comparing({ isText: false, isRange: false }),
      ),
    ],
  ],
  [
    'containsCIDR',
    [
      define(
        'cidr.(string) bool',
        (_, [cidr, text]) => containsRange(asCidr(cidr), cidrOf(text)),
        comparing({ isText: true, isRange: true }),
      ),
      define(
        'cidr.(cidr) bool',
        (_, [cidr, other]) => containsRange(asCidr(cidr), asCidr(other)),
        comparing({ isText: false, isRange: true }),
      ),
    ],
  ],
  ['prefixLength', [define('cidr.() int', (_, [cidr]) => asCidr(cidr).bits)]],
  ['masked', [define('cidr.() cidr', (_, [cidr]) => asCidr(cidr).masked)]],
  [
    'string',
    [define('(ip) string', (_, [ip]) => (ip as Ip).text), define('(cidr) string', (_, [cidr]) => asCidr(cidr).text)],
  ],
])

export const networks: Functions = introducedIn(30, joinTables([addresses, ranges]))

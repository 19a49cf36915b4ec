/**
 * The addresses that this server connects to because a Node's or a Pod's status names them. Refused by default: addresses of
 * this machine, on every port; addresses of the local link and of metadata services, where clouds hand out credentials; and
 * IPv6 addresses that stand for an IPv4 address. `--allowed-proxy-cidrs` allows ranges of these; it never allows the
 * server's own port, and an IPv6 address that stands for a refused IPv4 address is refused within an allowed range too.
 */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type IpAddress, type IpRange, isWithin, parseIp, parseRange } from '../../api/model/ip-range.ts'
import { CallError } from '../outbound/call-error.ts'
import type { Address } from '../outbound/service-address.ts'

/** What the policy goes by. */
export interface AddressPolicyParts {
  /** Ranges that a flag allows. */
  readonly allowed: readonly IpRange[]
  /** Where this server listens; undefined before it does. */
  readonly ownAddress: () => Address | undefined
  /** Further addresses of this server; '' for none. */
  readonly advertised: string
}

/** Loopback, unspecified and "this network" addresses: the kernel keeps all of these on the machine. */
const thisMachine = rangesOf('0.0.0.0/8', '127.0.0.0/8', '::/128', '::1/128')

const refused = [
  ...thisMachine,
  ...rangesOf('169.254.0.0/16', 'fe80::/10'),
  // Multicast, reserved and broadcast.
  ...rangesOf('224.0.0.0/4', '240.0.0.0/4', 'ff00::/8'),
  // Metadata and host services: Alibaba, Azure, Oracle (with all of IETF's protocol assignments), Amazon, Google, Scaleway,
  // Akamai; and site-local addresses, which are no longer used.
  ...rangesOf('100.100.100.200/32', '168.63.129.16/32', '192.0.0.0/24'),
  ...rangesOf('fd00:ec2::/32', 'fd20:ce::/32', 'fd00:42::/32'),
  ...rangesOf('fd00:c1::/32', 'fd00:a9fe:a9fe::/48', 'fd00:100::/32', 'fec0::/10'),
]

interface Embedding {
  readonly contains: (number: bigint) => boolean
  /** The IPv4 addresses that such an address may stand for. */
  readonly embedded: (number: bigint) => readonly bigint[]
}

const lowBits = (number: bigint) => [number & 0xffffffffn]

/** IPv6 addresses that a machine or a router turns into IPv4 ones. */
const embeddings: readonly Embedding[] = [
  // IPv4-compatible (::/96) and IPv4-translated (::ffff:0:0:0/96).
  { contains: (number) => number >> 32n === 0n && number > 1n, embedded: lowBits },
  { contains: (number) => number >> 32n === 0xffff0000n, embedded: lowBits },
  // NAT64, with its well-known prefix and with the one for local use.
  { contains: within('64:ff9b::/96'), embedded: lowBits },
  {
    contains: within('64:ff9b:1::/48'),
    embedded: (number) => [...lowBits(number), (((number >> 64n) & 0xffffn) << 16n) | ((number >> 40n) & 0xffffn)],
  },
  // 6to4 and Teredo, which has the address of its server too.
  { contains: within('2002::/16'), embedded: (number) => [(number >> 80n) & 0xffffffffn] },
  {
    contains: within('2001::/32'),
    embedded: (number) => [~number & 0xffffffffn, (number >> 64n) & 0xffffffffn],
  },
  // ISATAP, below any prefix.
  {
    contains: (number) => [0x5efen, 0x2005efen].includes((number >> 32n) & 0xffffffffn),
    embedded: lowBits,
  },
]

/** Decides which addresses of nodes and pods may be connected to. */
export class AddressPolicy {
  readonly #parts: AddressPolicyParts

  constructor(parts: AddressPolicyParts) {
    this.#parts = parts
  }

  isAllowed(address: string, port: number): boolean {
    const family = isIP(address)
    const ip = parseIp(address)
    if (family === 0 || ip === undefined) return false
    // An IPv4 address that is written as an IPv6 one (::ffff:a.b.c.d) has a spelling of its own to be allowed by.
    if (family === 6 && ip.family === 'IPv4') return false
    return this.#isAllowedIp(ip, port)
  }

  /**
   * The address of a host, by which it is to be connected to: resolved once, so that what was checked is what is used.
   * Throws CallError where it may not be connected to, or does not exist.
   */
  async resolve(host: string, port: number): Promise<string> {
    const addresses = isIP(host) === 0 ? await resolve(host) : [host]
    const [first] = addresses
    if (first === undefined) throw new CallError('connection', 'no such host')
    if (!addresses.every((address) => this.isAllowed(address, port))) throw new CallError('connection', notAllowed)
    return first
  }

  #isAllowedIp(ip: IpAddress, port: number): boolean {
    const isOwn = this.#isOwn(ip)
    if (isOwn && port === this.#parts.ownAddress()?.port) return false
    const embedding = ip.family === 'IPv6' ? embeddings.find(({ contains }) => contains(ip.number)) : undefined
    const isRefused = isOwn || embedding !== undefined || refused.some((range) => isWithin(ip, range))
    if (isRefused && !this.#parts.allowed.some((range) => isWithin(ip, range))) return false
    const embedded = embedding?.embedded(ip.number) ?? []
    return embedded.every((number) => this.#isAllowedIp({ family: 'IPv4', number }, port))
  }

  #isOwn(ip: IpAddress): boolean {
    if (thisMachine.some((range) => isWithin(ip, range))) return true
    const { ownAddress, advertised } = this.#parts
    const local = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
    return [ownAddress()?.host ?? '', advertised, ...local.map(({ address }) => address)].some((text) => {
      const own = parseIp(text)
      return own?.family === ip.family && own.number === ip.number
    })
  }
}

/** The message for an address that may not be connected to. */
export const notAllowed =
  'address not allowed: it is of this machine, of the local link, of a metadata service or an IPv4 address within IPv6 (--allowed-proxy-cidrs)'

async function resolve(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    throw new CallError('connection', 'no such host')
  }
}

function rangesOf(...texts: readonly string[]): IpRange[] {
  return texts.map((text) => parseRange(text)!)
}

function within(text: string): (number: bigint) => boolean {
  const range = parseRange(text)!
  return (number) => isWithin({ family: 'IPv6', number }, range)
}

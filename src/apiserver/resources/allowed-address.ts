/**
 * Decides to which addresses in the status of Nodes and Pods this server may connect. By default, the server rejects
 * addresses of its own machine, link-local addresses, cloud metadata services (which provide credentials), and IPv6
 * addresses that embed an IPv4 address. `--allowed-proxy-cidrs` allows ranges of these addresses, but never this
 * server's own port. An IPv6 address that embeds a rejected IPv4 address is rejected even within an allowed range.
 */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type IpAddress, type IpRange, isWithin, parseIp, parseRange } from '../../api/model/ip-range.ts'
import { CallError } from '../../wire/http/client/call-error.ts'
import type { Address } from '../outbound/service-address.ts'

export interface AddressPolicyParts {
  /** The address ranges in `--allowed-proxy-cidrs`. */
  readonly allowed: readonly IpRange[]
  /** Returns the server's own listening address. Undefined before the server listens. */
  readonly ownAddress: () => Address | undefined
  /** The advertised address of this server. Empty if no address is advertised. */
  readonly advertised: string
}

/** Addresses that the kernel routes to the machine itself: loopback, unspecified, and "this network". */
const thisMachine = rangesOf('0.0.0.0/8', '127.0.0.0/8', '::/128', '::1/128')

const refused = [
  ...thisMachine,
  ...rangesOf('169.254.0.0/16', 'fe80::/10'),
  // Addresses that do not belong to a single host: multicast, reserved and broadcast addresses.
  ...rangesOf('224.0.0.0/4', '240.0.0.0/4', 'ff00::/8'),
  // Metadata services and host services of Alibaba, Azure, Oracle, Amazon, Google, Scaleway and Akamai, and deprecated
  // site-local addresses. Oracle's range covers all IETF protocol assignments.
  ...rangesOf('100.100.100.200/32', '168.63.129.16/32', '192.0.0.0/24'),
  ...rangesOf('fd00:ec2::/32', 'fd20:ce::/32', 'fd00:42::/32'),
  ...rangesOf('fd00:c1::/32', 'fd00:a9fe:a9fe::/48', 'fd00:100::/32', 'fec0::/10'),
]

interface Embedding {
  readonly contains: (number: bigint) => boolean
  /** Returns the IPv4 addresses embedded in an IPv6 address of this kind. */
  readonly embedded: (number: bigint) => readonly bigint[]
}

const lowBits = (number: bigint) => [number & 0xffffffffn]

/**
 * Kinds of IPv6 addresses that contain an IPv4 address. A host or router may translate such an address to the IPv4
 * address.
 */
const embeddings: readonly Embedding[] = [
  // IPv4-compatible (::/96) and IPv4-translated (::ffff:0:0:0/96) addresses.
  { contains: (number) => number >> 32n === 0n && number > 1n, embedded: lowBits },
  { contains: (number) => number >> 32n === 0xffff0000n, embedded: lowBits },
  // NAT64 addresses, with the well-known prefix and the prefix for local use.
  { contains: within('64:ff9b::/96'), embedded: lowBits },
  {
    contains: within('64:ff9b:1::/48'),
    embedded: (number) => [...lowBits(number), (((number >> 64n) & 0xffffn) << 16n) | ((number >> 40n) & 0xffffn)],
  },
  // 6to4 and Teredo addresses. A Teredo address also embeds the address of its Teredo server.
  { contains: within('2002::/16'), embedded: (number) => [(number >> 80n) & 0xffffffffn] },
  {
    contains: within('2001::/32'),
    embedded: (number) => [~number & 0xffffffffn, (number >> 64n) & 0xffffffffn],
  },
  // ISATAP addresses, with any prefix.
  {
    contains: (number) => [0x5efen, 0x2005efen].includes((number >> 32n) & 0xffffffffn),
    embedded: lowBits,
  },
]

/**
 * Checks whether the server may connect to an address in the status of a Node or Pod, to prevent server-side request
 * forgery.
 */
export class AddressPolicy {
  readonly #parts: AddressPolicyParts

  constructor(parts: AddressPolicyParts) {
    this.#parts = parts
  }

  isAllowed(address: string, port: number): boolean {
    const family = isIP(address)
    const ip = parseIp(address)
    if (family === 0 || ip === undefined) return false
    // Reject IPv4-mapped IPv6 addresses (::ffff:a.b.c.d). Users can write the IPv4 address instead.
    if (family === 6 && ip.family === 'IPv4') return false
    return this.#isAllowedIp(ip, port)
  }

  /**
   * Returns the IP address of a host. The caller must connect to this address, because another DNS lookup could return
   * an address that was not checked. Throws CallError if the address is not allowed or the host does not exist.
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

/** Error message for an address that the server must not connect to. */
export const notAllowed =
  'address not allowed: it belongs to this machine or to a metadata service, or it is link-local or an IPv6 address that embeds IPv4 (allow it with --allowed-proxy-cidrs)'

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

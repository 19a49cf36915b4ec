/**
 * Unauthenticated connections ("strangers"). Their number is limited, in total and per address, so that there is always
 * room for others. The limits no longer apply once a client is authenticated.
 *
 * When a limit is reached, an unauthenticated connection that has had enough time is closed for a new one. If all of
 * them are recent, as when hundreds of clients reconnect at once, the newest is rejected and has to try again. An
 * address with more connections than others loses one immediately: otherwise an attacker who keeps reconnecting could
 * lock out all others.
 */
import type { Socket } from 'node:net'
import { formatIp, parseIp } from '../../api/model/ip-range.ts'

export interface UnauthenticatedLimits {
  readonly total: number
  readonly perAddress: number
  /** Minimum time that an unauthenticated connection may stay open, in milliseconds. */
  readonly minTime: number
}

/**
 * Normalizes an address so that all addresses of one client are equal: an IPv6 /64, because one client usually has a
 * whole network, or a single IPv4 address. A dual-stack listener reports IPv4 addresses as `::ffff:10.0.0.1`.
 */
export function networkOf(address: string): string {
  const [withoutZone = ''] = address.split('%', 1)
  const ip = parseIp(withoutZone)
  if (ip === undefined) return address
  const { family, number } = ip
  return family === 'IPv4' ? formatIp(ip) : `${formatIp({ family, number: (number >> 64n) << 64n })}/64`
}

interface Stranger {
  readonly address: string
  readonly since: number
  socket: Socket
}

export class UnauthenticatedConnections {
  readonly #limits: UnauthenticatedLimits
  /** Unauthenticated connections, oldest first, in total and by address. */
  readonly #all = new Map<string, Stranger>()
  readonly #byAddress = new Map<string, Map<string, Stranger>>()

  constructor(limits: UnauthenticatedLimits) {
    this.#limits = limits
  }

  /** Returns false if there is no room. */
  admit(socket: Socket): boolean {
    const address = networkOf(socket.remoteAddress ?? '')
    const near = this.#byAddress.get(address) ?? new Map<string, Stranger>()
    if (!this.#makeRoom(near, this.#limits.perAddress)) return false
    if (!this.#makeRoom(this.#all, this.#limits.total) && !this.#evictFromLargest(near.size)) return false
    const key = connectionKey(socket)
    const stranger = { address, since: performance.now(), socket }
    this.#all.set(key, stranger)
    this.#byAddress.set(address, near.set(key, stranger))
    socket.on('close', () => this.#forget(key, stranger))
    return true
  }

  /** Replaces the plain socket of a connection by its TLS socket. */
  becomes(socket: Socket): void {
    const stranger = this.#all.get(connectionKey(socket))
    if (stranger !== undefined) stranger.socket = socket
  }

  /** The admitted socket of the same connection. */
  find(socket: Socket): Socket | undefined {
    return this.#all.get(connectionKey(socket))?.socket
  }

  /** A user has been authenticated on the connection. */
  knows(key: string): void {
    const stranger = this.#all.get(key)
    if (stranger !== undefined) this.#forget(key, stranger)
  }

  /** Closes a connection to make room for this one. Returns false if none may be closed. */
  evictFor(socket: Socket): boolean {
    if (this.#all.size === 0) return false
    const near = this.#byAddress.get(networkOf(socket.remoteAddress ?? ''))
    return this.#makeRoom(this.#all, this.#all.size) || this.#evictFromLargest(near?.size ?? 0)
  }

  /**
   * Closes the oldest connection of the address with the most connections, unless that leaves it with fewer than the
   * new client.
   */
  #evictFromLargest(ownCount: number): boolean {
    let largest: ReadonlyMap<string, Stranger> = new Map()
    for (const each of this.#byAddress.values()) if (each.size > largest.size) largest = each
    if (largest.size <= ownCount + 1) return false
    this.#evict(...largest.entries().next().value!)
    return true
  }

  /** Closes the oldest connection if the limit is reached. Returns false if it is too recent. */
  #makeRoom(among: ReadonlyMap<string, Stranger>, limit: number): boolean {
    if (among.size < limit) return true
    const [key, oldest] = among.entries().next().value!
    if (performance.now() - oldest.since < this.#limits.minTime) return false
    this.#evict(key, oldest)
    return true
  }

  #evict(key: string, stranger: Stranger): void {
    this.#forget(key, stranger)
    stranger.socket.destroy()
  }

  #forget(key: string, stranger: Stranger): void {
    if (this.#all.get(key) !== stranger) return
    this.#all.delete(key)
    const near = this.#byAddress.get(stranger.address)
    near?.delete(key)
    if (near?.size === 0) this.#byAddress.delete(stranger.address)
  }
}

/** Identifies a connection. Its plain socket and its TLS socket have the same key. */
export function connectionKey({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/**
 * The connections on which nobody has proved yet who they are: strangers. They are bounded, in all and per address, so
 * that some room is always left for others; once a client has proved it, it is not bounded any more.
 *
 * Where there is no room an unauthenticated connection that has had enough time is closed for a new one. If all are new
 * themselves, as when hundreds of clients come back at once, the newest is turned away and comes again. An address with more
 * connections than others has to give one up at once: otherwise an attacker who always renews them would keep out all others.
 */
import type { Socket } from 'node:net'
import { formatIp, parseIp } from '../../api/model/ip-range.ts'

export interface UnauthenticatedLimits {
  readonly total: number
  readonly perAddress: number
  /** How long an unauthenticated connection may stay in any case, in milliseconds. */
  readonly minTime: number
}

/**
 * The addresses that count as one client: a /64 of IPv6, since one client has a whole network, and one address of IPv4. The
 * same for every spelling of an address. A listener for both versions gets IPv4 addresses as `::ffff:10.0.0.1`.
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
  /** By connection and the oldest first, in all and by address. */
  readonly #all = new Map<string, Stranger>()
  readonly #byAddress = new Map<string, Map<string, Stranger>>()

  constructor(limits: UnauthenticatedLimits) {
    this.#limits = limits
  }

  /** False where there is no room for it. */
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

  /** The connection goes on as this socket: what is inside TLS. */
  becomes(socket: Socket): void {
    const stranger = this.#all.get(connectionKey(socket))
    if (stranger !== undefined) stranger.socket = socket
  }

  /** The socket of the same connection as it was admitted. */
  find(socket: Socket): Socket | undefined {
    return this.#all.get(connectionKey(socket))?.socket
  }

  /** Somebody has proved who they are. */
  knows(key: string): void {
    const stranger = this.#all.get(key)
    if (stranger !== undefined) this.#forget(key, stranger)
  }

  /** Closes a connection to make room for this one; false where all others may stay. */
  evictFor(socket: Socket): boolean {
    if (this.#all.size === 0) return false
    const near = this.#byAddress.get(networkOf(socket.remoteAddress ?? ''))
    return this.#makeRoom(this.#all, this.#all.size) || this.#evictFromLargest(near?.size ?? 0)
  }

  /** Cuts off the oldest of the address with the most connections, if that leaves it no fewer than the new client gets. */
  #evictFromLargest(ownCount: number): boolean {
    let largest: ReadonlyMap<string, Stranger> = new Map()
    for (const each of this.#byAddress.values()) if (each.size > largest.size) largest = each
    if (largest.size <= ownCount + 1) return false
    this.#evict(...largest.entries().next().value!)
    return true
  }

  /** Cuts off the oldest if there are too many; false if it has not had its time yet. */
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

/** Two sockets of one connection, the plain one and that inside TLS, have the same. */
export function connectionKey({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

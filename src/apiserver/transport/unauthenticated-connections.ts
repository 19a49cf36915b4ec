/**
 * Unauthenticated connections, which the code calls strangers. Their number is limited, in total and per address, so
 * that there is always room for others. The limits no longer apply once a client is authenticated.
 *
 * When a limit is reached, an unauthenticated connection that has been open long enough is closed for a new one. If all
 * of them are recent, for example because hundreds of clients reconnect at once, the newest connection is rejected and
 * its client must try again. A connection of an address with more connections than others is closed immediately,
 * because an attacker who keeps reconnecting could otherwise lock out all others.
 *
 * Each worker has an equal share of these limits. The general limit on connections applies to all workers together.
 * When it is reached, a worker also evicts connections for clients of other workers (`worker-evictions.ts`), and
 * compares how many connections an address has in all workers.
 */
import type { Socket } from 'node:net'
import { formatIp, parseIp } from '../../api/model/ip-range.ts'
import type { ConnectionCounts } from './connection-counts.ts'

export interface UnauthenticatedLimits {
  readonly total: number
  readonly perAddress: number
  /** Minimum time in milliseconds that an unauthenticated connection may remain open. */
  readonly minTime: number
}

/**
 * Normalizes an address, so that all addresses of one client are equal. The result is an IPv6 /64, because one client
 * usually has a whole network, or a single IPv4 address. A dual-stack listener reports IPv4 addresses as
 * `::ffff:10.0.0.1`.
 */
export function networkOf(address: string): string {
  const [withoutZone = ''] = address.split('%', 1)
  const ip = parseIp(withoutZone)
  if (ip === undefined) return address
  const { family, number } = ip
  return family === 'IPv4' ? formatIp(ip) : `${formatIp({ family, number: (number >> 64n) << 64n })}/64`
}

/** The counters that several workers share. */
export type StrangerCounts = Pick<ConnectionCounts, 'networkCounter' | 'addStranger' | 'strangersOf'>

/** The result for a new connection. `replaced` means that another connection was closed for it. */
export type StrangerAdmission = 'admitted' | 'replaced' | 'rejected'

/** The unauthenticated connections of one network, oldest first. */
interface Network {
  readonly name: string
  /** The counter that all workers share. 0 if there is a single worker. */
  readonly counter: number
  readonly connections: Map<string, Stranger>
}

interface Stranger {
  readonly network: Network
  readonly since: number
  socket: Socket
}

export class UnauthenticatedConnections {
  readonly #limits: UnauthenticatedLimits
  readonly #shared: StrangerCounts | undefined
  /** Unauthenticated connections, oldest first. */
  readonly #all = new Map<string, Stranger>()
  readonly #networks = new Map<string, Network>()

  /** Creates the list. `shared` counts the connections of all workers. Omitted if there is a single worker. */
  constructor(limits: UnauthenticatedLimits, shared?: StrangerCounts) {
    this.#limits = limits
    this.#shared = shared
  }

  /** Adds a new connection. If a limit is reached, closes another connection for it or rejects it. */
  admit(socket: Socket): StrangerAdmission {
    const network = this.#network(networkOf(socket.remoteAddress ?? ''))
    const { connections } = network
    const before = this.#all.size
    if (!this.#makeRoom(connections, this.#limits.perAddress)) return 'rejected'
    if (!this.#makeRoom(this.#all, this.#limits.total) && !this.#evictFromLargest(connections.size, sizeHere)) {
      return 'rejected'
    }
    const isReplaced = this.#all.size < before
    const key = connectionKey(socket)
    // Closed sockets have no address, so their keys are equal.
    const previous = this.#all.get(key)
    if (previous !== undefined) this.#forget(key, previous)
    const stranger = { network, since: performance.now(), socket }
    this.#all.set(key, stranger)
    this.#networks.set(network.name, network)
    connections.set(key, stranger)
    this.#shared?.addStranger(network.counter, 1)
    socket.on('close', () => this.#forget(key, stranger))
    return isReplaced ? 'replaced' : 'admitted'
  }

  /** Replaces the plain socket of a connection with its TLS socket. */
  becomes(socket: Socket): void {
    const stranger = this.#all.get(connectionKey(socket))
    if (stranger !== undefined) stranger.socket = socket
  }

  /** Returns the admitted socket of the same connection. */
  find(socket: Socket): Socket | undefined {
    return this.#all.get(connectionKey(socket))?.socket
  }

  /** Called when a user has been authenticated on the connection. */
  knows(key: string): void {
    const stranger = this.#all.get(key)
    if (stranger !== undefined) this.#forget(key, stranger)
  }

  /**
   * Closes a connection because there is no room for the newest connection of this address, which this or another
   * worker has accepted. Returns false if no connection may be closed.
   */
  evictFor(remoteAddress: string): boolean {
    if (this.#all.size === 0) return false
    if (this.#makeRoom(this.#all, this.#all.size)) return true
    const sizeOf = (network: Network) => this.#shared?.strangersOf(network.counter) ?? network.connections.size
    // The new connection may already be closed.
    const others = Math.max(0, sizeOf(this.#network(networkOf(remoteAddress))) - 1)
    return this.#evictFromLargest(others, sizeOf)
  }

  #network(name: string): Network {
    const counter = () => this.#shared?.networkCounter(name) ?? 0
    return this.#networks.get(name) ?? { name, counter: counter(), connections: new Map() }
  }

  /**
   * Closes the oldest connection of the network with the most connections, unless that network would then have fewer
   * connections than the network of the new client, which has `ownCount` other connections.
   */
  #evictFromLargest(ownCount: number, sizeOf: (network: Network) => number): boolean {
    let largest: Network | undefined
    let size = ownCount + 1
    for (const each of this.#networks.values()) {
      const eachSize = sizeOf(each)
      if (eachSize <= size) continue
      largest = each
      size = eachSize
    }
    if (largest === undefined) return false
    this.#evict(...largest.connections.entries().next().value!)
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
    const { network } = stranger
    network.connections.delete(key)
    if (network.connections.size === 0) this.#networks.delete(network.name)
    this.#shared?.addStranger(network.counter, -1)
  }
}

const sizeHere = ({ connections }: Network) => connections.size

/**
 * Identifies a connection. Its plain socket and its TLS socket have the same key. Contains the server's address because
 * a client can connect to several addresses of the server from one port.
 */
export function connectionKey({ remoteAddress = '', remotePort = 0, localAddress = '' }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

/**
 * Limits unauthenticated connections, which the code calls strangers, in total and per address. The limits leave room
 * for authenticated clients, and no longer apply to a connection once its client is authenticated.
 *
 * When a limit is reached, an old unauthenticated connection is closed to make room for a new one. If all
 * unauthenticated connections are recent, for example because hundreds of clients reconnect at the same time, the new
 * connection is rejected and its client must try again. However, a connection from the address with the most
 * connections is closed even if it is recent. Otherwise an attacker who keeps reconnecting could lock out all other
 * clients.
 *
 * Each worker enforces an equal share of these limits. The general limit on connections applies to all workers
 * together. When it is reached, a worker can also evict a connection for a client of another worker
 * (`worker-evictions.ts`). For this purpose, the connections of an address are counted across all workers.
 */
import type { Socket } from 'node:net'
import { formatIp, parseIp } from '../../api/model/ip-range.ts'
import type { ConnectionCounts } from './connection-counts.ts'

export interface UnauthenticatedLimits {
  readonly total: number
  readonly perAddress: number
  /** Minimum time in milliseconds that an unauthenticated connection stays open. */
  readonly minTime: number
}

/**
 * Normalizes an address, so that all addresses of one client are equal. The result is a single IPv4 address or an IPv6
 * /64 network, because an IPv6 client usually controls a whole network. A dual-stack listener reports IPv4 addresses as
 * `::ffff:10.0.0.1`.
 */
export function networkOf(address: string): string {
  const [withoutZone = ''] = address.split('%', 1)
  const ip = parseIp(withoutZone)
  if (ip === undefined) return address
  const { family, number } = ip
  return family === 'IPv4' ? formatIp(ip) : `${formatIp({ family, number: (number >> 64n) << 64n })}/64`
}

/** Counts unauthenticated connections, in memory that all workers share. */
export type StrangerCounts = Pick<ConnectionCounts, 'networkCounter' | 'addStranger' | 'strangersOf'>

/** Whether a new connection was admitted, admitted in place of another one, or rejected. */
export type StrangerAdmission = 'admitted' | 'replaced' | 'rejected'

/** The unauthenticated connections from one network, oldest first. */
interface Network {
  readonly name: string
  /** The network's counter in `StrangerCounts`, or 0 without workers. */
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
  /** All unauthenticated connections, oldest first. */
  readonly #all = new Map<string, Stranger>()
  readonly #networks = new Map<string, Network>()

  /**
   * Creates an empty list. `shared` counts the connections of all workers, and is undefined if there is only one
   * worker.
   */
  constructor(limits: UnauthenticatedLimits, shared?: StrangerCounts) {
    this.#limits = limits
    this.#shared = shared
  }

  /** Adds a new connection. At a limit, closes another connection to make room, or rejects the new connection. */
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
    // Closed sockets have no address, so they all have the same key.
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

  /** Called when the TLS handshake is complete: stores the TLS socket instead of the plain one. */
  becomes(socket: Socket): void {
    const stranger = this.#all.get(connectionKey(socket))
    if (stranger !== undefined) stranger.socket = socket
  }

  /**
   * Returns the socket to close for this connection: the plain socket until the handshake is complete, then the TLS
   * socket.
   */
  find(socket: Socket): Socket | undefined {
    return this.#all.get(connectionKey(socket))?.socket
  }

  /** Removes a connection from the list, because a user has been authenticated on it. */
  knows(key: string): void {
    const stranger = this.#all.get(key)
    if (stranger !== undefined) this.#forget(key, stranger)
  }

  /**
   * Closes a connection to make room for a new connection from this address. The new connection may belong to this
   * worker or to another worker. Returns false if no connection may be closed.
   */
  evictFor(remoteAddress: string): boolean {
    if (this.#all.size === 0) return false
    if (this.#makeRoom(this.#all, this.#all.size)) return true
    const sizeOf = (network: Network) => this.#shared?.strangersOf(network.counter) ?? network.connections.size
    // The count includes the new connection, unless it has been closed in the meantime.
    const others = Math.max(0, sizeOf(this.#network(networkOf(remoteAddress))) - 1)
    return this.#evictFromLargest(others, sizeOf)
  }

  #network(name: string): Network {
    const counter = () => this.#shared?.networkCounter(name) ?? 0
    return this.#networks.get(name) ?? { name, counter: counter(), connections: new Map() }
  }

  /**
   * Closes the oldest connection of the network with the most connections. `ownCount` is the number of other
   * connections of the new client's network. Returns false if no network has more connections than `ownCount`.
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

  /**
   * Closes the oldest connection if the limit is reached. Returns false if even the oldest connection is too recent.
   */
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
 * Identifies a connection by its addresses, so that its plain and its TLS socket have the same key. Includes the
 * server's address, because a client can connect from one port to several server addresses.
 */
export function connectionKey({ remoteAddress = '', remotePort = 0, localAddress = '' }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

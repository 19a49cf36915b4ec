/**
 * Tracks the live API servers of a store. Each server maintains a key with a lease. The key of a crashed server
 * disappears some time after `lifetimeSeconds` have passed. A stopping server removes its key immediately. An example
 * of a key:
 *
 *   servers/10.1.2.3:6443
 */
import type { Store } from '../../storage/store/store.ts'

export interface ServerPlace {
  readonly ip: string
  readonly port: number
}

const prefix = 'servers/'
const lifetimeSeconds = 15
/** Maximum number of servers to list. Real stores have far fewer servers. */
const maxServers = 1000

export interface Servers {
  /** Renews the key of this server. Must be called every few seconds. */
  renew(): Promise<void>
  /** Returns the live servers, sorted by port and then by address. */
  all(): Promise<readonly ServerPlace[]>
  /** Removes this server from the list. Called during shutdown. */
  leave(): Promise<void>
}

/** Returns a list with only this server, for a store that no other server can use. */
export function onlyServer(own: ServerPlace | undefined): Servers {
  return { renew: async () => {}, all: async () => (own === undefined ? [] : [own]), leave: async () => {} }
}

export class LiveServers implements Servers {
  readonly #store: Store
  readonly #key: string | undefined
  #revision = 0

  /**
   * Creates the list of servers. `own` is the address of this server. If `own` is undefined, other hosts cannot reach
   * this server, and it is not listed.
   */
  constructor(store: Store, own: ServerPlace | undefined) {
    this.#store = store
    this.#key = own && `${prefix}${own.ip}:${own.port}`
  }

  async renew(): Promise<void> {
    if (this.#key === undefined) return
    // Retry with the current revision after a conflict. Only an earlier process of this server can have written the
    // key, because no two servers have the same address.
    for (let attempt = 0; attempt < 3; attempt++) {
      const write = { key: this.#key, expected: this.#revision, value: new Uint8Array(0), lifetimeSeconds }
      const result = await this.#store.commit(write)
      this.#revision = result.outcome === 'committed' ? result.revision : (result.current?.revision ?? 0)
      if (result.outcome === 'committed') return
    }
  }

  async all(): Promise<readonly ServerPlace[]> {
    const { entries } = await this.#store.list({ prefix, limit: maxServers, count: false })
    const places = entries.map(({ key }) => {
      const colon = key.lastIndexOf(':')
      return { ip: key.slice(prefix.length, colon), port: Number(key.slice(colon + 1)) }
    })
    return places.sort((a, b) => a.port - b.port || (a.ip < b.ip ? -1 : 1))
  }

  async leave(): Promise<void> {
    if (this.#key === undefined || this.#revision === 0) return
    await this.#store.commit({ key: this.#key, expected: this.#revision, value: undefined })
  }
}

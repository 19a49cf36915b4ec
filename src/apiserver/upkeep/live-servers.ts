/**
 * Which servers serve this store: each keeps a key there that goes by itself when it is not renewed. So one that dies is
 * out of the list some time after `lifetimeSeconds`, and one that stops is at once.
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
/** More than anybody runs on one store. */
const most = 1000

export interface Servers {
  /** Says that this server lives; to be called every few seconds. */
  renew(): Promise<void>
  /** In the order of their ports, then of their addresses. */
  all(): Promise<readonly ServerPlace[]>
  /** This server is about to stop. */
  leave(): Promise<void>
}

/** A store in a directory has one server. */
export function onlyServer(own: ServerPlace | undefined): Servers {
  return { renew: async () => {}, all: async () => (own === undefined ? [] : [own]), leave: async () => {} }
}

export class LiveServers implements Servers {
  readonly #store: Store
  readonly #key: string | undefined
  #revision = 0

  /** `own`: where this one is reached; undefined: others cannot reach it, and it is not in the list. */
  constructor(store: Store, own: ServerPlace | undefined) {
    this.#store = store
    this.#key = own && `${prefix}${own.ip}:${own.port}`
  }

  async renew(): Promise<void> {
    if (this.#key === undefined) return
    // Whoever wrote it before was this server too, in an earlier life: one address is one server.
    for (let attempt = 0; attempt < 3; attempt++) {
      const write = { key: this.#key, expected: this.#revision, value: new Uint8Array(0), lifetimeSeconds }
      const result = await this.#store.commit(write)
      this.#revision = result.outcome === 'committed' ? result.revision : (result.current?.revision ?? 0)
      if (result.outcome === 'committed') return
    }
  }

  async all(): Promise<readonly ServerPlace[]> {
    const { entries } = await this.#store.list({ prefix, limit: most, count: false })
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

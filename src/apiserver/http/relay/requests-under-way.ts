/**
 * Counts the requests that this server is passing on to other servers. Each takes a connection of its own, and may go on for
 * good. So they are bounded: to one server, for one user over all servers, and in all. Otherwise one user who may reach many
 * pods could use up the files that this process may open, and nobody could connect any more.
 */
import { superusers, type User } from '../../../api/model/user.ts'

export interface UnderWayLimits {
  readonly perServer: number
  /** Of one user. `system:masters` are not bounded by it. */
  readonly perUser: number
  readonly inAll: number
}

/** Which limit is reached. */
export type ReachedLimit = 'server' | 'user' | 'all'

/** The limits for a process that may open so many files and accepts so many connections. Each worker has an equal share. */
export function underWayLimits(openFiles: number, maxConnections: number, workers: number): UnderWayLimits {
  const inAll = Math.max(openFiles - maxConnections - keptFiles, Math.floor(openFiles * minPart))
  const perServer = Math.min(inAll, Math.max(minPerServer, Math.floor(openFiles / 8)))
  const share = (limit: number) => Math.ceil(limit / workers)
  return { perServer: share(perServer), perUser: share(inAll / 2), inAll: share(inAll) }
}

/** Files that the store and other connections need. */
const keptFiles = 64
/** Of all files, where `--max-connections` leaves fewer. */
const minPart = 1 / 16
const minPerServer = 64

export class RequestsUnderWay {
  readonly #limits: UnderWayLimits
  readonly #byServer = new Map<string, number>()
  readonly #byUser = new Map<string, number>()
  #all = 0

  constructor(limits: UnderWayLimits) {
    this.#limits = limits
  }

  /** Counts a request to this server until the returned function is called. Returns the limit if one is reached. */
  begin(server: string, user: User): (() => void) | ReachedLimit {
    const { perServer, perUser, inAll } = this.#limits
    if ((this.#byServer.get(server) ?? 0) >= perServer) return 'server'
    if (!user.groups.includes(superusers) && (this.#byUser.get(user.name) ?? 0) >= perUser) return 'user'
    if (this.#all >= inAll) return 'all'
    this.#add(server, user.name, 1)
    return () => this.#add(server, user.name, -1)
  }

  #add(server: string, user: string, change: 1 | -1): void {
    this.#all += change
    addTo(this.#byServer, server, change)
    addTo(this.#byUser, user, change)
  }
}

function addTo(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

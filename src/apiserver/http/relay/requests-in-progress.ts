/**
 * Counts the requests that this server forwards to other servers. Each request uses its own connection and may last
 * indefinitely, so the number of requests is limited per backend, per user and in total. Without these limits, one user
 * with access to many pods could exhaust the process's file descriptors and block all new connections. Part of each
 * limit is reserved for `system:masters`, so that other users cannot lock administrators out of logs and exec sessions.
 */
import { superusers, type User } from '../../../api/model/user.ts'

export interface ForwardingLimits {
  readonly perServer: number
  /** Maximum number of requests per user. The maximum does not apply to `system:masters`. */
  readonly perUser: number
  readonly inAll: number
}

/** The limit that a request would exceed. */
export type ReachedLimit = 'server' | 'user' | 'all'

/**
 * Computes the limits from the number of file descriptors and the maximum number of connections. Each worker gets an
 * equal share, and the number of workers can change.
 */
export function forwardingLimits(openFiles: number, maxConnections: number, workers: () => number): ForwardingLimits {
  const inAll = Math.max(openFiles - maxConnections - keptFiles, Math.floor(openFiles * minPart))
  const perServer = Math.min(inAll, Math.max(minPerServer, Math.floor(openFiles / 8)))
  const share = (limit: number) => Math.ceil(limit / workers())
  return {
    get perServer() {
      return share(perServer)
    },
    get perUser() {
      return share(inAll / 2)
    },
    get inAll() {
      return share(inAll)
    },
  }
}

/** Number of file descriptors that are reserved for the store and other connections. */
const keptFiles = 64
/** Share of all file descriptors that forwarded requests may always use, even if `--max-connections` leaves fewer. */
const minPart = 1 / 16
const minPerServer = 64
/** Part of each limit that is reserved for `system:masters`. */
const reservedPart = 0.05

export class RequestsInProgress {
  readonly #limits: ForwardingLimits
  readonly #byServer = new Map<string, number>()
  readonly #byUser = new Map<string, number>()
  #all = 0

  constructor(limits: ForwardingLimits) {
    this.#limits = limits
  }

  /**
   * Counts a forwarded request until the returned function is called. If a limit is reached, returns that limit
   * instead.
   */
  begin(server: string, user: User): (() => void) | ReachedLimit {
    const { perServer, perUser, inAll } = this.#limits
    const isSuperuser = user.groups.includes(superusers)
    const available = (limit: number) => (isSuperuser ? limit : limit - Math.floor(reservedPart * limit))
    if ((this.#byServer.get(server) ?? 0) >= available(perServer)) return 'server'
    if (!isSuperuser && (this.#byUser.get(user.name) ?? 0) >= perUser) return 'user'
    if (this.#all >= available(inAll)) return 'all'
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

/**
 * Lets the simulation thread act as the authors of Stage objects. The thread can name only authors that the API server
 * has recorded in an existing Stage, and can send only the requests that stages need: reads, patches, deletions and
 * Events. The server authorizes each request like any other request of the author.
 */
import type { User } from '../../api/model/user.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Client } from '../../client/requests/client.ts'
import type { Transport, TransportRequest } from '../../client/requests/transport.ts'
import { kwokKinds, kwokType } from '../../cluster/nodes/kwok/kinds.ts'
import { readAuthor, stageAuthorKey } from '../../cluster/nodes/kwok/stage-author.ts'
import { readActor } from '../../cluster/nodes/stages/stage-actor.ts'

export interface StageAuthorParts {
  /** Client that may list all Stage objects. */
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: Clock
  /** Returns a transport that acts as a user. */
  readonly transport: (user: User) => Transport
}

/** Maximum number of authors that are cached. */
const maxAuthors = 100
/** Time in milliseconds after which the server checks again that an author still has a Stage. */
const recheckMs = 60_000
const eventsPath = /^\/api\/v1\/namespaces\/[^/?]+\/events(?:\?|$)/

interface CachedAuthor {
  readonly transport: Promise<Transport>
  readonly checkedAt: number
}

export class StageAuthors {
  readonly #parts: StageAuthorParts
  readonly #authors = new BoundedMap<string, CachedAuthor>(maxAuthors)

  constructor(parts: StageAuthorParts) {
    this.#parts = parts
  }

  /** Returns the transport of an actor, or undefined if the name is not an actor's. */
  transportOf(name: string): Transport | undefined {
    const actor = readActor(name)
    if (actor === undefined) return undefined
    const { author, impersonates } = actor
    return async (request) => {
      assertStageRequest(request)
      const transport = await this.#transportAs(author)
      const { 'impersonate-user': _, ...headers } = request.headers
      const as = impersonates === undefined ? {} : { 'impersonate-user': impersonates }
      return await transport({ ...request, headers: { ...headers, ...as } })
    }
  }

  async #transportAs(author: string): Promise<Transport> {
    const now = this.#parts.clock.monotonic()
    const cached = this.#authors.use(author)
    if (cached !== undefined && now - cached.checkedAt < recheckMs) return await cached.transport
    const transport = this.#find(author)
    this.#authors.set(author, { transport, checkedAt: now })
    transport.catch(() => this.#authors.delete(author))
    return await transport
  }

  /** Throws an error if no Stage has this author. */
  async #find(author: string): Promise<Transport> {
    const { client, vendor, transport } = this.#parts
    const key = stageAuthorKey(vendor)
    const { items } = await client.list(kwokType(kwokKinds.stage))
    const user = items.some(({ metadata }) => metadata.annotations?.[key] === author) ? readAuthor(author) : undefined
    if (user === undefined) throw new Error('the simulated nodes may act only as authors of Stage objects')
    return transport(user)
  }
}

function assertStageRequest({ method, path }: TransportRequest): void {
  const isAllowed = method === 'GET' || method === 'PATCH' || method === 'DELETE'
  if (!isAllowed && !(method === 'POST' && eventsPath.test(path)))
    throw new Error('stages may only read, patch and delete objects, and record Events')
}

/**
 * Aggregated API servers as one part: who they are, whether they can be reached, and the way to them. `server/` opens it
 * once the caches are loaded, asks it for each request, and runs its loops.
 */

import type { Loop } from '../../client/reconcile/loop.ts'
import type { DescribedElsewhere } from '../http/openapi/published-elsewhere.ts'
import type { RequestPasser } from '../http/relay/pass-on.ts'
import type { Exchange } from '../http/request/exchange.ts'
import type { RequestInfo } from '../http/request/request-info.ts'
import { HttpsCaller } from '../outbound/https-caller.ts'
import { HttpsRelay } from '../outbound/https-relay.ts'
import { Availability } from './availability.ts'
import { type Backend, Backends, type BackendsParts } from './backends.ts'
import { AggregationProxy } from './proxy.ts'
import { PublishedApis } from './published-apis.ts'

export interface AggregationParts extends BackendsParts {
  /** Passes requests on to other servers. */
  readonly passer: RequestPasser
}

/** The API servers behind this one, and the way to them. */
export class Aggregation {
  readonly backends: Backends
  readonly loops: readonly (Loop | undefined)[]
  readonly #caller = new HttpsCaller('orch-aggregator')
  readonly #relay = new HttpsRelay()
  readonly #proxy: AggregationProxy
  readonly #published: PublishedApis

  constructor(parts: AggregationParts) {
    const { catalogue, passer } = parts
    this.backends = new Backends(parts)
    const means = { backends: this.backends, caller: this.#caller }
    this.#published = new PublishedApis(means)
    const onReached = (backend: Backend) => this.#published.look(backend)
    const availability = new Availability({ ...means, catalogue, onReached })
    this.loops = [availability.loop, this.#published.loop]
    this.#proxy = new AggregationProxy({
      ...{ backends: this.backends, relay: this.#relay, passer },
      faultOf: (backend) => availability.faultOf(backend),
      onUnreachable: (backend) => availability.suspect(backend),
    })
  }

  /** Passes a request on where another server serves what it asks for; returns false where none does. */
  handle(exchange: Exchange, info: RequestInfo): false | Promise<void> {
    const backend = info.resource ? this.backends.find(info.group, info.version) : this.#ofPath(info.path)
    return backend === undefined ? false : this.#proxy.handle(exchange, backend)
  }

  /** What other servers publish as OpenAPI. */
  published(): DescribedElsewhere {
    return this.#published.all()
  }

  /** Passes the request for a document of OpenAPI v3 on where it is another server's; returns false where it is not. */
  handleOpenApi(exchange: Exchange, place: string): false | Promise<void> {
    const backend = this.#ofPath(`/${place}`)
    // Without the hash: a backend would answer an old one with a redirect.
    return backend === undefined ? false : this.#proxy.handle(exchange, backend, `/openapi/v3/${place}`)
  }

  /** Whether a request for this path and query may end in a tunnel to another server. */
  maySwitch(target: string): boolean {
    return this.#ofPath(target.split('?', 1)[0]!) !== undefined
  }

  /** Ends tunnels and watches that lead to other servers. */
  endStreams(): void {
    this.#relay.endStreams()
  }

  close(): void {
    this.#caller.close()
    this.#relay.close()
  }

  #ofPath(path: string): Backend | undefined {
    const [, root, group = '', version = ''] = path.split('/', 5)
    return root === 'apis' ? this.backends.find(group, version) : undefined
  }
}

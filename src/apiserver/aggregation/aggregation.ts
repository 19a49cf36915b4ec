/**
 * API aggregation: the registered backends, their availability and the proxy to them. The server creates an instance
 * after loading the caches, calls the instance for each request and runs its loops.
 */

import type { Loop } from '../../client/reconcile/loop.ts'
import type { AggregatedDocuments } from '../http/openapi/aggregated-documents.ts'
import type { RequestForwarder } from '../http/relay/request-forwarder.ts'
import type { Exchange } from '../http/request/exchange.ts'
import type { RequestInfo } from '../http/request/request-info.ts'
import { HttpsCaller } from '../outbound/https-caller.ts'
import { HttpsRelay } from '../outbound/https-relay.ts'
import { Availability } from './availability.ts'
import { type Backend, Backends, type BackendsParts } from './backends.ts'
import { AggregationProxy } from './proxy.ts'
import { PublishedApis } from './published-apis.ts'

export interface AggregationParts extends BackendsParts {
  /** Forwards requests to the backends. */
  readonly forwarder: RequestForwarder
}

/** The aggregated API servers and the proxy to them. */
export class Aggregation {
  readonly backends: Backends
  readonly loops: readonly (Loop | undefined)[]
  readonly #caller = new HttpsCaller('orch-aggregator')
  readonly #relay = new HttpsRelay()
  readonly #proxy: AggregationProxy
  readonly #published: PublishedApis

  constructor(parts: AggregationParts) {
    const { catalogue, forwarder } = parts
    this.backends = new Backends(parts)
    const means = { backends: this.backends, caller: this.#caller }
    this.#published = new PublishedApis(means)
    const onReached = (backend: Backend) => this.#published.look(backend)
    const availability = new Availability({ ...means, catalogue, onReached })
    this.loops = [availability.loop, this.#published.loop]
    this.#proxy = new AggregationProxy({
      backends: this.backends,
      relay: this.#relay,
      forwarder,
      faultOf: (backend) => availability.faultOf(backend),
      onUnreachable: (backend) => availability.suspect(backend),
    })
  }

  /** Forwards a request for an aggregated API to its server. Returns false if this server serves the path itself. */
  handle(exchange: Exchange, info: RequestInfo): false | Promise<void> {
    const backend = info.resource ? this.backends.find(info.group, info.version) : this.#ofPath(info.path)
    return backend === undefined ? false : this.#proxy.handle(exchange, backend)
  }

  /** OpenAPI documents of the aggregated servers. */
  published(): AggregatedDocuments {
    return this.#published.all()
  }

  /**
   * Forwards a request for the OpenAPI v3 document of an aggregated API to its server. Returns false if the document
   * belongs to this server.
   */
  handleOpenApi(exchange: Exchange, place: string): false | Promise<void> {
    const backend = this.#ofPath(`/${place}`)
    // Omit the hash from the URL, because the backend would redirect a client whose hash is outdated.
    return backend === undefined ? false : this.#proxy.handle(exchange, backend, `/openapi/v3/${place}`)
  }

  /** Whether an upgrade request for the path may open a tunnel to an aggregated server. */
  maySwitch(target: string): boolean {
    return this.#ofPath(target.split('?', 1)[0]!) !== undefined
  }

  /** Closes all tunnels and watches to aggregated servers. Called at shutdown. */
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

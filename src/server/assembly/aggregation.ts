/** Starts API aggregation and maintains the ConfigMap that aggregated API servers use to authenticate this server. */

import type { Lookup } from '../../api/model/lookup.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { Aggregation } from '../../apiserver/aggregation/aggregation.ts'
import type { RequestForwarder } from '../../apiserver/http/relay/request-forwarder.ts'
import type { Catalogue } from '../../apiserver/registry/catalogue/catalogue.ts'
import { authenticationConfigMapLoop } from '../../apiserver/upkeep/authentication-config-map.ts'
import { type Loop, type LoopRecords, startLoops } from '../../client/reconcile/loop.ts'
import type { ClientAuthorities } from '../certificates/client-authorities.ts'
import type { FrontProxy } from '../identity/front-proxy.ts'
import { hasDuties, type WorkerContext } from '../threads/worker-context.ts'

export interface AggregationDependencies {
  readonly catalogue: Catalogue
  readonly lookup: Lookup
  readonly vendor: Vendor
  readonly frontProxy: FrontProxy
  readonly authorities: ClientAuthorities
  readonly loopRecords: LoopRecords
  readonly forwarder: RequestForwarder
}

export interface AggregationContext {
  readonly worker?: WorkerContext | undefined
  /** Resources to close when the server stops. */
  readonly opened: AsyncDisposableStack
}

/** Resolves after the first attempt to write the ConfigMap. The caches must be loaded before the call. */
export async function startAggregation(
  dependencies: AggregationDependencies,
  { worker, opened }: AggregationContext,
): Promise<Aggregation> {
  const { catalogue, lookup, vendor, frontProxy, authorities, loopRecords, forwarder } = dependencies
  const aggregation = new Aggregation({
    catalogue,
    lookup,
    vendor,
    forwarder,
    identity: () => frontProxy.pair,
  })
  opened.defer(() => aggregation.close())
  const trust = {
    clientAuthorities: () => authorities.clients.map((certificate) => certificate.toString()),
    proxy: () => frontProxy.trust,
  }
  const start = (loops: readonly (Loop | undefined)[]) => {
    const running = startLoops(
      loops.filter((loop) => loop !== undefined),
      loopRecords,
    )
    opened.defer(() => running.stop())
    return running.firstPass
  }
  // The server starts even if writing the ConfigMap fails, because the loop logs the failure and retries.
  if (hasDuties(worker)) await start([authenticationConfigMapLoop(catalogue, trust)]).catch(() => {})
  // The server does not wait for the backends before it starts, because backends may respond slowly and other requests
  // do not need them.
  void start(aggregation.loops)
  return aggregation
}

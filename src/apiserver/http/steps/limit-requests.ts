/**
 * Protects the server from overload. A request proceeds if flow control has seats for it (`flowcontrol/`). Otherwise it
 * waits in a queue or is rejected with 429. The response contains the FlowSchema and priority level of the request.
 * Streams to nodes and pods use no seats. A watch releases its seats after the initial events.
 */

import { superusers } from '../../../api/model/user.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { isSince } from '../../../api/schema/context.ts'
import type { FlowControl, Occupancy } from '../../flowcontrol/flow-control.ts'
import type { InFlight } from '../../flowcontrol/in-flight.ts'
import type { Demand } from '../../flowcontrol/seat-pool.ts'
import { demandOfWrite, seatsOfInitialEvents, seatsOfList, workOf } from '../../flowcontrol/work-estimate.ts'
import type { Catalogue } from '../../registry/catalogue/catalogue.ts'
import type { Step } from '../pipeline.ts'
import type { Exchange } from '../request/exchange.ts'
import { isLongRunning, type RequestInfo, type ResourceInfo } from '../request/request-info.ts'

/** Limits requests by priority and fairness. */
export function shareFairly(control: FlowControl, catalogue: Catalogue, vendor: Vendor): Step {
  const schemaHeader = `${vendor.extensionPrefix}pf-flowschema-uid`
  const levelHeader = `${vendor.extensionPrefix}pf-prioritylevel-uid`
  return (exchange) => {
    const { user, info } = exchange
    if (isLongRunning(info) && info.verb !== 'watch') return undefined
    const schema = control.classify(user, info)
    if (schema.uid !== '') exchange.addHeader(schemaHeader, schema.uid)
    if (schema.levelUid !== '') exchange.addHeader(levelHeader, schema.levelUid)
    const demand = info.resource ? demandOf(info, catalogue) : oneSeat(info.verb)
    const entered = control.enter(schema, { user, attributes: info, demand, client: exchange })
    if (entered instanceof Promise) return occupyLater(exchange, entered)
    exchange.seats = entered
    return undefined
  }
}

async function occupyLater(exchange: Exchange, entered: Promise<Occupancy>): Promise<void> {
  exchange.seats = await exchange.timings.time('queue', entered)
}

const writes = new Set(['create', 'update', 'patch', 'delete'])

/** The first Kubernetes version in which the cost of a write includes its watch events. */
const firstWithEvents = '1.24'

/** Requests for aggregated servers cost one seat. Forwarding is cheap, and this server cannot estimate their cost. */
function demandOf(info: ResourceInfo, catalogue: Catalogue): Demand {
  const { verb, query, namespace } = info
  const isStreamingList = verb === 'watch' && query.get('sendInitialEvents') === 'true'
  if (verb !== 'list' && !isStreamingList && !writes.has(verb)) return oneSeat(verb)
  const served = catalogue.find(info.group, info.version, info.plural)
  if (served === undefined || served.endpoint !== undefined) return oneSeat(verb)
  const { cache, gates, context } = served
  if (writes.has(verb))
    return isSince(firstWithEvents, context) ? demandOfWrite(cache.watchersOf(namespace)) : oneSeat(verb)
  if (isStreamingList && !gates.has('WatchList')) return oneSeat(verb)
  const seats = isStreamingList ? seatsOfInitialEvents(cache.size) : seatsOfList(cache.size, query)
  return { seats, work: workOf(verb, seats) }
}

function oneSeat(verb: string): Demand {
  return { seats: 1, work: workOf(verb, 1) }
}

/** Limits the number of concurrent requests. */
export function limitInFlight(inFlight: InFlight): Step {
  return (exchange) => {
    const { user, info } = exchange
    if (isLongRunning(info) || isProbe(info) || user.groups.includes(superusers)) return
    exchange.seats = inFlight.enter(reading.has(info.verb) ? 'readOnly' : 'mutating')
  }
}

const reading = new Set(['get', 'list', 'watch', 'head'])
const probes = new Set(['/healthz', '/livez', '/readyz'])

function isProbe(info: RequestInfo): boolean {
  return !info.resource && probes.has(info.path)
}

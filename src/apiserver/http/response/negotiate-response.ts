/**
 * Negotiates the response format and stores it in the exchange. The format of a watch is negotiated separately, after
 * all other checks, because watches support fewer formats than objects.
 */
import { isSince } from '../../../api/schema/context.ts'
import type { EventForm } from '../../../storage/cache/event.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { originOf } from '../../registry/catalogue/served.ts'
import { eventsOf } from '../../registry/reads/conversion.ts'
import type { Exchange } from '../request/exchange.ts'
import { negotiate } from './negotiate.ts'
import { openView, projectedEvents, projectedForm, type View, type Viewed, viewNames } from './projections.ts'
import { protobufEvents, protobufOf } from './protobuf-form.ts'

/** Negotiates the format of objects, lists and errors. Throws 406 if the client accepts no supported format. */
export function negotiateResponse(exchange: Exchange, resource: Viewed): void {
  agree(exchange, resource, false)
}

/**
 * Negotiates the format of a list that contains only some fields of each object. Such a list supports neither views nor
 * Protobuf.
 */
export function negotiateFields(exchange: Exchange, resource: Viewed): void {
  const { headers, info } = exchange
  const { vendor } = resource
  exchange.form = negotiate({ headers, query: info.query, watch: false, vendor, protobuf: undefined }, []).form
  exchange.agreed = true
}

/** Negotiates the format of watch events. Throws 406 if the client accepts no streaming format. */
export function negotiateEvents(exchange: Exchange, resource: Resource): EventForm {
  const view = agree(exchange, resource, true)
  const { shared } = exchange.form
  if (shared !== undefined) return protobufEvents(resource, shared)
  return view === undefined ? eventsOf(resource) : projectedEvents(view)
}

const viewsWithoutTable = viewNames.filter((name) => name !== 'Table')
/** Subresources of pods that are never shown as a Table. */
const withoutTable: ReadonlySet<string> = new Set(['ephemeralcontainers', 'resize'])

/**
 * Whether clients can request a subresource as a Table. Before Kubernetes 1.25, only the status of custom resources
 * supported this.
 */
function hasTable<T extends Viewed>(resource: T, subresource: string): boolean {
  if (subresource === '') return true
  if (originOf(resource) !== 'built-in') return subresource === 'status'
  return isSince('1.25', resource.context) && !withoutTable.has(subresource)
}

function agree<T extends Viewed>(exchange: Exchange, resource: T, watch: boolean): View<T> | undefined {
  const { headers, info } = exchange
  const { query } = info
  const isBuiltIn = originOf(resource) === 'built-in'
  const subresource = info.resource ? info.subresource : ''
  const views = hasTable(resource, subresource) ? viewNames : viewsWithoutTable
  const { vendor, hasProtobuf } = resource
  const protobuf = hasProtobuf ? () => protobufOf(resource) : undefined
  // If no format is acceptable, the 406 for a custom resource lists the supported formats, just as the 406 for a
  // document does.
  const { form, projection } = negotiate({ headers, query, watch, vendor, protobuf, ofResource: isBuiltIn }, views)
  const view = projection && openView(resource, projection, query)
  exchange.form = view === undefined ? form : projectedForm(form, view)
  exchange.agreed = true
  return view
}

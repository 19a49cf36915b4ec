/**
 * Agrees with the client on the form of the answer, and writes down on the exchange what was agreed on. The events of a
 * watch have fewer forms than objects have; that is settled later, when the request is known to be sound otherwise.
 */
import type { EventForm } from '../../../storage/cache/event.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import { originOf } from '../../registry/catalogue/served.ts'
import { eventsOf } from '../../registry/reads/conversion.ts'
import type { Exchange } from '../request/exchange.ts'
import { negotiate } from './negotiate.ts'
import { openView, projectedEvents, projectedForm, type View, type Viewed, viewNames } from './projections.ts'
import { protobufEvents, protobufOf } from './protobuf-form.ts'

/** The form of objects, lists and errors. Throws 406 when the client accepts none that there is. */
export function negotiateResponse(exchange: Exchange, resource: Viewed): void {
  agree(exchange, resource, false)
}

/** The form of the events of a watch. Throws 406 when the client accepts none that can be streamed. */
export function negotiateEvents(exchange: Exchange, resource: Resource): EventForm {
  const view = agree(exchange, resource, true)
  const { shared } = exchange.form
  if (shared !== undefined) return protobufEvents(resource, shared)
  return view === undefined ? eventsOf(resource) : projectedEvents(view)
}

/** What is read and written through a subresource has no columns, but for the status of what somebody defines. */
const viewsOfSubresource = viewNames.filter((name) => name !== 'Table')

function agree<T extends Viewed>(exchange: Exchange, resource: T, watch: boolean): View<T> | undefined {
  const { headers, info } = exchange
  const { query } = info
  const isBuiltIn = originOf(resource) === 'built-in'
  const subresource = info.resource ? info.subresource : ''
  const views = subresource === '' || (subresource === 'status' && !isBuiltIn) ? viewNames : viewsOfSubresource
  const { vendor, hasProtobuf } = resource
  const protobuf = hasProtobuf ? () => protobufOf(resource) : undefined
  // Of what somebody defines the forms are told, as of a document.
  const { form, projection } = negotiate({ headers, query, watch, vendor, protobuf, ofResource: isBuiltIn }, views)
  const view = projection && openView(resource, projection, query)
  exchange.form = view === undefined ? form : projectedForm(form, view)
  exchange.agreed = true
  return view
}

/** The last step: hands a request to the verb of its resource, or to the handler of its path. */

import type { Admission } from '../admission/admission.ts'
import type { EventForm } from '../cache/event.ts'
import { ApiError, noSuchPath } from '../model/api-error.ts'
import { apiVersionOf } from '../model/vendor.ts'
import type { Verb } from '../model/verb.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { eventsOf } from '../registry/conversion.ts'
import type { Endpoint } from '../registry/endpoint.ts'
import type { Resource, ServedType } from '../registry/resource.ts'
import type { Exchange } from './exchange.ts'
import { negotiate } from './negotiate.ts'
import type { Step } from './pipeline.ts'
import { openView, projectedEvents, projectedForm } from './projections.ts'
import type { PathInfo, ResourceInfo } from './request-info.ts'
import type { Handler } from './resource-request.ts'
import { handleAnswer } from './verbs/answer.ts'
import { handleCreate } from './verbs/create.ts'
import { handleDelete } from './verbs/delete.ts'
import { handleDeleteCollection } from './verbs/delete-collection.ts'
import { handleGet } from './verbs/get.ts'
import { handleList } from './verbs/list.ts'
import { handlePatch } from './verbs/patch.ts'
import { handleUpdate } from './verbs/update.ts'
import { handleWatch } from './verbs/watch.ts'

/** Handles a path that is no resource; gives false when it is not this one's. */
export type PathHandler = (exchange: Exchange, info: PathInfo) => false | void | Promise<void>

export interface Routes {
  readonly catalogue: Catalogue
  readonly paths: readonly PathHandler[]
  readonly admission: Admission
}

/** What is done with stored objects. */
const handlers: { readonly [V in Verb]: Handler } = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
}

export function dispatch({ catalogue, paths, admission }: Routes): Step {
  return (exchange) => {
    const { info } = exchange
    if (!info.resource) return handlePath(paths, exchange, info)
    const served = catalogue.find(info.group, info.version, info.plural)
    if (served === undefined || !isPlaced(served, info)) throw noSuchPath()
    const endpoint = findEndpoint(served, info)
    exchange.served = served
    warnOfDeprecation(exchange, served)
    if (endpoint !== undefined) return handleAnswer({ exchange, info, served, endpoint, admission })
    const resource = resourceOf(served, info)
    const events = agree(exchange, info, resource)
    return handlers[info.verb]({ exchange, info, resource, admission, events })
  }
}

/** Agrees with the client on the form of the answer, and gives that of the events of a watch. */
function agree(exchange: Exchange, { query, verb }: ResourceInfo, resource: Resource): EventForm {
  const asked = { headers: exchange.headers, query, watch: verb === 'watch', vendor: resource.vendor }
  const { form, projection } = negotiate(asked, true)
  const view = projection && openView(resource, projection, query)
  exchange.form = view === undefined ? form : projectedForm(form, view)
  exchange.agreed = true
  return view === undefined ? eventsOf(resource) : projectedEvents(view)
}

function handlePath(paths: readonly PathHandler[], exchange: Exchange, info: PathInfo): void | Promise<void> {
  for (const path of paths) {
    const handled = path(exchange, info)
    if (handled !== false) return handled
  }
  throw noSuchPath()
}

/** A namespaced kind is written in a namespace; one without namespaces is never found in one. */
function isPlaced({ kind }: ServedType, info: ResourceInfo): boolean {
  if (kind.scope === 'Cluster') return info.namespace === ''
  return info.namespace !== '' || info.verb === 'list' || (info.verb === 'watch' && info.name === '')
}

function warnOfDeprecation(exchange: Exchange, { kind, apiVersion, vendor }: ServedType): void {
  if (kind.deprecated === undefined) return
  const { since, until, instead } = kind.deprecated
  const use = instead && `; use ${apiVersionOf(vendor, instead.group, instead.version)} ${instead.kind}`
  exchange.warn(`${apiVersion} ${kind.kind} is deprecated in ${since}+, unavailable in ${until}+${use ?? ''}`)
}

/** Who answers, where that is not the verb on a stored object. Refuses what nobody does here. */
function findEndpoint(served: ServedType, { verb, name, subresource }: ResourceInfo): Endpoint | undefined {
  const at = subresource === '' ? served : served.subresources.get(subresource)
  if (at === undefined) throw noSuchPath()
  const here = subresource === '' ? at.verbs.filter((each) => isAddressed(each, name)) : at.verbs
  if (here.length === 0) throw noSuchPath()
  if (!here.includes(verb)) throw notAllowed()
  return at.endpoint
}

/** A new object is sent to its collection, and what is done to one object names it. */
function isAddressed(verb: Verb, name: string): boolean {
  if (verb === 'watch') return true
  const ofMany = verb === 'create' || verb === 'list' || verb === 'deletecollection'
  return ofMany === (name === '')
}

/** What the verb is done to: the resource itself, or the view of it that the sub-resource is. */
function resourceOf(served: ServedType, { subresource }: ResourceInfo): Resource {
  if (served.endpoint !== undefined) throw noSuchPath()
  return subresource === '' ? served : (served.views.get(subresource) ?? served)
}

export function notAllowed(): ApiError {
  return new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
}

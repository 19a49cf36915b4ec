/** The last step: hands a request to the verb of its resource, or to the handler of its path. */

import type { Admission } from '../admission/admission.ts'
import type { EventForm } from '../cache/event.ts'
import { Aside } from '../codec/aside.ts'
import { ApiError, methodNotAllowed, noSuchPath } from '../model/api-error.ts'
import { eventsOf } from '../registry/conversion.ts'
import type { Resource } from '../registry/resource.ts'
import type { Exchange } from './exchange.ts'
import { negotiate } from './negotiate.ts'
import type { Step } from './pipeline.ts'
import { openView, projectedEvents, projectedForm } from './projections.ts'
import type { PathInfo, ResourceInfo, Verb } from './request-info.ts'
import type { Handler } from './resource-request.ts'
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
  readonly resources: readonly Resource[]
  readonly paths: readonly PathHandler[]
  readonly admission: Admission
}

const handlers: { readonly [V in Verb]?: Handler } = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
}

export function dispatch({ resources, paths, admission }: Routes): Step {
  const byPath = new Map(
    resources.map((resource) => [`${resource.group}/${resource.kind.version}/${resource.plural}`, resource]),
  )
  const aside = new Aside()
  return (exchange) => {
    const { info } = exchange
    exchange.aside = aside
    if (!info.resource) return handlePath(paths, exchange, info)
    const resource = byPath.get(`${info.group}/${info.version}/${info.plural}`)
    if (resource === undefined || !isPlaced(resource, info)) throw noSuchPath()
    const events = agree(exchange, info, resource)
    return handlerOf(resource, info)({ exchange, info, resource, admission, events })
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
function isPlaced({ kind }: Resource, info: ResourceInfo): boolean {
  if (kind.scope === 'Cluster') return info.namespace === ''
  return info.namespace !== '' || info.verb === 'list' || (info.verb === 'watch' && info.name === '')
}

function handlerOf(resource: Resource, info: ResourceInfo): Handler {
  if (info.subresource !== '') assertSubresource(resource, info)
  if (info.name === '' && ['update', 'patch', 'delete', 'get'].includes(info.verb)) throw notAllowed()
  if (info.verb === 'create' && info.name !== '') throw notAllowed()
  if (info.verb === 'deletecollection' && resource.kind.deleteCollection === false) throw notAllowed()
  const handler = handlers[info.verb]
  if (handler === undefined) throw methodNotAllowed(info.verb, resource)
  return handler
}

function assertSubresource(resource: Resource, info: ResourceInfo): void {
  const subresources = resource.kind.subresources ?? {}
  if (!Object.hasOwn(subresources, info.subresource)) throw noSuchPath()
  const verbs: readonly string[] = subresources[info.subresource]!.verbs
  if (!verbs.includes(info.verb)) throw notAllowed()
}

export function notAllowed(): ApiError {
  return new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
}

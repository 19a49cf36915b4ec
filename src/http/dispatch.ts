/** The last step: hands a request to the verb of its resource, or to the handler of its path. */

import type { Admission } from '../admission/admission.ts'
import { Aside } from '../codec/aside.ts'
import { ApiError, badRequest, noSuchPath } from '../model/api-error.ts'
import { checkPathSegment } from '../model/names.ts'
import type { Resource } from '../registry/resource.ts'
import { agreeOnForm } from './agree.ts'
import type { Exchange } from './exchange.ts'
import type { Step } from './pipeline.ts'
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
    agreeOnForm(exchange, resource)
    return handlerOf(resource, info, exchange.transport.method)({ exchange, info, resource, admission })
  }
}

function handlePath(paths: readonly PathHandler[], exchange: Exchange, info: PathInfo): void | Promise<void> {
  for (const path of paths) {
    const handled = path(exchange, info)
    if (handled !== false) return handled
  }
  throw noSuchPath()
}

/** Objects of a namespaced kind are in a namespace, their lists anywhere; one without namespaces is never in one. */
function isPlaced({ kind }: Resource, { namespace, name }: ResourceInfo): boolean {
  return kind.scope === 'Cluster' ? namespace === '' : namespace !== '' || name === ''
}

const reading: ReadonlySet<Verb> = new Set(['get', 'list', 'watch'])

function handlerOf(resource: Resource, info: ResourceInfo, method: string): Handler {
  if (info.subresource !== '') assertSubresource(resource, info)
  // HEAD may ask for the same, but is not served; what is below `/watch` is a watch and nothing else.
  if (reading.has(info.verb) && method !== 'GET') throw notAllowed()
  const everywhere = resource.kind.scope === 'Namespaced' && info.namespace === ''
  if (everywhere && !reading.has(info.verb)) throw notAllowed()
  if (named.includes(info.verb)) assertName(info.name)
  if (info.verb === 'create' && info.name !== '') throw notAllowed()
  if (info.verb === 'deletecollection' && resource.kind.deleteCollection === false) throw notAllowed()
  const handler = handlers[info.verb]
  if (handler === undefined) throw notAllowed()
  return handler
}

/** Verbs that mean one object. */
const named: readonly Verb[] = ['get', 'update', 'patch', 'delete']

/** No object can have a name that is no segment of a path, so there is none to look for. */
function assertName(name: string): void {
  if (name === '') throw notAllowed()
  const [fault] = checkPathSegment(name)
  if (fault !== undefined) throw badRequest(`the name ${JSON.stringify(name.slice(0, 100))} is invalid: ${fault}`)
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

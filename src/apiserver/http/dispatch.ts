/**
 * The last step of the request pipeline. Calls the handler for the verb and resource, or the handler for a non-resource
 * path.
 */

import { DocumentWorker } from '../../api/codec/document-worker.ts'
import { ApiError, badRequest, noSuchPath, notFound } from '../../api/model/api-error.ts'
import { checkPathSegment } from '../../api/model/names.ts'
import { apiVersionOf, groupOfOtherProfile, profileHint } from '../../api/model/vendor.ts'
import type { Verb } from '../../api/model/verb.ts'
import { type Deprecation, removalOf } from '../../api/schema/kind.ts'
import { shorten } from '../../base/text/shorten.ts'
import type { Admission } from '../admission/admission.ts'
import type { Authorizer } from '../authz/authorizer.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { fetchObject, keyOf, type Resource, type ServedType } from '../registry/catalogue/resource.ts'
import { hasChanged, TypeChanged } from '../registry/writes/type-changed.ts'
import type { Step } from './pipeline.ts'
import type { RequestForwarder } from './relay/request-forwarder.ts'
import type { Exchange } from './request/exchange.ts'
import { selectsFields } from './request/list-extensions.ts'
import type { PathInfo, RequestInfo, ResourceInfo } from './request/request-info.ts'
import type { Handler } from './request/resource-request.ts'
import { negotiateFields, negotiateResponse } from './response/negotiate-response.ts'
import { sendPageNotFound } from './response/responses.ts'
import { handleAnswer } from './verbs/answer.ts'
import { handleCreate } from './verbs/create.ts'
import { handleDelete } from './verbs/delete.ts'
import { handleDeleteCollection } from './verbs/delete-collection.ts'
import { handleGet } from './verbs/get.ts'
import { handleList } from './verbs/list.ts'
import { assertPatchType, handlePatch } from './verbs/patch.ts'
import { handleUpdate } from './verbs/update.ts'
import { handleWatch } from './verbs/watch.ts'
import type { WatchMetrics } from './watch-metrics.ts'

/** Handles a non-resource path. Returns false if the path belongs to another handler. */
export type PathHandler = (exchange: Exchange, info: PathInfo) => false | void | Promise<void>

/** Dependencies of the dispatch step: the catalogue, the path handlers and everything that the verb handlers need. */
export interface Routes {
  readonly catalogue: Catalogue
  readonly paths: readonly PathHandler[]
  readonly admission: Admission
  readonly watchMetrics: WatchMetrics
  /** Minimum duration in milliseconds of a watch that sets no timeout. */
  readonly minWatchMs: number
  /** Whether lists support query parameters that Kubernetes does not have (`--extensions`). */
  readonly extensions: boolean
  /**
   * Returns a promise if a type is not served yet but may be soon, for example because its CustomResourceDefinition was
   * just created. The promise resolves when the caller should look up the type again. Returns undefined if waiting is
   * pointless.
   */
  readonly waitForType?: ((type: ResourceInfo) => Promise<void> | undefined) | undefined
  /** Handles requests for API versions that are not in the catalogue. Returns false for all other requests. */
  readonly handleOtherApi: (exchange: Exchange, info: RequestInfo) => false | Promise<void>
  readonly authorizer: Authorizer
  /** Forwards requests to nodes and pods. */
  readonly forwarder: RequestForwarder
}

/** The handler for each verb on stored objects. */
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

/** Returns the pipeline step that resolves the path and calls the handler for the verb. */
export function dispatch(routes: Routes): Step {
  const { catalogue, paths, admission, authorizer, forwarder, watchMetrics, minWatchMs, extensions, waitForType } =
    routes
  const documentWorker = new DocumentWorker()
  const handle = (exchange: Exchange, info: ResourceInfo, served: ServedType | undefined) => {
    if (served === undefined) return unserved(routes, exchange, info)
    if (!isPlaced(served, info)) return unplaced(exchange, served)
    const endpoint = info.subresource === '' ? served.endpoint : served.subresources.get(info.subresource)?.endpoint
    if (info.below !== '' && !endpoint?.connects?.takesPath) throw noSuchPath()
    const verb = verbOf(served, info, exchange.transport.method)
    exchange.served = served
    warnOfDeprecation(exchange, served)
    if (endpoint !== undefined)
      return handleAnswer({ verb, exchange, info, served, endpoint, admission, authorizer, forwarder, extensions })
    const resource = resourceOf(served, info)
    // As in Kubernetes, an unsupported patch type is reported before an unsupported response format.
    if (verb === 'patch') assertPatchType(exchange, resource)
    if (extensions && verb === 'list' && selectsFields(info.query)) negotiateFields(exchange, resource)
    else negotiateResponse(exchange, resource)
    const request = { exchange, info, resource, admission, authorizer, watchMetrics, minWatchMs, extensions }
    const run = () => handlers[verb](request)
    const loading = whenReadable(resource, verb, info)
    return loading === undefined ? run() : loading.then(run)
  }
  const find = ({ group, version, plural }: ResourceInfo) => catalogue.find(group, version, plural)
  /** Handles a write to a custom resource. Starts over if the CustomResourceDefinition changes during the request. */
  const handleDefined = async (exchange: Exchange, info: ResourceInfo): Promise<void> => {
    exchange.keepsBody = true
    for (let attempt = 1; ; attempt++) {
      const served = find(info)
      try {
        return await handle(exchange, info, served)
      } catch (error) {
        if (attempt === maxAttempts || !(await isOutdated(exchange, served, error))) throw error
        exchange.forgetWarnings()
        await waitForType?.(info)
      }
    }
  }
  const handleAny = (exchange: Exchange, info: ResourceInfo, served: ServedType | undefined) =>
    served?.kind.origin === 'custom' && !reading.has(info.verb)
      ? handleDefined(exchange, info)
      : handle(exchange, info, served)
  return (exchange) => {
    const { info } = exchange
    exchange.documentWorker = documentWorker
    const passed = routes.handleOtherApi(exchange, info)
    if (passed !== false) return passed
    if (!info.resource) return handlePath(paths, exchange, info)
    const served = find(info)
    const arriving = served === undefined ? waitForType?.(info) : undefined
    return arriving === undefined
      ? handleAny(exchange, info, served)
      : arriving.then(() => handleAny(exchange, info, find(info)))
  }
}

/**
 * Waits until the requested objects can be read from a cache that is loading in the background. Lists and creates need
 * not wait, because they read from the store. Returns undefined if the request need not wait.
 */
function whenReadable(resource: Resource, verb: Verb, { namespace, name }: ResourceInfo): Promise<void> | undefined {
  if (!resource.cache.isLoading || verb === 'list' || verb === 'create') return undefined
  return ofOne.has(verb) ? fetchObject(resource, keyOf(resource, namespace, name)) : resource.cache.whenLoaded()
}

/** Maximum number of attempts for a request whose CustomResourceDefinition keeps changing. */
const maxAttempts = 5

/** Whether a failed request should be repeated because its CustomResourceDefinition changed in the meantime. */
async function isOutdated(exchange: Exchange, served: ServedType | undefined, error: unknown): Promise<boolean> {
  if (exchange.answered || exchange.disconnected || !(error instanceof ApiError)) return false
  if (error instanceof TypeChanged) return true
  return served !== undefined && served.endpoint === undefined && (await hasChanged(served))
}

function handlePath(paths: readonly PathHandler[], exchange: Exchange, info: PathInfo): void | Promise<void> {
  for (const path of paths) {
    const handled = path(exchange, info)
    if (handled !== false) return handled
  }
  throw noSuchPath()
}

function unserved({ catalogue }: Routes, exchange: Exchange, info: ResourceInfo): void {
  if (isBuiltInGroup(catalogue, info.group)) throw noSuchPath()
  const other = groupOfOtherProfile(catalogue.vendor, info.group)
  if (other !== undefined && isBuiltInGroup(catalogue, other.group))
    throw noSuchPath(profileHint(catalogue.vendor, other))
  sendPageNotFound(exchange)
}

/** Whether a built-in kind belongs to the API group. Requests for other groups get the response for an unknown path. */
function isBuiltInGroup(catalogue: Catalogue, group: string): boolean {
  return catalogue.all().some((served) => served.group === group && served.kind.origin === 'built-in')
}

/**
 * Whether the scope in the path matches the kind. A request for a namespaced object needs a namespace, but a list may
 * span all namespaces. A request for a cluster-scoped kind must not contain a namespace.
 */
function isPlaced({ kind }: ServedType, { namespace, name }: ResourceInfo): boolean {
  return kind.scope === 'Cluster' ? namespace === '' : namespace !== '' || name === ''
}

function warnOfDeprecation(exchange: Exchange, { kind, apiVersion, vendor }: ServedType): void {
  if (kind.deprecated === undefined) return
  exchange.audit?.annotate(`${vendor.groupDomain}/deprecated`, 'true')
  const removal = removalOf(kind)
  if (removal !== undefined) exchange.audit?.annotate(`${vendor.groupDomain}/removed-release`, removal)
  exchange.warn(deprecationOf(kind.deprecated, { kind, apiVersion, vendor }))
}

/**
 * Responds with 404 to a path whose scope does not match the kind. Custom resources get the response for an unknown
 * path.
 */
function unplaced(exchange: Exchange, { kind }: ServedType): void {
  if (kind.origin === 'built-in') throw noSuchPath()
  sendPageNotFound(exchange)
}

function deprecationOf(
  deprecated: Deprecation,
  { kind, apiVersion, vendor }: Pick<ServedType, 'kind' | 'apiVersion' | 'vendor'>,
): string {
  if ('warning' in deprecated) return deprecated.warning
  const { since, instead } = deprecated
  const removal = removalOf(kind)
  const use = instead && `; use ${apiVersionOf(vendor, instead.group, instead.version)} ${instead.kind}`
  const end = removal && `, unavailable in v${removal}+`
  return `${apiVersion} ${kind.kind} is deprecated in v${since}+${end ?? ''}${use ?? ''}`
}

const reading: ReadonlySet<string> = new Set<Verb>(['get', 'list', 'watch'])
/** Verbs that act on a single object. */
const ofOne: ReadonlySet<string> = new Set<Verb>(['get', 'update', 'patch', 'delete'])

/**
 * Returns the verb if the path supports it. Throws 404 if the path supports no verb at all, and 405 if it supports only
 * other verbs.
 */
function verbOf(served: ServedType, info: ResourceInfo, method: string): Verb {
  const { name, subresource } = info
  const verbs = subresource === '' ? served.verbs : served.subresources.get(subresource)?.verbs
  const everywhere = served.kind.scope === 'Namespaced' && info.namespace === ''
  const isHere = (verb: Verb) => (subresource !== '' || isAddressed(verb, name)) && (!everywhere || reading.has(verb))
  if (verbs === undefined && served.kind.origin === 'custom') throw notFound(served, name)
  if (!verbs?.some(isHere)) throw noSuchPath()
  // Paths below `/watch` support only watches.
  if (reading.has(info.verb) && method !== 'GET' && !isServedHead(served, info, method)) throw notAllowed()
  const verb = verbs.find((each) => each === info.verb)
  if (verb === undefined || !isHere(verb)) throw notAllowed()
  if (ofOne.has(verb)) assertName(name)
  return verb
}

/** Whether the path supports HEAD. As in Kubernetes, only custom resources support HEAD, but not for watches. */
function isServedHead({ kind }: ServedType, { verb }: ResourceInfo, method: string): boolean {
  return method === 'HEAD' && kind.origin === 'custom' && verb !== 'watch'
}

/**
 * Whether the path names an object if, and only if, the verb needs one. Creates and collection verbs take no name. For
 * a watch, the name is optional.
 */
function isAddressed(verb: Verb, name: string): boolean {
  return verb === 'watch' || ofOne.has(verb) === (name !== '')
}

/** Throws an error if a name is not a valid path segment, because no object can have such a name. */
function assertName(name: string): void {
  const [fault] = checkPathSegment(name)
  if (fault !== undefined) throw badRequest(`the name ${JSON.stringify(shorten(name, 100))} is invalid: ${fault}`)
}

/** Returns the resource to act on. For a subresource that has a view, such as `scale`, this is the view. */
function resourceOf(served: ServedType, { subresource }: ResourceInfo): Resource {
  if (served.endpoint !== undefined) throw noSuchPath()
  return subresource === '' ? served : (served.views.get(subresource) ?? served)
}

/** Returns the 405 error for a path that exists but does not support the requested verb. */
export function notAllowed(): ApiError {
  return new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
}

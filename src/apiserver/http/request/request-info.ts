/**
 * Parses the method and path of a request once, so that the authorizer and the router see the same result.
 *
 *   /api/v1/namespaces/a/configmaps/b        get configmaps b in a
 *   /apis/storage.orch.io/v1/storageclasses  list storageclasses
 *   /livez                                   a non-resource path
 */
import { badRequest, noSuchPath } from '../../../api/model/api-error.ts'
import type { Verb } from '../../../api/model/verb.ts'

/** A request for a resource, parsed from its method and path. */
export interface ResourceInfo {
  readonly resource: true
  /** The verb, or '' for an HTTP method that resources do not support. */
  readonly verb: Verb | ''
  readonly path: string
  /** The name of the API group, or '' for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  /** The namespace, or '' if the path contains no namespace. */
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  /** The part of the path after a connect subresource, such as `a/b` in `/api/v1/namespaces/n/pods/p/proxy/a/b`. */
  readonly below: string
  readonly query: URLSearchParams
}

export interface PathInfo {
  readonly resource: false
  /** The HTTP method in lower case, which rules for non-resource paths use as the verb. */
  readonly verb: string
  readonly path: string
  readonly query: URLSearchParams
}

/** The target of a request, parsed from its method and path: a resource, or a non-resource path. */
export type RequestInfo = ResourceInfo | PathInfo

const verbs: ReadonlyMap<string, Verb> = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])
/** Subresources of namespaces. In `/namespaces/NAME/SEGMENT`, any other segment is a resource type. */
const namespaceSubresources = new Set(['status', 'finalize'])

export function readRequest(method: string, target: string): RequestInfo {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const query = mark < 0 ? noQuery : new URLSearchParams(target.slice(mark + 1))
  const segments = readSegments(path)
  const place = readPlace(segments)
  if (place === undefined) return pathInfo(method, segments, path, query)
  const { group, version, plural, namespace, name, subresource, below } = place
  return {
    resource: true,
    verb: exactVerb(verbs.get(method) ?? '', place, query),
    path,
    query,
    group,
    version,
    plural,
    namespace,
    name,
    subresource,
    below,
  }
}

function pathInfo(method: string, segments: readonly string[], path: string, query: URLSearchParams): PathInfo {
  const slash = path.length > 1 && path.endsWith('/') ? '/' : ''
  return { resource: false, verb: method.toLowerCase(), path: `/${segments.join('/')}${slash}`, query }
}

/** An empty query that all requests without a query share. The query is never modified. */
const noQuery = new URLSearchParams()

/** Matches paths whose segments need neither decoding nor checks. Nearly all paths match. */
const plainPath = /^(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*)+$/

/** Returns the decoded path segments. No segment can contain a slash or be `.` or `..`. */
function readSegments(path: string): string[] {
  if (plainPath.test(path)) return path.slice(1).split('/')
  if (!path.startsWith('/')) throw badRequest('the request target must be a path')
  const segments = path.slice(1).split('/')
  if (segments.at(-1) === '') segments.pop()
  for (let i = 0; i < segments.length; i++) segments[i] = readSegment(segments[i]!)
  return segments
}

function readSegment(segment: string): string {
  const text = segment.includes('%') ? decodeSegment(segment) : segment
  if (text === '' || text.includes('/')) throw noSuchPath()
  if (text === '.' || text === '..' || text.includes('\0'))
    throw badRequest(`invalid path segment ${JSON.stringify(text)}`)
  return text
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    throw badRequest('the path is not properly percent-encoded', { cause: error })
  }
}

interface Place {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly below: string
  readonly watchPrefix: boolean
}

/**
 * Splits path segments into the API group, the version and the rest. Returns undefined if the path is not an API path.
 */
function readPlace(segments: readonly string[]): Place | undefined {
  const core = segments[0] === 'api'
  if (!core && segments[0] !== 'apis') return undefined
  const group = core ? '' : segments[1]
  let at = core ? 2 : 3
  const version = segments[at - 1]
  if (group === undefined || version === undefined || segments.length === at) return undefined
  const watchPrefix = segments[at] === 'watch' && segments.length > at + 1
  if (watchPrefix) at++
  const namespaced = isNamespaced(segments, at)
  const namespace = namespaced ? segments[at + 1]! : ''
  if (namespaced) at += 2
  const plural = segments[at]!
  const name = segments[at + 1] ?? ''
  const subresource = segments[at + 2] ?? ''
  const below = segments.length > at + 3 ? segments.slice(at + 3).join('/') : ''
  return { group, version, watchPrefix, namespace, plural, name, subresource, below }
}

/**
 * Whether the segment at `at` starts a prefix such as `namespaces/NAME/`, rather than the path of a Namespace itself.
 */
function isNamespaced(segments: readonly string[], at: number): boolean {
  return segments[at] === 'namespaces' && segments.length > at + 2 && !namespaceSubresources.has(segments[at + 2]!)
}

/** Returns the verb of the request. A request below `/watch` is always a watch, regardless of its method. */
function exactVerb(verb: Verb | '', place: Place, query: URLSearchParams): Verb | '' {
  if (place.watchPrefix) return 'watch'
  if (verb === 'get') {
    // List and watch need different permissions, so a repeated `watch` parameter must not be interpreted differently by
    // different readers.
    if (query.getAll('watch').length > 1) throw badRequest('the query parameter watch is repeated: specify it once')
    if (place.subresource === '' && isTrue(query, 'watch')) return 'watch'
    return place.name === '' ? 'list' : 'get'
  }
  return verb === 'delete' && place.name === '' ? 'deletecollection' : verb
}

/** Reads a boolean query parameter. The value is true if the parameter is present and neither `false` nor `0`. */
export function isTrue(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value.toLowerCase() !== 'false' && value !== '0'
}

/** Subresources whose responses stream data until either side closes the connection. */
const streams = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** Whether the request has no natural end: a watch, or a stream to a node or pod. */
export function isLongRunning(info: RequestInfo): boolean {
  return info.verb === 'watch' || (info.resource && streams.has(info.subresource))
}

const switchable =
  /^\/api\/v1\/(?:namespaces\/[^/?]+\/(?:pods|services)\/[^/?]+\/(?:exec|attach|log|portforward|proxy)|nodes\/[^/?]+\/proxy)(?:[/?]|$)/

const asksForWatch = /\/watch\/|[?&]watch(?:[=&]|$)/

/**
 * Whether a request to this URL may upgrade its connection: to a tunnel to a node or pod, or to a watch over a
 * WebSocket.
 */
export function maySwitchProtocols(target: string): boolean {
  return switchable.test(target) || (target.startsWith('/api') && asksForWatch.test(target))
}

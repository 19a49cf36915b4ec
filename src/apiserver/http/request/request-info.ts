/**
 * What a request asks for, read off its method and path once: the authorizer and the router see the same answer.
 *
 *   /api/v1/namespaces/a/configmaps/b        get configmaps b in a
 *   /apis/storage.orch.io/v1/storageclasses  list storageclasses
 *   /livez                                   a path that is not a resource
 */
import { badRequest, noSuchPath } from '../../../api/model/api-error.ts'
import type { Verb } from '../../../api/model/verb.ts'

export interface ResourceInfo {
  readonly resource: true
  /** '' for a method that no resource has. */
  readonly verb: Verb | ''
  readonly path: string
  /** As on the wire; '' is the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  /** '' when the path names none. */
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  /** What follows the sub-resource, as `a/b`: for those that are ways through to somewhere else. */
  readonly below: string
  readonly query: URLSearchParams
}

export interface PathInfo {
  readonly resource: false
  /** The method in lower case: what non-resource rules name. */
  readonly verb: string
  readonly path: string
  readonly query: URLSearchParams
}

/** What a request asks for, by its method and path. */
export type RequestInfo = ResourceInfo | PathInfo

const verbs: ReadonlyMap<string, Verb> = new Map([
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])
/** What may follow a namespace's name without being a resource inside it. */
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

/** Shared by all requests without one; nobody changes a query. */
const noQuery = new URLSearchParams()

/** Paths in which no segment needs decoding or could be refused: nearly all. */
const plainPath = /^(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*)+$/

/** The decoded segments. A segment can never hold a slash or climb: names are looked up as they stand. */
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

/** Undefined for what is not below a version of a group. */
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
  const [plural, name = ''] = [segments[at]!, segments[at + 1]]
  const subresource = segments[at + 2] ?? ''
  const below = segments.length > at + 3 ? segments.slice(at + 3).join('/') : ''
  return { group, version, watchPrefix, namespace, plural, name, subresource, below }
}

/** Whether what begins here is a namespace and a resource inside it. */
function isNamespaced(segments: readonly string[], at: number): boolean {
  return segments[at] === 'namespaces' && segments.length > at + 2 && !namespaceSubresources.has(segments[at + 2]!)
}

/** What is below `/watch` is a watch by any method. */
function exactVerb(verb: Verb | '', place: Place, query: URLSearchParams): Verb | '' {
  if (place.watchPrefix) return 'watch'
  if (verb === 'get') {
    // List and watch are separate permissions, so it must be clear which of them this is.
    if (query.getAll('watch').length > 1) throw badRequest('watch is given more than once: say it once')
    if (place.subresource === '' && isTrue(query, 'watch')) return 'watch'
    return place.name === '' ? 'list' : 'get'
  }
  return verb === 'delete' && place.name === '' ? 'deletecollection' : verb
}

/** A boolean parameter: there, and not `false` or `0`. */
export function isTrue(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value.toLowerCase() !== 'false' && value !== '0'
}

/** What is streamed for as long as somebody reads or writes it. */
const streams = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** Whether a request has no natural end: a watch, or a stream through to somewhere else. */
export function isLongRunning(info: RequestInfo): boolean {
  return info.verb === 'watch' || (info.resource && streams.has(info.subresource))
}

const switchable =
  /^\/api\/v1\/(?:namespaces\/[^/?]+\/(?:pods|services)\/[^/?]+\/(?:exec|attach|log|portforward|proxy)|nodes\/[^/?]+\/proxy)(?:[/?]|$)/

const asksForWatch = /\/watch\/|[?&]watch(?:[=&]|$)/

/** Whether a request for this path and query may end in a tunnel to a node or a pod, or in a watch over a WebSocket. */
export function maySwitchProtocols(target: string): boolean {
  return switchable.test(target) || (target.startsWith('/api') && asksForWatch.test(target))
}

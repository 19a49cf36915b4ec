/**
 * Discovery: what the server has, told under `/api`, `/apis` and below. Every document is made once, on first use, and
 * kept as bytes with its ETag.
 */
import { createHash } from 'node:crypto'
import { stringifyJson } from '../codec/json.ts'
import { noSuchPath } from '../model/api-error.ts'
import type { JsonObject } from '../model/json.ts'
import type { Resource } from '../registry/resource.ts'
import type { PathHandler } from './dispatch.ts'
import { notAllowed } from './dispatch.ts'
import type { Exchange } from './exchange.ts'
import { negotiate } from './negotiate.ts'
import type { PathInfo } from './request-info.ts'
import { sendBytes, sendPageNotFound } from './responses.ts'

interface Document {
  readonly json: Buffer
  readonly etag: string
}

export interface DiscoveryOptions {
  readonly resources: readonly Resource[]
  /** Where clients reach the server: `127.0.0.1:6443`. */
  readonly address: () => string
}

export function discoveryPaths({ resources, address }: DiscoveryOptions): PathHandler {
  const makers = documents(resources, address)
  const made = new Map<string, Document>()
  return (exchange, info) => {
    const path = info.path.length > 1 ? info.path.replace(/\/$/, '') : info.path
    if (path !== '/api' && path !== '/apis' && !path.startsWith('/api/') && !path.startsWith('/apis/')) return false
    const maker = makers.get(path)
    if (maker === undefined) return unknownDocument(exchange, path, makers)
    const document = made.get(path) ?? encode(maker())
    made.set(path, document)
    return sendDocument(exchange, info, document, resources[0]!)
  }
}

async function unknownDocument(exchange: Exchange, path: string, makers: ReadonlyMap<string, unknown>): Promise<void> {
  const group = path.split('/').slice(0, 3).join('/')
  // Below a group that is served, or the core group, it is the version that is unknown.
  if (path.startsWith('/api/') || makers.has(group)) throw noSuchPath()
  sendPageNotFound(exchange)
}

async function sendDocument(
  exchange: Exchange,
  info: PathInfo,
  { json, etag }: Document,
  { vendor }: Resource,
): Promise<void> {
  if (info.verb !== 'get') throw notAllowed()
  exchange.form = negotiate({ headers: exchange.headers, query: info.query, watch: false, vendor }, []).form
  exchange.setHeader('etag', etag)
  if (exchange.headers.all('if-none-match').includes(etag)) exchange.send(304, exchange.form.mediaType, Buffer.alloc(0))
  else await sendBytes(exchange, 200, json)
}

function encode(value: JsonObject): Document {
  const json = Buffer.from(stringifyJson(value))
  return { json, etag: `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"` }
}

type Maker = () => JsonObject

/** Every document by its path. */
function documents(resources: readonly Resource[], address: () => string): Map<string, Maker> {
  const byGroup = Map.groupBy(resources, (resource) => resource.group)
  const named = [...byGroup].filter(([group]) => group !== '')
  const makers = new Map<string, Maker>([
    ['/api', () => coreVersions(byGroup.get('') ?? [], address())],
    [
      '/apis',
      () => ({
        kind: 'APIGroupList',
        apiVersion: 'v1',
        groups: named.map(([group, served]) => groupEntry(group, served)),
      }),
    ],
  ])
  for (const [group, served] of named)
    makers.set(`/apis/${group}`, () => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group, served) }))
  for (const [apiVersion, served] of Map.groupBy(resources, (resource) => resource.apiVersion)) {
    makers.set(served[0]!.group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`, () =>
      resourceList(apiVersion, served),
    )
  }
  return makers
}

function coreVersions(served: readonly Resource[], serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: versionsOf(served),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

function groupEntry(name: string, served: readonly Resource[]): JsonObject {
  const versions = versionsOf(served).map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions, preferredVersion: versions[0]! }
}

/** The versions of a group in the order of its kinds: the preferred one first. */
function versionsOf(served: readonly Resource[]): string[] {
  return [...new Set(served.map(({ kind }) => kind.version))]
}

function resourceList(apiVersion: string, served: readonly Resource[]): JsonObject {
  const entries = served.flatMap((resource) => [mainEntry(resource), ...subresourceEntries(resource)])
  const sorted = entries.toSorted((a, b) => (String(a.name) < String(b.name) ? -1 : 1))
  return {
    kind: 'APIResourceList',
    ...(served[0]!.group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersion,
    resources: sorted,
  }
}

function mainEntry({ kind, apiVersion, stored }: Resource): JsonObject {
  return {
    ...entryOf(kind.plural, kind),
    verbs: [
      'create',
      'delete',
      ...(kind.deleteCollection === false ? [] : ['deletecollection']),
      'get',
      'list',
      'patch',
      'update',
      'watch',
    ],
    ...(kind.shortNames ? { shortNames: [...kind.shortNames] } : {}),
    ...(kind.categories ? { categories: [...kind.categories] } : {}),
    storageVersionHash: createHash('sha256')
      .update(`${stored?.apiVersion ?? apiVersion}/${kind.kind}`)
      .digest()
      .subarray(0, 8)
      .toString('base64'),
  }
}

function subresourceEntries({ kind }: Resource): JsonObject[] {
  return Object.entries(kind.subresources ?? {}).map(([name, { verbs }]) => ({
    ...entryOf(`${kind.plural}/${name}`, kind),
    verbs: verbs.toSorted(),
  }))
}

function entryOf(name: string, kind: Resource['kind']): JsonObject {
  return { name, singularName: '', namespaced: kind.scope === 'Namespaced', kind: kind.kind }
}

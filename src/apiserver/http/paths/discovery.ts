/**
 * Discovery documents under `/api` and `/apis`. Each document is built on first use and cached with its ETag until the
 * catalogue changes. `/api` and `/apis` also serve aggregated discovery (`discovery-list.ts`) if a client requests it.
 */
import { createHash } from 'node:crypto'
import { jsonDocument } from '../../../api/codec/json.ts'
import { discoveryTypes } from '../../../api/codec/protobuf/documents.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import { noSuchPath } from '../../../api/model/api-error.ts'
import { apiVersionOf, groupName, type Vendor } from '../../../api/model/vendor.ts'
import { emulationOf } from '../../../api/schema/context.ts'
import { apiGroupDiscoveryList } from '../../../api/schema/discovery-types.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
import { type Catalogue, whileUnchanged } from '../../registry/catalogue/catalogue.ts'
import type { Served } from '../../registry/catalogue/served.ts'
import type { PathHandler } from '../dispatch.ts'
import { notAllowed } from '../dispatch.ts'
import type { Exchange } from '../request/exchange.ts'
import type { PathInfo } from '../request/request-info.ts'
import { warnKubectl } from '../response/kubectl-hint.ts'
import { negotiate } from '../response/negotiate.ts'
import { protobufDiscovery } from '../response/protobuf-form.ts'
import { sendBytes, sendPageNotFound } from '../response/responses.ts'
import {
  type AggregatedVersions,
  type Group,
  orderedGroups,
  type VersionContent,
  versionsOf,
  withSpoken,
} from './discovery-groups.ts'
import { type DiscoveryListType, discoveryList, discoveryListTypes, discoveryListVersions } from './discovery-list.ts'
import { agreeOnList, DiscoveryListDocument, etagOf, sendList } from './discovery-list-response.ts'

interface Document {
  readonly json: Buffer
  readonly etag: string
  readonly isRoute: boolean
}

export interface DiscoveryOptions {
  readonly catalogue: Catalogue
  readonly aggregated: AggregatedVersions
  readonly emulation: Emulation
  /**
   * Group versions, in the form `group/version`, that discovery lists although they have no resources. The server sends
   * objects of these kinds, for example to webhooks.
   */
  readonly spoken: readonly string[]
  /** Returns the address, such as `127.0.0.1:6443`, that clients use to reach the server. */
  readonly address: () => string
}

/** Serves `/api`, `/apis` and the paths below them, except for objects. */
export function discoveryPaths(options: DiscoveryOptions): PathHandler {
  const { catalogue, aggregated, emulation } = options
  const listTypes = discoveryListTypes(catalogue.vendor, discoveryListVersions(emulation))
  const current = whileUnchanged([catalogue, aggregated], () => new Documents(options))
  return (exchange, info) => {
    const path = info.path.length > 1 ? info.path.replace(/\/$/, '') : info.path
    if (path !== '/api' && path !== '/apis' && !path.startsWith('/api/') && !path.startsWith('/apis/')) return false
    const documents = current()
    const document = documents.find(path)
    if (document === undefined) return unknownDocument(exchange, path, documents)
    if (path === '/apis') warnKubectl(exchange, catalogue.vendor)
    if (listTypes.length > 0 && (path === '/api' || path === '/apis')) {
      const agreed = agreeOnList(exchange, info, { types: listTypes, vendor: catalogue.vendor })
      if (agreed !== undefined) {
        if (info.verb !== 'get' && (document.isRoute || info.verb !== 'head')) throw notAllowed()
        return sendList(exchange, documents.list(path, agreed.type), agreed.form)
      }
    }
    return sendDocument(exchange, info, document, catalogue.vendor)
  }
}

/** Builds and caches the discovery documents of one catalogue generation. */
class Documents {
  readonly #options: DiscoveryOptions
  /** The resource types of each version that this server serves. */
  readonly #types: ReadonlyMap<string, readonly Served[]>
  readonly #groups: readonly Group[]
  readonly #makers: ReadonlyMap<string, Maker>
  readonly #documents = new Map<string, Document>()
  readonly #lists = new Map<string, DiscoveryListDocument>()

  constructor(options: DiscoveryOptions) {
    const { catalogue, aggregated, spoken, address } = options
    const served = catalogue.all()
    const lists = new Map<string, readonly Served[]>(spoken.map((apiVersion) => [apiVersion, []]))
    for (const [apiVersion, types] of Map.groupBy(served, (type) => type.apiVersion)) lists.set(apiVersion, types)
    this.#options = options
    this.#types = lists
    this.#groups = withSpoken(orderedGroups(served, aggregated), spoken)
    this.#makers = documents(lists, this.#groups, address)
  }

  /** Returns the aggregated discovery document of the core group (`/api`) or of all other groups (`/apis`). */
  list(path: '/api' | '/apis', type: DiscoveryListType): DiscoveryListDocument {
    const name = `${path} ${type.version}`
    const list = this.#lists.get(name) ?? new DiscoveryListDocument(this.#writeList(path, type))
    this.#lists.set(name, list)
    return list
  }

  #writeList(path: '/api' | '/apis', type: DiscoveryListType): Buffer {
    const core = this.#options.catalogue.all().filter(({ group }) => group === '')
    const value = discoveryList({
      type,
      groups: path === '/apis' ? this.#groups : [{ name: '', versions: versionsOf(core) }],
      contentOf: (group, version) => this.#contentOf(group, version),
      hasNullTimes: !isAtLeast(this.#options.emulation.version, '1.34'),
    })
    return jsonDocument(value, apiGroupDiscoveryList)
  }

  #contentOf(group: string, version: string): VersionContent {
    const types = this.#types.get(group === '' ? version : `${group}/${version}`)
    if (types === undefined) return this.#options.aggregated.discovered(group, version)
    const isCustom = types.some(({ kind }) => kind.origin === 'custom')
    const resources = resourceEntries(types)
    // Entries of custom kinds always contain their group and version.
    return {
      resources: isCustom ? resources.map((entry) => ({ group, version, ...entry })) : resources,
      isCurrent: true,
    }
  }

  has(path: string): boolean {
    return this.#makers.has(path)
  }

  find(path: string): Document | undefined {
    const maker = this.#makers.get(path)
    if (maker === undefined) return undefined
    const document = this.#documents.get(path) ?? encode(maker)
    this.#documents.set(path, document)
    return document
  }
}

async function unknownDocument(exchange: Exchange, path: string, documents: Documents): Promise<void> {
  const group = path.split('/').slice(0, 3).join('/')
  // The group exists but the version does not, so respond with a NotFound Status.
  if (path.startsWith('/api/') || documents.has(group)) throw noSuchPath()
  sendPageNotFound(exchange)
}

async function sendDocument(
  exchange: Exchange,
  info: PathInfo,
  { json, etag, isRoute }: Document,
  vendor: Vendor,
): Promise<void> {
  if (info.verb !== 'get' && (isRoute || info.verb !== 'head')) throw notAllowed()
  const protobuf = () => protobufDiscovery(vendor)
  const { headers } = exchange
  exchange.form = negotiate(
    { headers, query: info.query, watch: false, vendor, protobuf, ofResource: isRoute },
    [],
  ).form
  exchange.setHeader('etag', etag)
  if (headers.all('if-none-match').includes(etag)) exchange.send(304, exchange.form.mediaType, Buffer.alloc(0))
  else await sendBytes(exchange, 200, json)
}

function encode({ make, isRoute }: Maker): Document {
  const value = make()
  const json = jsonDocument(value, discoveryTypes[value.kind as keyof typeof discoveryTypes])
  return { json, etag: etagOf(json), isRoute }
}

interface Maker {
  readonly make: () => JsonObject
  /**
   * Whether kube-apiserver registers the path as a route. A route rejects HEAD and adds empty details to a 406. Group
   * lists and the versions of custom kinds are not routes in kube-apiserver.
   */
  readonly isRoute: boolean
}

/**
 * Returns, for each path, a function that builds its document. Paths of aggregated group versions are not included,
 * because their own servers handle them.
 */
function documents(
  lists: ReadonlyMap<string, readonly Served[]>,
  groups: readonly Group[],
  address: () => string,
): Map<string, Maker> {
  const core = [...lists].flatMap(([apiVersion, served]) => (isCore(apiVersion) ? served : []))
  const makers = new Map<string, Maker>([
    ['/api', { make: () => coreVersions(core, address()), isRoute: true }],
    ['/apis', { make: () => groupList(groups), isRoute: false }],
  ])
  for (const group of groups)
    makers.set(`/apis/${group.name}`, {
      make: () => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) }),
      isRoute: false,
    })
  for (const [apiVersion, served] of lists)
    makers.set(`/api${isCore(apiVersion) ? '' : 's'}/${apiVersion}`, {
      make: () => resourceList(apiVersion, served),
      isRoute: !served.some(({ kind }) => kind.origin === 'custom'),
    })
  return makers
}

function groupList(groups: readonly Group[]): JsonObject {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupEntry) }
}

/** Whether a version belongs to the core group and therefore has no group prefix, such as `v1`. */
function isCore(apiVersion: string): boolean {
  return !apiVersion.includes('/')
}

function coreVersions(served: readonly Served[], serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: versionsOf(served),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

function groupEntry({ name, versions: names }: Group): JsonObject {
  const versions = names.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions, preferredVersion: versions[0]! }
}

function resourceList(apiVersion: string, served: readonly Served[]): JsonObject {
  return {
    kind: 'APIResourceList',
    ...(isCore(apiVersion) ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersion,
    resources: resourceEntries(served),
  }
}

/**
 * Returns the entries of an APIResourceList, sorted by name. For a custom resource, `status` comes before `scale`, as
 * in Kubernetes.
 */
function resourceEntries(served: readonly Served[]): JsonObject[] {
  const entries = served.flatMap((resource) => [mainEntry(resource), ...subresourceEntries(resource)])
  const isCustom = served.some(({ kind }) => kind.origin === 'custom')
  const orderOf = ({ name }: JsonObject) => (isCustom ? String(name).replace(/\/scale$/, '/~') : String(name))
  return entries.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

function mainEntry(served: Served): JsonObject {
  const { kind, verbs, endpoint, context } = served
  const hasSingular = isAtLeast(emulationOf(context).version, '1.27')
  return {
    ...entryOf(kind.plural, served),
    singularName: kind.singular ?? (hasSingular ? kind.kind.toLowerCase() : ''),
    kind: kind.kind,
    verbs: [...verbs],
    ...(kind.shortNames ? { shortNames: [...kind.shortNames] } : {}),
    ...(kind.categories ? { categories: [...kind.categories] } : {}),
    ...(endpoint === undefined ? { storageVersionHash: storageHash(served) } : {}),
  }
}

/**
 * Returns a hash that changes when objects are stored in another version. In the hash input, a core kind such as
 * `/v1/ConfigMap` has an empty group.
 */
function storageHash({ kind, vendor }: Served): string {
  const { group, version } = kind.conversion?.stored ?? kind
  const storedAs = kind.evolution?.storedAs ?? apiVersionOf(vendor, group, version)
  const hash = createHash('sha256')
    .update(`${storedAs.includes('/') ? '' : '/'}${storedAs}/${kind.kind}`)
    .digest()
  return hash.subarray(0, 8).toString('base64')
}

function subresourceEntries(served: Served): JsonObject[] {
  return [...served.subresources].map(([name, { verbs, type, endpoint }]) => ({
    ...entryOf(`${served.plural}/${name}`, served),
    ...(type === undefined ? { kind: endpoint?.connects?.kind ?? served.kind.kind } : typeEntry(type, served)),
    verbs: verbs.toSorted(),
  }))
}

/** Returns the `kind` of a subresource's entry, with its group and version if they differ from those of the list. */
function typeEntry({ group, version, kind }: Kind, served: Served): JsonObject {
  if (apiVersionOf(served.vendor, group, version) === served.apiVersion) return { kind }
  return { group: groupName(served.vendor, group), version, kind }
}

function entryOf(name: string, { kind }: Served): JsonObject {
  return { name, singularName: '', namespaced: kind.scope === 'Namespaced' }
}

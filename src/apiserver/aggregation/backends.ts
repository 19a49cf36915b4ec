/**
 * The group versions that aggregated servers serve. Each group version has an APIService that names a Service. This
 * server always serves built-in versions itself, even if an APIService claims them. An incorrect APIService can
 * therefore always be repaired.
 *
 * The list is derived from the cached APIServices. Each request looks up its group and version once.
 */
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../api/json/json.ts'
import { type APIService, apiService } from '../../api/kinds/apiregistration/api-service.ts'
import { nodeMetrics } from '../../api/kinds/metrics/node-metrics.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import type { Kind } from '../../api/schema/kind.ts'
import type { AggregatedVersions, Priorities, VersionContent } from '../http/paths/discovery-groups.ts'
import type { Destination } from '../outbound/connections.ts'
import { type Address, type ServiceReference, serviceAddress } from '../outbound/service-address.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { readObject } from '../registry/reads/read-stored.ts'
import { getCached } from '../upkeep/own-objects.ts'

export interface Backend {
  /** Name of the APIService, such as `v1beta1.metrics.k8s.io`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly service: ServiceReference
  readonly priorities: Priorities
  /** CA bundle in PEM. If undefined, the system's trusted CAs are used. */
  readonly authority: string | undefined
  readonly isUnverified: boolean
}

export interface BackendsParts {
  readonly catalogue: Catalogue
  readonly lookup: Lookup
  readonly vendor: Vendor
  /** Returns the client certificate that this server presents to backends. The certificate may be renewed. */
  readonly identity: () => CertifiedKey
}

/**
 * Whether an aggregated server may replace this server's own implementation of a kind. This applies to the metrics of
 * nodes and pods.
 */
function isReplaceable({ group }: Kind): boolean {
  return group === nodeMetrics.group
}

export class Backends implements AggregatedVersions {
  readonly #parts: BackendsParts
  readonly #byVersion = new Map<string, Backend>()
  readonly #builtIn: ReadonlySet<string>
  /** The last discovery document of each backend. */
  readonly #discovered = new WeakMap<Backend, VersionContent>()
  #generation = 0

  /** Creates the list from the cached APIServices. The caches must already be loaded. */
  constructor(parts: BackendsParts) {
    this.#parts = parts
    const own = parts.catalogue.all().filter(({ kind }) => kind.evolution === undefined && !isReplaceable(kind))
    this.#builtIn = new Set(own.map(({ group, kind }) => versionKey(group, kind.version)))
    const services = parts.catalogue.stored(apiService.group, apiService.plural)
    if (services === undefined) return
    const { cache } = services
    const read = (name: string) =>
      this.#take(name, getCached(services, { namespace: '', name }) as APIService | undefined)
    const readAll = () => {
      for (const { name } of [...this.#byVersion.values()]) read(name)
      for (const { key } of cache.all()) read(key.slice(cache.prefix.length))
    }
    cache.onChange((key) => (key === undefined ? readAll() : read(key.slice(cache.prefix.length))))
    readAll()
  }

  /** Increases with every change to the list. */
  get generation(): number {
    return this.#generation
  }

  /** Returns the backend of a group version, or undefined if this server serves it. */
  find(group: string, version: string): Backend | undefined {
    return this.#byVersion.size === 0 ? undefined : this.#byVersion.get(versionKey(group, version))
  }

  /** Finds a backend by the name of its APIService. */
  findByName(name: string): Backend | undefined {
    const dot = name.indexOf('.')
    return this.find(name.slice(dot + 1), name.slice(0, dot))
  }

  all(): Iterable<Backend> {
    return this.#byVersion.values()
  }

  /** Whether this server serves the group version itself. */
  isBuiltIn(group: string, version: string): boolean {
    return this.#builtIn.has(versionKey(group, version))
  }

  /** Discovery priorities by group and version, from the APIServices. */
  priorities(): Map<string, Priorities> {
    const { catalogue } = this.#parts
    const services = catalogue.stored(apiService.group, apiService.plural)
    const all = services === undefined ? [] : [...services.cache.all()]
    return new Map(
      all.flatMap(({ json }) => {
        const { spec = {} } = readObject(json) as APIService
        const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = spec
        return [[versionKey(group, version), { ofGroup: groupPriorityMinimum, ofVersion: versionPriority }]]
      }),
    )
  }

  /** Returns the resource types of a group version. The result is empty if the backend has never been reached. */
  discovered(group: string, version: string): VersionContent {
    const backend = this.find(group, version)
    return (backend && this.#discovered.get(backend)) ?? undiscovered
  }

  /** Records the entries of the backend's APIResourceList. `undefined` means that the backend is unreachable. */
  noteDiscovery(backend: Backend, resources: readonly JsonObject[] | undefined): void {
    const before = this.#discovered.get(backend) ?? undiscovered
    const next = { resources: resources ?? before.resources, isCurrent: resources !== undefined }
    if (isDeepStrictEqual(before, next)) return
    this.#discovered.set(backend, next)
    this.#generation++
  }

  /**
   * Returns the current address of the backend and its TLS settings. Throws NoServiceAddress if the Service has no
   * address.
   */
  destinationOf({ service, authority, isUnverified }: Backend): Destination {
    const { lookup, vendor, identity } = this.#parts
    const { namespace, name, port } = service
    const address: Address = serviceAddress({ vendor, lookup, ownAddress: () => undefined }, service)
    const serverName = `${name}.${namespace}.svc`
    const hostHeader = port === 443 ? serverName : `${serverName}:${port}`
    return { ...address, serverName, hostHeader, authority, isUnverified, credentials: identity() }
  }

  #take(name: string, object: APIService | undefined): void {
    const dot = name.indexOf('.')
    const version = name.slice(0, dot)
    const group = name.slice(dot + 1)
    const place = versionKey(group, version)
    const isRemote = object?.spec?.service !== undefined && !this.#builtIn.has(place)
    const currentBackend = this.#byVersion.get(place)
    const next = isRemote ? backendOf(object, { name, group, version }) : undefined
    // The address is unchanged, so the result of the last check remains valid. Usually, only the status of the
    // APIService was updated.
    if (isDeepStrictEqual(currentBackend, next)) return
    if (next === undefined) this.#byVersion.delete(place)
    else this.#byVersion.set(place, next)
    this.#generation++
  }
}

const undiscovered: VersionContent = { resources: [], isCurrent: false }

function versionKey(group: string, version: string): string {
  return `${group}/${version}`
}

function backendOf({ spec = {} }: APIService, names: Pick<Backend, 'name' | 'group' | 'version'>): Backend {
  const { service = {}, caBundle = '', insecureSkipTLSVerify = false } = spec
  const { namespace = '', name = '', port = 443 } = service
  return {
    ...names,
    service: { namespace, name, port },
    priorities: { ofGroup: spec.groupPriorityMinimum ?? 0, ofVersion: spec.versionPriority ?? 0 },
    authority: caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString('utf8'),
    isUnverified: insecureSkipTLSVerify,
  }
}

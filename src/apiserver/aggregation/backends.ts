/**
 * Which versions of groups other servers serve: those whose APIService names a Service. What this server has built in it
 * always serves itself, whatever an APIService says: nobody can be locked out of the object that would mend it.
 *
 * Follows the APIServices of this server's cache. A request asks here once, by group and version.
 */
import { isDeepStrictEqual } from 'node:util'
import { type APIService, apiService } from '../../api/kinds/apiregistration/api-service.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import type { Priorities, VersionsElsewhere } from '../http/paths/discovery-groups.ts'
import type { Destination } from '../outbound/connections.ts'
import { type Address, type ServiceReference, serviceAddress } from '../outbound/service-address.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { readObject } from '../registry/reads/read-stored.ts'
import { getCached } from '../upkeep/own-objects.ts'

export interface Backend {
  /** Of the APIService: `v1beta1.metrics.k8s.io`. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly service: ServiceReference
  readonly priorities: Priorities
  /** PEM; undefined: what the machine trusts. */
  readonly authority: string | undefined
  readonly isUnverified: boolean
}

export interface BackendsParts {
  readonly catalogue: Catalogue
  readonly lookup: Lookup
  readonly vendor: Vendor
  /** The client certificate that is shown to backends, as it is now. */
  readonly identity: () => CertifiedKey
}

export class Backends implements VersionsElsewhere {
  readonly #parts: BackendsParts
  readonly #byVersion = new Map<string, Backend>()
  readonly #builtIn: ReadonlySet<string>
  #generation = 0

  /** The caches have been loaded. */
  constructor(parts: BackendsParts) {
    this.#parts = parts
    const own = parts.catalogue.all().filter(({ kind }) => kind.evolution === undefined)
    this.#builtIn = new Set(own.map(({ group, kind }) => placeOf(group, kind.version)))
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

  /** Moves on with every change. */
  get generation(): number {
    return this.#generation
  }

  /** Who serves this version of a group, where that is not this server. */
  find(group: string, version: string): Backend | undefined {
    return this.#byVersion.size === 0 ? undefined : this.#byVersion.get(placeOf(group, version))
  }

  /** By the name of its APIService. */
  named(name: string): Backend | undefined {
    const dot = name.indexOf('.')
    return this.find(name.slice(dot + 1), name.slice(0, dot))
  }

  all(): Iterable<Backend> {
    return this.#byVersion.values()
  }

  /** Whether this server serves the version itself, from its own program. */
  isBuiltIn(group: string, version: string): boolean {
    return this.#builtIn.has(placeOf(group, version))
  }

  /** The place of every version in the order of discovery, by group and version, as the APIServices say. */
  priorities(): Map<string, Priorities> {
    const { catalogue } = this.#parts
    const services = catalogue.stored(apiService.group, apiService.plural)
    const all = services === undefined ? [] : [...services.cache.all()]
    return new Map(
      all.flatMap(({ json }) => {
        const { spec = {} } = readObject(json) as APIService
        const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = spec
        return [[placeOf(group, version), { ofGroup: groupPriorityMinimum, ofVersion: versionPriority }]]
      }),
    )
  }

  /** Where to connect to now, and as whom. Throws NoServiceAddress where there is nobody. */
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
    const [version, group] = [name.slice(0, dot), name.slice(dot + 1)]
    const place = placeOf(group, version)
    const isRemote = object?.spec?.service !== undefined && !this.#builtIn.has(place)
    const known = this.#byVersion.get(place)
    const next = isRemote ? backendOf(object, { name, group, version }) : undefined
    // What changed may be its status alone; what was found out of it still holds then.
    if (isDeepStrictEqual(known, next)) return
    if (next === undefined) this.#byVersion.delete(place)
    else this.#byVersion.set(place, next)
    this.#generation++
  }
}

function placeOf(group: string, version: string): string {
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

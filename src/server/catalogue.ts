/** What this server serves: the kinds, the endpoints, and which of them the flags leave out. */
import type { Authenticator } from '../authn/authenticator.ts'
import type { Access } from '../authz/access.ts'
import type { Clock } from '../base/clock.ts'
import type { Caches } from '../cache/caches.ts'
import { withSchemaRules } from '../custom/definition.ts'
import { customResourceDefinition } from '../kinds/apiextensions/custom-resource-definition.ts'
import type { Lookup, StoredType } from '../model/lookup.ts'
import { apiAudience, vendorOf } from '../model/vendor.ts'
import { Catalogue } from '../registry/catalogue.ts'
import { ContinueTokens } from '../registry/continue-token.ts'
import { HistoryReaders } from '../registry/history-readers.ts'
import { lookupIn, stored } from '../registry/lookup.ts'
import { type RegistryParts, serveKinds } from '../registry/resource.ts'
import { allEndpoints } from '../resources/all.ts'
import type { Component } from '../resources/component-statuses.ts'
import type { Kind } from '../schema/kind.ts'
import type { Store } from '../store/store.ts'
import { continueTokenKey } from './bootstrap.ts'
import type { ServerOptions } from './options.ts'
import { servedBy } from './runtime-config.ts'
import { servicePools } from './service-pools.ts'

export interface CatalogueParts {
  readonly store: Store
  readonly caches: Caches
  readonly clock: Clock
  readonly kinds: readonly Kind[]
  readonly authenticator: Authenticator
  /** The parts that the server relies on. */
  readonly components: readonly Component[]
  /** Who may do what; known once the catalogue is. */
  readonly access: () => Access
}

export interface OpenCatalogue {
  readonly catalogue: Catalogue
  /** How other parts look at its objects. */
  readonly lookup: Lookup
  /** What further types are served with. */
  readonly registry: RegistryParts
}

export async function openCatalogue(options: ServerOptions, parts: CatalogueParts): Promise<OpenCatalogue> {
  const { store, caches, clock, kinds, authenticator, components, access } = parts
  const vendor = vendorOf(options.profile)
  const catalogue = new Catalogue(vendor, servedBy(options.runtimeConfig, kinds, vendor))
  const lookup = lookupIn(catalogue)
  const audiences = [apiAudience(vendor)]
  const findStored = (type: StoredType) => stored(catalogue, type)
  const endpoints = allEndpoints({
    ...{ vendor, lookup, audiences, components, access },
    stored: findStored,
    authenticateToken: authenticator,
  })
  const registry: RegistryParts = {
    vendor,
    store,
    caches,
    clock,
    continueTokens: new ContinueTokens(await continueTokenKey(store)),
    historyReaders: new HistoryReaders(),
    gates: options.featureGates,
    lifetimeSeconds: Math.ceil(options.eventTtl / 1000),
    pools: servicePools(options),
  }
  const judged = kinds.map((kind) => (kind === customResourceDefinition ? withSchemaRules(kind) : kind))
  catalogue.add(serveKinds(judged, registry, endpoints))
  return { catalogue, lookup, registry }
}

/** What this server serves: the kinds, the endpoints, and which of them the flags leave out. */

import type { Admission } from '../admission/admission.ts'
import type { ControlState } from '../admission/controls/all.ts'
import type { Webhook } from '../admission/webhook/webhook.ts'
import type { Authenticator } from '../authn/authenticator.ts'
import type { Access } from '../authz/access.ts'
import type { Clock } from '../base/clock.ts'
import type { Caches } from '../cache/caches.ts'
import { withSchemaRules } from '../custom/definition.ts'
import { customResourceDefinition } from '../kinds/apiextensions/custom-resource-definition.ts'
import type { Lookup, StoredType } from '../model/lookup.ts'
import { vendorOf } from '../model/vendor.ts'
import { Catalogue } from '../registry/catalogue.ts'
import { ContinueTokens } from '../registry/continue-token.ts'
import { HistoryReaders, readerLimits } from '../registry/history-readers.ts'
import { lookupIn, stored } from '../registry/lookup.ts'
import { type RegistryParts, serveKinds } from '../registry/resource.ts'
import { allEndpoints } from '../resources/all.ts'
import type { Component } from '../resources/component-statuses.ts'
import type { WaysToNodes } from '../resources/ways-to-nodes.ts'
import type { Kind } from '../schema/kind.ts'
import type { Store } from '../store/store.ts'
import type { ServerOptions } from './flags/options.ts'
import { servedBy } from './runtime-config.ts'
import type { AccountTokens } from './service-account-tokens.ts'
import { servicePools } from './service-pools.ts'
import { continueTokenKey } from './shared-keys.ts'

export interface CatalogueParts {
  readonly store: Store
  readonly caches: Caches
  readonly clock: Clock
  readonly kinds: readonly Kind[]
  readonly accountTokens: AccountTokens
  /** The ways to nodes, which are looked up so. */
  readonly waysFor: (lookup: Lookup) => WaysToNodes
  /** Judges tokens; known once the catalogue is. */
  readonly authenticateToken: () => Authenticator
  /** The parts that the server relies on. */
  readonly components: readonly Component[]
  /** Who may do what; known once the catalogue is. */
  readonly access: () => Access
  /** Who keeps account of what the server deletes of its own accord; known once the catalogue is. */
  readonly accounting: () => Admission
  /** The admission controls in their order; known once the catalogue is. */
  readonly controls: () => readonly ControlState[]
  /** The admission webhooks that this server calls; known once the catalogue is. */
  readonly webhooks: () => readonly Webhook[]
  /** The requests that this server has recorded lately. */
  readonly recentEvents: () => readonly string[]
}

export interface OpenCatalogue {
  readonly catalogue: Catalogue
  /** How other parts look at its objects. */
  readonly lookup: Lookup
  readonly ways: WaysToNodes
  /** What further types are served with. */
  readonly registry: RegistryParts
}

export async function openCatalogue(options: ServerOptions, parts: CatalogueParts): Promise<OpenCatalogue> {
  const { store, caches, clock, kinds, accountTokens, authenticateToken, components, access, accounting } = parts
  const vendor = vendorOf(options.profile)
  const catalogue = new Catalogue(vendor, servedBy(options.runtimeConfig, kinds, vendor))
  const lookup = lookupIn(catalogue, { store, caches })
  const { audiences, policy: tokens } = accountTokens
  const findStored = (type: StoredType) => stored(catalogue, type)
  const ways = parts.waysFor(lookup)
  const endpoints = allEndpoints({
    ...{ vendor, lookup, ways, clock, audiences, tokens, authenticateToken, components, access },
    controls: parts.controls,
    webhooks: parts.webhooks,
    recentEvents: parts.recentEvents,
    served: () => catalogue.all(),
    showsSecrets: options.historySecretValues,
    stored: findStored,
  })
  const registry: RegistryParts = {
    vendor,
    store,
    caches,
    clock,
    continueTokens: new ContinueTokens(await continueTokenKey(store)),
    historyReaders: new HistoryReaders(readerLimits(options.workers)),
    gates: options.featureGates,
    lifetimeSeconds: Math.ceil(options.eventTtl / 1000),
    pools: servicePools(options),
    accounting,
  }
  const judged = kinds.map((kind) => (kind === customResourceDefinition ? withSchemaRules(kind) : kind))
  catalogue.add(serveKinds(judged, registry, endpoints))
  return { catalogue, lookup, ways, registry }
}

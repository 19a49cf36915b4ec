/**
 * Builds the catalogue of the kinds and endpoints that this server serves. Kinds and endpoints that flags disable are
 * omitted.
 */

import { loadPatternEngine } from '../../api/cel/pattern-engine.ts'
import { customResourceDefinition } from '../../api/kinds/apiextensions/custom-resource-definition.ts'
import { namespace as namespaces } from '../../api/kinds/core/namespace.ts'
import type { Lookup, StoredType } from '../../api/model/lookup.ts'
import { vendorOf } from '../../api/model/vendor.ts'
import type { Kind } from '../../api/schema/kind.ts'
import type { Emulation } from '../../api/versions/availability.ts'
import type { Admission } from '../../apiserver/admission/admission.ts'
import type { ControlState } from '../../apiserver/admission/controls/all.ts'
import { withSelectorRules } from '../../apiserver/admission/policy/device-selectors.ts'
import { withExpressionRules } from '../../apiserver/admission/policy/policy-faults.ts'
import type { Webhook } from '../../apiserver/admission/webhook/webhook.ts'
import type { Authenticator } from '../../apiserver/authn/authenticator.ts'
import type { Access } from '../../apiserver/authz/access.ts'
import { withSchemaRules } from '../../apiserver/custom/definitions/definition.ts'
import type { HttpsCaller } from '../../apiserver/outbound/https-caller.ts'
import { Catalogue } from '../../apiserver/registry/catalogue/catalogue.ts'
import { type RegistryParts, serveKinds } from '../../apiserver/registry/catalogue/resource.ts'
import { isSameKind } from '../../apiserver/registry/catalogue/served.ts'
import { ContinueTokens } from '../../apiserver/registry/reads/continue-token.ts'
import { HistoryReaders, readerLimits } from '../../apiserver/registry/reads/history-readers.ts'
import { lookupIn, stored } from '../../apiserver/registry/reads/lookup.ts'
import { AddressRecords } from '../../apiserver/registry/reservations/address-records.ts'
import { ReadyRanges } from '../../apiserver/registry/reservations/ready-ranges.ts'
import { allEndpoints } from '../../apiserver/resources/all.ts'
import type { Component } from '../../apiserver/resources/component-statuses.ts'
import type { NodeConnector } from '../../apiserver/resources/node-connector.ts'
import type { PolicyReports } from '../../apiserver/resources/policy-reports.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Caches } from '../../storage/cache/caches.ts'
import type { Store } from '../../storage/store/store.ts'
import { continueTokenKey } from '../certificates/shared-keys.ts'
import { emulationFrom } from '../flags/emulation.ts'
import type { EmulatedOptions } from '../flags/options.ts'
import { servedBy } from '../flags/runtime-config.ts'
import { poolsOfServiceCidrs, servicePools } from '../flags/service-pools.ts'
import type { AccountTokens } from '../identity/service-account-tokens.ts'
import { countWorkers, type WorkerContext } from '../threads/worker-context.ts'

export interface CatalogueParts {
  readonly store: Store
  readonly caches: Caches
  readonly clock: Clock
  readonly kinds: readonly Kind[]
  readonly accountTokens: AccountTokens
  /** Creates the connections to node agents. `lookup` is used to find Node objects and pods. */
  readonly waysFor: (lookup: Lookup) => NodeConnector
  /** Returns the authenticator for TokenReviews. Must not be called before the catalogue is complete. */
  readonly authenticateToken: () => Authenticator
  /** The components that ComponentStatus objects report. */
  readonly components: readonly Component[]
  /** Returns the authorizer for access reviews. Must not be called before the catalogue is complete. */
  readonly access: () => Access
  /**
   * Returns the admission chain for deletions by the server itself. Must not be called before the catalogue is
   * complete.
   */
  readonly accounting: () => Admission
  /** Returns the admission plugins in execution order. Must not be called before the catalogue is complete. */
  readonly controls: () => readonly ControlState[]
  /** Returns the registered admission webhooks. Must not be called before the catalogue is complete. */
  readonly webhooks: () => readonly Webhook[]
  /**
   * Returns the policy reports, which count objects that violate policies. Must not be called before the catalogue is
   * complete.
   */
  readonly policyReports: () => PolicyReports
  /** Returns the latest audit events that this server has recorded. */
  readonly recentEvents: () => readonly string[]
  readonly worker: WorkerContext | undefined
  /** Sends HTTPS requests to node agents. */
  readonly caller: HttpsCaller
}

export interface OpenCatalogue {
  readonly catalogue: Catalogue
  /** Read access to all stored objects. */
  readonly lookup: Lookup
  readonly ways: NodeConnector
  /** The parts of the server that are required for serving additional types, such as custom resources. */
  readonly registry: RegistryParts
}

/**
 * Returns the pools from which Services get addresses. With ServiceCIDRs, also returns the IPAddress objects that
 * record the addresses.
 */
function addressesOf(
  options: EmulatedOptions,
  catalogue: Catalogue,
  { gates }: Emulation,
): Pick<RegistryParts, 'pools' | 'addressRecords'> {
  if (!gates.has('MultiCIDRServiceAllocator')) return { pools: servicePools(options, gates) }
  const ranges = new ReadyRanges(() => catalogue.stored('networking', 'servicecidrs'))
  const addressRecords = new AddressRecords(() => catalogue.stored('networking', 'ipaddresses'))
  return { pools: poolsOfServiceCidrs(options, ranges, gates), addressRecords }
}

export async function openCatalogue(options: EmulatedOptions, parts: CatalogueParts): Promise<OpenCatalogue> {
  const { store, caches, clock, kinds, accountTokens, authenticateToken, components, access, accounting } = parts
  const vendor = vendorOf(options.profile)
  const emulation = emulationFrom(options)
  const catalogue = new Catalogue(
    vendor,
    servedBy(options.runtimeConfig, { kinds, vendor, version: emulation.version }),
  )
  const lookup = lookupIn(catalogue, { store, caches })
  const { audiences, policy: tokens } = accountTokens
  const findStored = (type: StoredType) => stored(catalogue, type)
  const ways = parts.waysFor(lookup)
  const endpoints = allEndpoints({
    vendor,
    emulation,
    lookup,
    ways,
    caller: parts.caller,
    clock,
    audiences,
    tokens,
    authenticateToken,
    components,
    access,
    controls: parts.controls,
    webhooks: parts.webhooks,
    policyReports: parts.policyReports,
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
    historyReaders: new HistoryReaders(readerLimits(countWorkers(parts.worker))),
    ...emulation,
    lifetimeSeconds: Math.ceil(options.eventTtl / 1000),
    ...addressesOf(options, catalogue, emulation),
    namespaceLabels: (name) => lookup.getCached(namespaces, { namespace: '', name })?.object.metadata.labels,
    accounting,
  }
  const judged = kinds.map((kind) => {
    if (isSameKind(kind, customResourceDefinition)) return withSchemaRules(kind)
    return withSelectorRules(withExpressionRules(kind, loadPatternEngine), loadPatternEngine)
  })
  catalogue.add(serveKinds(judged, registry, endpoints))
  return { catalogue, lookup, ways, registry }
}

/**
 * Serves custom resources. Does nothing if the kinds of the server do not include CustomResourceDefinition, as in some
 * tests.
 */

import { customResourceDefinition } from '../../api/kinds/apiextensions/custom-resource-definition.ts'
import type { ConversionMetrics } from '../../apiserver/custom/conversion/conversion-metrics.ts'
import { CustomResources } from '../../apiserver/custom/definitions/custom-resources.ts'
import type { ConfiguredCredentials } from '../../apiserver/outbound/credentials.ts'
import { HttpsCaller } from '../../apiserver/outbound/https-caller.ts'
import type { ServiceAddressParts } from '../../apiserver/outbound/service-address.ts'
import { Destinations } from '../../apiserver/outbound/webhook-address.ts'
import type { Catalogue } from '../../apiserver/registry/catalogue/catalogue.ts'
import type { RegistryParts } from '../../apiserver/registry/catalogue/resource.ts'
import type { LoopRecords } from '../../client/reconcile/loop.ts'

interface CustomResourceDependencies extends Pick<ServiceAddressParts, 'lookup' | 'ownAddress'> {
  readonly records: LoopRecords
  readonly metrics: ConversionMetrics
  /** Resources to close when the server stops. */
  readonly opened: AsyncDisposableStack
}

const anonymous: ConfiguredCredentials = { byName: new Map() }

/** Resolves when all custom resources in use are served. The caches must be loaded. */
export async function startCustomResources(
  catalogue: Catalogue,
  registry: RegistryParts,
  { records, metrics, opened, ...addresses }: CustomResourceDependencies,
): Promise<CustomResources | undefined> {
  const { group, plural } = customResourceDefinition
  const resource = catalogue.stored(group, plural)
  if (resource === undefined) return undefined
  const { vendor, clock } = registry
  const caller = new HttpsCaller('orch-conversion')
  opened.defer(() => caller.close())
  const destinations = new Destinations({ vendor, ...addresses }, anonymous)
  const conversion = { vendor, clock, caller, destinations, metrics, log: records.log }
  const custom = new CustomResources({ resource, catalogue, registry, records, conversion })
  opened.defer(() => custom.stop())
  await custom.start()
  return custom
}

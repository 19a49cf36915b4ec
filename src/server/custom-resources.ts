/** Custom resources as part of this server; none where it is made of kinds without definitions, as some tests do. */
import type { ConversionMetrics } from '../custom/conversion-metrics.ts'
import { CustomResources } from '../custom/custom-resources.ts'
import { customResourceDefinition } from '../kinds/apiextensions/custom-resource-definition.ts'
import type { ConfiguredCredentials } from '../outbound/credentials.ts'
import { HttpsCaller } from '../outbound/https-caller.ts'
import type { ServiceAddressParts } from '../outbound/service-address.ts'
import { Destinations } from '../outbound/webhook-address.ts'
import type { LoopRecords } from '../reconcile/loop.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import type { RegistryParts } from '../registry/resource.ts'

interface Surroundings extends Pick<ServiceAddressParts, 'lookup' | 'ownAddress'> {
  readonly records: LoopRecords
  readonly metrics: ConversionMetrics
  /** Closes what is opened. */
  readonly opened: AsyncDisposableStack
}

const anonymous: ConfiguredCredentials = { byName: new Map() }

/** Resolves when everything is served that is in use. The caches have been loaded. */
export async function startCustomResources(
  catalogue: Catalogue,
  registry: RegistryParts,
  { records, metrics, opened, ...addresses }: Surroundings,
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

/** Custom resources as part of this server; none where it is made of kinds without definitions, as some tests do. */
import { CustomResources } from '../custom/custom-resources.ts'
import { customResourceDefinition } from '../kinds/apiextensions/custom-resource-definition.ts'
import type { LoopRecords } from '../reconcile/loop.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import type { RegistryParts } from '../registry/resource.ts'

interface Surroundings {
  readonly records: LoopRecords
  /** Closes what is opened. */
  readonly opened: AsyncDisposableStack
}

/** Resolves when everything is served that is in use. The caches have been loaded. */
export async function startCustomResources(
  catalogue: Catalogue,
  registry: RegistryParts,
  { records, opened }: Surroundings,
): Promise<CustomResources | undefined> {
  const { group, plural } = customResourceDefinition
  const resource = catalogue.stored(group, plural)
  if (resource === undefined) return undefined
  const custom = new CustomResources({ resource, catalogue, registry, records })
  opened.defer(() => custom.stop())
  await custom.start()
  return custom
}

/** Custom resources as part of this server; none where it is made of kinds without definitions, as some tests do. */
import type { WorkQueueMetrics } from '../controllers/work-queue-metrics.ts'
import { CustomResources } from '../custom/custom-resources.ts'
import { customResourceDefinition } from '../kinds/apiextensions/custom-resource-definition.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import type { RegistryParts } from '../registry/resource.ts'
import type { Log } from '../telemetry/log.ts'

interface Surroundings {
  readonly metrics: WorkQueueMetrics
  readonly log: Log
  /** Closes what is opened. */
  readonly opened: AsyncDisposableStack
}

/** Resolves when everything is served that is in use. The caches have been loaded. */
export async function startCustomResources(
  catalogue: Catalogue,
  registry: RegistryParts,
  { metrics, log, opened }: Surroundings,
): Promise<CustomResources | undefined> {
  const { group, plural } = customResourceDefinition
  const resource = catalogue.stored(group, plural)
  if (resource === undefined) return undefined
  const custom = new CustomResources({ resource, catalogue, registry, metrics, log })
  opened.defer(() => custom.stop())
  await custom.start()
  return custom
}

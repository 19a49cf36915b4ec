/** Resource types for tests, and a function that waits for events about an object. */

import type { ApiObject } from '../../src/api/model/object.ts'
import type { Client } from '../../src/client/requests/client.ts'
import type { ObjectName, ResourceType } from '../../src/client/requests/resource-type.ts'
import { type WatchEvent, watch } from '../../src/client/requests/watch.ts'

export interface ConfigMap extends ApiObject {
  data?: { [key: string]: string }
}

const core = { group: '', version: 'v1' }
export const configMaps: ResourceType<ConfigMap> = { ...core, plural: 'configmaps', namespaced: true }
export const secrets: ResourceType = { ...core, plural: 'secrets', namespaced: true }

export function configMap(name: string, data: { [key: string]: string } = {}, namespace = 'default'): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data }
}

const patienceMs = 60_000

/**
 * Returns the first matching event about an object, starting with its current state or after a given version. Throws if
 * no event matches.
 */
export async function eventOf<T extends ApiObject>(
  client: Client,
  type: ResourceType<T>,
  { name, fits, ...start }: { name: ObjectName; resourceVersion?: string; fits: (event: WatchEvent<T>) => boolean },
): Promise<WatchEvent<T>> {
  const { namespace } = name
  const signal = AbortSignal.timeout(patienceMs)
  const fieldSelector = `metadata.name=${name.name}`
  const events = watch(client, type, {
    ...start,
    fieldSelector,
    signal,
    ...(namespace === undefined ? {} : { namespace }),
  })
  for await (const event of events) if (fits(event)) return event
  throw new Error(`the watch of ${type.plural} "${name.name}" ended before what was waited for`)
}

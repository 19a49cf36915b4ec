/** Helpers for tests of `orch/testing`. */

import type { ApiObject } from '../../src/api/model/object.ts'
import type { ResourceType } from '../../src/client/requests/resource-type.ts'

export interface ConfigMap extends ApiObject {
  data?: { [key: string]: string }
}

export const configMaps: ResourceType<ConfigMap> = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
export const namespaces: ResourceType = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }
export const roleBindings: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  namespaced: true,
}
export const secrets: ResourceType = { group: '', version: 'v1', plural: 'secrets', namespaced: true }

export function configMap(name: string, data: { [key: string]: string } = {}, namespace = 'default'): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data }
}

export function namespace(name: string): ApiObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

/** Returns the names of ConfigMaps in `default` that a test created. */
export function namesIn(items: readonly ApiObject[]): string[] {
  return items.map(({ metadata }) => metadata.name ?? '').filter((name) => name !== 'kube-root-ca.crt')
}

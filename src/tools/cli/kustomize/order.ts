/** Sorts objects for output: dependencies come first and webhooks last. All other objects are sorted by name. */
import type { Resource } from './resource.ts'

const first = [
  ...['Namespace', 'ResourceQuota', 'StorageClass', 'CustomResourceDefinition', 'ServiceAccount', 'PodSecurityPolicy'],
  ...['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding', 'ConfigMap', 'Secret', 'Endpoints', 'Service'],
  ...['LimitRange', 'PriorityClass', 'PersistentVolume', 'PersistentVolumeClaim', 'Deployment', 'StatefulSet'],
  ...['CronJob', 'PodDisruptionBudget'],
]
const last = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']

export function sortResources(resources: readonly Resource[]): Resource[] {
  return resources.toSorted((a, b) => rank(a) - rank(b) || compare(keyOf(a), keyOf(b)))
}

function rank({ kind }: Resource): number {
  const before = first.indexOf(kind)
  if (before >= 0) return before - first.length
  return last.indexOf(kind) + 1
}

function keyOf({ group, version, kind, identity: { namespace, name } }: Resource): readonly string[] {
  return [group, version, kind, namespace, name]
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [i, part] of a.entries()) if (part !== b[i]) return part < b[i]! ? -1 : 1
  return 0
}

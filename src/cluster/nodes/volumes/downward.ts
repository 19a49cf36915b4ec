/** The downward API: fields of a pod, and requests and limits of its containers. */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { ObjectFieldSelector, ResourceFieldSelector } from '../../../api/kinds/core/types/downward.ts'
import { parseQuantity } from '../../../api/model/quantity.ts'

/** Returns the value of a pod field, or undefined if the path is not supported. */
export function fieldValue(
  { metadata, spec, status }: Pod,
  { fieldPath = '' }: ObjectFieldSelector,
): string | undefined {
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(fieldPath)
  if (subscript !== null) return valueIn(metadata[subscript[1] as 'labels' | 'annotations'], subscript[2]!)
  switch (fieldPath) {
    case 'metadata.name':
    case 'metadata.namespace':
    case 'metadata.uid':
      return metadata[fieldPath.slice('metadata.'.length) as 'name'] ?? ''
    case 'metadata.labels':
      return pairs(metadata.labels)
    case 'metadata.annotations':
      return pairs(metadata.annotations)
    case 'spec.nodeName':
      return spec?.nodeName ?? ''
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? ''
    case 'status.hostIP':
      return status?.hostIP ?? ''
    case 'status.podIP':
      return status?.podIP ?? ''
    case 'status.podIPs':
      return (status?.podIPs ?? []).map(({ ip }) => ip).join(',')
    default:
      return undefined
  }
}

function valueIn(values: { readonly [key: string]: string } | undefined, key: string): string {
  return values !== undefined && Object.hasOwn(values, key) ? values[key]! : ''
}

/** Formats labels or annotations: one line per entry, sorted by key, with quotes as in Go. */
function pairs(values: { readonly [key: string]: string } = {}): string {
  return Object.keys(values)
    .sort()
    .map((key) => `${key}=${JSON.stringify(values[key])}`)
    .join('\n')
}

/** Allocatable resources of a node, used as the limits of containers that have no limits of their own. */
export type NodeAmounts = { readonly [resource: string]: string }

/**
 * Returns a request or limit in units of the divisor, rounded up. Returns undefined if the resource cannot be selected.
 */
export function resourceValue(
  pod: Pod,
  { containerName = '', resource = '', divisor = '1' }: ResourceFieldSelector,
  amounts: NodeAmounts,
): string | undefined {
  const all = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]
  const container = all.find(({ name }) => name === containerName)
  const [list = '', name = ''] = resource.split(/\.(.*)/s)
  if (container === undefined || (list !== 'limits' && list !== 'requests')) return undefined
  const statedValue = valueIn(container.resources?.[list], name)
  const amount = parseQuantity(statedValue || (list === 'limits' ? (amounts[name] ?? '0') : '0'))
  const unit = parseQuantity(divisor === '0' ? '1' : divisor)
  if (amount === undefined || unit === undefined || unit.nanos <= 0n) return undefined
  return String((amount.nanos + unit.nanos - 1n) / unit.nanos)
}

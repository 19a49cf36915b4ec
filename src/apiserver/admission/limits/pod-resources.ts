/** The total resources of a pod, as LimitRanges see them. */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { isSidecar } from '../../../api/kinds/core/types/container.ts'
import { isPodResource } from '../../../api/kinds/core/types/pod-resources.ts'
import type { ResourceList } from '../../../api/kinds/core/types/resource-list.ts'
import { formatQuantity, type Quantity } from '../../../api/model/quantity.ts'
import { type Amounts, add, addTo, raiseTo, readAmounts } from '../../../api/model/quota/amounts.ts'
import type { PodResources } from './constraints.ts'

type PodSpec = NonNullable<Pod['spec']>

/**
 * Returns the sum over the containers, or the maximum of the init containers, which run alone, if that is higher. A
 * resource that a container does not specify is unknown for the pod.
 */
export function askedByPod(spec: PodSpec): PodResources {
  return { requests: effective(spec, 'requests'), limits: effective(spec, 'limits') }
}

function effective({ containers = [], initContainers = [], resources: ofPod }: PodSpec, list: 'requests' | 'limits') {
  const sidecars = initContainers.filter(isSidecar)
  const amounts = sumOf([...containers, ...sidecars].map(({ resources }) => resources?.[list] ?? {}))
  const started = new Map<string, Quantity>()
  for (const one of initContainers) {
    const asked = readAmounts(one.resources?.[list])
    raiseTo(amounts, add(started, asked))
    if (isSidecar(one)) addTo(started, asked)
  }
  for (const [name, amount] of readAmounts(ofPod?.[list])) if (isPodResource(name)) amounts.set(name, amount)
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]))
}

function sumOf(lists: readonly ResourceList[]): Map<string, Quantity> {
  const sum = new Map<string, Quantity>()
  for (const list of lists) addTo(sum, readAmounts(list))
  return new Map([...statedByAll(sum, lists)])
}

function* statedByAll(sum: Amounts, lists: readonly ResourceList[]): Iterable<[string, Quantity]> {
  const stated = new Map<string, number>()
  for (const list of lists) for (const name of Object.keys(list)) stated.set(name, (stated.get(name) ?? 0) + 1)
  for (const [name, amount] of sum) if (stated.get(name) === lists.length) yield [name, amount]
}

/** Computes the total resources of a pod for LimitRange checks. */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { ResourceList } from '../../../api/kinds/core/types/resource-list.ts'
import type { Quantity } from '../../../api/model/quantity.ts'
import { type Amounts, addTo, raiseTo, readAmounts, writeAmounts } from '../../../api/model/quota/amounts.ts'
import { podAmounts } from '../../../api/model/quota/counted-pod.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
import type { PodResources } from './constraints.ts'

type PodSpec = NonNullable<Pod['spec']>

/** Returns the total requests and limits of a pod, adding up only the containers that run at the same time. */
export function askedByPod(spec: PodSpec, { version }: Emulation): PodResources {
  const amounts = isAtLeast(version, '1.28')
    ? (list: 'requests' | 'limits') => podAmounts({ spec }, list)
    : (list: 'requests' | 'limits') => earlierAmounts(spec, list)
  return { requests: writeAmounts(amounts('requests')), limits: writeAmounts(amounts('limits')) }
}

/**
 * Returns the total of a pod as Kubernetes computed it before 1.28. If one container does not specify a resource, the
 * total is unknown.
 */
function earlierAmounts({ containers = [], initContainers = [] }: PodSpec, list: 'requests' | 'limits'): Amounts {
  const amounts = sumOf(containers.map(({ resources }) => resources?.[list] ?? {}))
  for (const { resources } of initContainers) raiseTo(amounts, readAmounts(resources?.[list]))
  return amounts
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

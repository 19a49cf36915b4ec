/** The QoS class of a pod, by the resources it requests: pods that request least are evicted first. */
import { compareQuantities, quantitySign } from '../../../model/quantity.ts'
import type { Container } from './container.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ResourceList } from './resource-list.ts'
import { quantityIn } from './resources.ts'

const compute = ['cpu', 'memory']

/** The QoS class of a pod, by what its containers request. */
export function qosClassOf({
  containers = [],
  initContainers = [],
}: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all = [...containers, ...initContainers]
  if (!all.some(({ resources = {} }) => asks(resources.requests) || asks(resources.limits))) return 'BestEffort'
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable'
}

function asks(list: ResourceList | undefined): boolean {
  return compute.some((name) => isPositive(list, name))
}

/** A request is never above its limit, so where all are equal to it their sums are, too. */
function isGuaranteed({ resources: { limits, requests } = {} }: Container): boolean {
  return compute.every((name) => {
    const limit = quantityIn(limits, name)
    const request = quantityIn(requests, name)
    return isPositive(limits, name) && limit && request && compareQuantities(limit, request) === 0
  })
}

function isPositive(list: ResourceList | undefined, name: string): boolean {
  const quantity = quantityIn(list, name)
  return quantity !== undefined && quantitySign(quantity) > 0
}

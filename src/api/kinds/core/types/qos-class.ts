/** The quality-of-service class of a pod. BestEffort pods are evicted first, Guaranteed pods last. */
import { compareQuantities, quantitySign } from '../../../model/quantity.ts'
import type { Container } from './container.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ResourceList } from './resource-list.ts'
import { quantityIn } from './resources.ts'

const compute = ['cpu', 'memory']

/** Returns the QoS class, based on the requests and limits of all containers. */
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

/** Requests never exceed limits, so if they are equal in every container, the sums are equal too. */
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

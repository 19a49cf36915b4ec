/** The quality-of-service class of a pod. BestEffort pods are evicted first, and Guaranteed pods last. */
import { compareQuantities, quantitySign } from '../../../model/quantity.ts'
import { isPodResource } from './pod-resources.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ResourceList } from './resource-list.ts'
import { quantityIn, type ResourceRequirements } from './resources.ts'

interface Resources {
  readonly resources?: ResourceRequirements | undefined
}

const compute = ['cpu', 'memory']

/**
 * Returns the QoS class, based on the requests and limits of the pod. If the pod itself has neither requests nor
 * limits, uses those of its containers.
 */
export function qosClassOf({
  containers = [],
  initContainers = [],
  resources,
}: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const all: readonly Resources[] = hasPodResources({ resources })
    ? [{ resources }]
    : [...containers, ...initContainers]
  if (!all.some(({ resources = {} }) => asks(resources.requests) || asks(resources.limits))) return 'BestEffort'
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable'
}

/** Whether the pod itself has requests or limits, which then replace the requests and limits of its containers. */
export function hasPodResources({ resources: { requests = {}, limits = {} } = {} }: Resources): boolean {
  return [...Object.keys(requests), ...Object.keys(limits)].some(isPodResource)
}

function asks(list: ResourceList | undefined): boolean {
  return compute.some((name) => isPositive(list, name))
}

/**
 * Whether the limits for CPU and memory are set and equal to the requests. If this holds for every container, it also
 * holds for the sums over all containers.
 */
function isGuaranteed({ resources: { limits, requests } = {} }: Resources): boolean {
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

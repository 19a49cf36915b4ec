/**
 * A Pod prepared for the scheduler, with its requests, host ports and priority. These values are computed once per
 * version of the Pod.
 */

import type { Pod } from '../../api/kinds/core/pod.ts'
import { objectKey } from '../../client/requests/resource-type.ts'
import { claimNames } from '../volumes/pod-claims.ts'
import { type Amounts, requestsOf, scoredRequestsOf } from './resources.ts'

const anyAddress = '0.0.0.0'

/** A host port that a Pod requests. */
export interface HostPort {
  readonly protocol: string
  readonly port: number
  /** Node address to which the port is bound. `0.0.0.0` means all addresses of the node. */
  readonly address: string
}

/** An immutable snapshot of a Pod. Each version of the Pod has its own snapshot. */
export class PodInfo {
  readonly pod: Pod
  readonly key: string
  readonly uid: string
  readonly name: string
  readonly namespace: string
  readonly labels: { readonly [key: string]: string }
  readonly priority: number
  readonly requests: Amounts
  readonly scoredRequests: Pick<Amounts, 'cpu' | 'memory'>
  readonly hostPorts: readonly HostPort[]
  /** Names of the PersistentVolumeClaims in the Pod's volumes. */
  readonly claims: readonly string[]
  readonly isTerminating: boolean

  constructor(pod: Pod) {
    const { metadata, spec = {} } = pod
    this.pod = pod
    this.key = objectKey(pod)
    this.uid = metadata.uid ?? ''
    this.name = metadata.name ?? ''
    this.namespace = metadata.namespace ?? ''
    this.labels = metadata.labels ?? {}
    this.priority = spec.priority ?? 0
    this.requests = requestsOf(pod)
    this.scoredRequests = scoredRequestsOf(spec)
    this.hostPorts = hostPortsOf(spec)
    this.claims = claimNames(pod)
    this.isTerminating = metadata.deletionTimestamp !== undefined
  }

  get spec(): NonNullable<Pod['spec']> {
    return this.pod.spec ?? {}
  }

  /** Name of the Pod's node, or '' if the Pod has no node. */
  get nodeName(): string {
    return this.pod.spec?.nodeName ?? ''
  }

  /** Name of the Pod's nominated node, or '' if the Pod has no nominated node. */
  get nominatedNode(): string {
    return this.pod.status?.nominatedNodeName ?? ''
  }
}

/** Whether the Pod has terminated and no longer uses resources of its node. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** Returns the host ports that a Pod's containers request. */
export function hostPortsOf({ containers = [] }: NonNullable<Pod['spec']>): HostPort[] {
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP = '', protocol = 'TCP' }) =>
      hostPort === 0 ? [] : [{ protocol, port: hostPort, address: hostIP === '' ? anyAddress : hostIP }],
    ),
  )
}

/**
 * Whether two host ports conflict and therefore cannot coexist on one node. The wildcard address conflicts with every
 * address.
 */
export function arePortsInConflict(one: HostPort, other: HostPort): boolean {
  if (one.protocol !== other.protocol || one.port !== other.port) return false
  return one.address === other.address || one.address === anyAddress || other.address === anyAddress
}

/** A Pod made ready for the scheduler: what it requests, its ports and how important it is, read once per state. */

import type { Pod } from '../../api/kinds/core/pod.ts'
import { objectKey } from '../../client/requests/resource-type.ts'
import { claimNames } from '../volumes/pod-claims.ts'
import { type Amounts, requestsOf, scoredRequestsOf } from './resources.ts'

const anyAddress = '0.0.0.0'

/** A port of the node that a Pod takes. */
export interface HostPort {
  readonly protocol: string
  readonly port: number
  /** `0.0.0.0` for all addresses of the node. */
  readonly address: string
}

/** The state of a Pod as the scheduler sees it. Never changed: another state of the Pod is another one. */
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
  /** The claims that its volumes use. */
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
    this.requests = requestsOf(spec)
    this.scoredRequests = scoredRequestsOf(spec)
    this.hostPorts = hostPortsOf(spec)
    this.claims = claimNames(pod)
    this.isTerminating = metadata.deletionTimestamp !== undefined
  }

  get spec(): NonNullable<Pod['spec']> {
    return this.pod.spec ?? {}
  }

  /** The node that it is on; '' for none. */
  get nodeName(): string {
    return this.pod.spec?.nodeName ?? ''
  }

  /** The node that others are being moved off for it; '' for none. */
  get nominatedNode(): string {
    return this.pod.status?.nominatedNodeName ?? ''
  }
}

/** Whether it has ended, so that it takes nothing of its node any more. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

/** The ports of its node that a Pod takes. */
export function hostPortsOf({ containers = [] }: NonNullable<Pod['spec']>): HostPort[] {
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP = '', protocol = 'TCP' }) =>
      hostPort === 0 ? [] : [{ protocol, port: hostPort, address: hostIP === '' ? anyAddress : hostIP }],
    ),
  )
}

/** Whether two cannot be on one node; all addresses of the node and each single one exclude each other. */
export function arePortsInConflict(one: HostPort, other: HostPort): boolean {
  if (one.protocol !== other.protocol || one.port !== other.port) return false
  return one.address === other.address || one.address === anyAddress || other.address === anyAddress
}

/** Computes the desired endpoints of a Service from its pods, grouped by port set. */

import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Service } from '../../../api/kinds/core/types/service-spec.ts'
import type { Endpoint } from '../../../api/kinds/discovery/types/endpoint.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import { isReady } from '../workloads/pod-state.ts'
import { addressOf, counts, hostnameOf, type PodPort, portsAt, targetOf } from './service-endpoints.ts'

/** Endpoints that share the same ports, by endpoint key. */
export interface EndpointGroup {
  readonly ports: readonly PodPort[]
  readonly endpoints: Map<string, Endpoint>
}

export interface DesiredParts {
  readonly service: Service
  readonly pods: readonly Pod[]
  readonly nodes: Informer<Node>
  readonly family: string
  readonly vendor: Vendor
}

/**
 * Returns the endpoint groups by port key. For a Service without endpoints, returns one empty group, so that the
 * Service still has a slice.
 */
export async function desiredEndpoints(parts: DesiredParts): Promise<Map<string, EndpointGroup>> {
  const groups = new Map<string, EndpointGroup>()
  const timeSlice = new TimeSlice()
  for (const pod of parts.pods) {
    if (timeSlice.charge(20)) await timeSlice.yieldIfDue()
    const ip = counts(pod, { whileTerminating: true }) ? addressOf(pod, parts.family) : undefined
    if (ip === undefined) continue
    const ports = portsAt(parts.service, pod)
    const key = portsKey(ports)
    const group = groups.get(key) ?? { ports, endpoints: new Map<string, Endpoint>() }
    groups.set(key, group)
    const endpoint = endpointAt(parts, pod, ip)
    group.endpoints.set(endpointKey(endpoint), endpoint)
  }
  return groups.size > 0 ? groups : groups.set(portsKey([]), { ports: [], endpoints: new Map() })
}

/** Returns a key that does not depend on the order of the ports. */
export function portsKey(ports: readonly Partial<PodPort>[]): string {
  const texts = ports.map(({ name, port, protocol, appProtocol }) =>
    JSON.stringify([name ?? '', port ?? null, protocol ?? 'TCP', appProtocol ?? '']),
  )
  return texts.sort().join()
}

/** Returns a key that identifies an endpoint across updates: its addresses, hostname and target. */
export function endpointKey({ addresses = [], hostname = '', targetRef = {} }: Endpoint): string {
  return [...addresses, hostname, targetRef.namespace, targetRef.name].join('\n')
}

function endpointAt({ service, nodes, vendor }: DesiredParts, pod: Pod, ip: string): Endpoint {
  const { nodeName } = pod.spec ?? {}
  const serving = isReady(pod)
  const terminating = pod.metadata.deletionTimestamp !== undefined
  const ready = service.spec?.publishNotReadyAddresses || (serving && !terminating)
  const hostname = hostnameOf(pod, service)
  const zone = nodes.get({ name: nodeName ?? '' })?.metadata.labels?.[vendorKey(vendor, 'zone', 'topology')]
  return {
    addresses: [ip],
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: targetOf(pod),
    ...(nodeName ? { nodeName } : {}),
    ...(zone ? { zone } : {}),
    ...(ready ? hintsFor(service, { zone, nodeName }) : {}),
  }
}

interface Place {
  readonly zone: string | undefined
  readonly nodeName: string | undefined
}

/**
 * Returns the hints for a ready endpoint: the zone and the node that should use it, according to the Service's
 * `trafficDistribution`.
 */
function hintsFor({ spec }: Service, { zone, nodeName }: Place): Pick<Endpoint, 'hints'> {
  const { trafficDistribution: wish = '' } = spec ?? {}
  const isNear = ['PreferClose', 'PreferSameZone', 'PreferSameNode'].includes(wish)
  const hints = {
    ...(isNear && zone ? { forZones: [{ name: zone }] } : {}),
    ...(wish === 'PreferSameNode' && nodeName ? { forNodes: [{ name: nodeName }] } : {}),
  }
  return Object.keys(hints).length === 0 ? {} : { hints }
}

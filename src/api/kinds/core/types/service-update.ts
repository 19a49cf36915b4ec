/**
 * Completes Service updates: preserves server-assigned values that the client omitted, and removes values that do not
 * apply to the new type.
 */

import { sameJson } from '../../../json/json.ts'
import { type FieldError, forbidden, invalid } from '../../../model/field-error.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { checkAddressUpdate } from './service-addresses.ts'
import {
  isInCluster,
  isOnNodes,
  needsHealthCheck,
  type Service,
  type ServiceSpec,
  takesExternalTraffic,
} from './service-spec.ts'

/** Completes an update from the stored Service. Modifies `next`. */
export function prepareUpdate(next: Service, previous: Service, context: RuleContext): void {
  const after = next.spec ?? {}
  const before = previous.spec ?? {}
  keepAllocated(after, before)
  normalizeAddresses(after, before)
  dropByType(after, before, context)
  next.status = { ...previous.status }
  // Only a Service of type LoadBalancer can have a load balancer status.
  if (after.type !== 'LoadBalancer') next.status.loadBalancer = {}
}

/** Preserves allocated values that the client omitted, because the client may not know them. */
function keepAllocated(next: ServiceSpec, previous: ServiceSpec): void {
  if (isInCluster(next) && isInCluster(previous)) {
    next.clusterIP ||= previous.clusterIP ?? ''
    if ((next.clusterIPs ?? []).length === 0 && previous.clusterIPs) next.clusterIPs = [...previous.clusterIPs]
  }
  if (isOnNodes(next) && isOnNodes(previous)) keepNodePorts(next, previous)
  if (needsHealthCheck(next) && needsHealthCheck(previous))
    next.healthCheckNodePort ||= previous.healthCheckNodePort ?? 0
}

/** Matches ports by name. A node port is not preserved if the client assigns it to a different port. */
function keepNodePorts({ ports = [] }: ServiceSpec, { ports: before = [] }: ServiceSpec): void {
  const stated = new Set(ports.map(({ nodePort }) => nodePort))
  const byName = new Map(before.map(({ name = '', nodePort = 0 }) => [name, nodePort]))
  for (const port of ports) {
    const previousNodePort = byName.get(port.name ?? '')
    if (!port.nodePort && previousNodePort && !stated.has(previousNodePort)) port.nodePort = previousNodePort
  }
}

/** If a client changes only `clusterIP`, replaces the whole list of addresses. */
function normalizeAddresses(next: ServiceSpec, previous: ServiceSpec): void {
  const untouched = sameJson(next.clusterIPs ?? [], previous.clusterIPs ?? [])
  if (!untouched || next.clusterIP === previous.clusterIP) return
  if (next.clusterIP) next.clusterIPs = [next.clusterIP]
  else delete next.clusterIPs
}

/**
 * Removes values that the new type does not use. Keeps values that the client changed, because the client evidently
 * wants to set them.
 */
function dropByType(next: ServiceSpec, previous: ServiceSpec, context: RuleContext): void {
  const isDropped = (needs: (spec: ServiceSpec) => boolean) => needs(previous) && !needs(next)
  const drop = (...names: (keyof ServiceSpec)[]) => {
    for (const name of names) if (sameJson(next[name] ?? null, previous[name] ?? null)) delete next[name]
  }
  if (isDropped(isInCluster)) {
    drop('clusterIPs', 'ipFamilies', 'ipFamilyPolicy')
    drop('clusterIP')
  }
  if (isDropped(isOnNodes) && isSubset(nodePorts(next), nodePorts(previous)))
    for (const port of next.ports ?? []) delete port.nodePort
  if (isDropped(needsHealthCheck)) drop('healthCheckNodePort')
  if (isDropped(({ type }) => type === 'LoadBalancer')) drop('allocateLoadBalancerNodePorts', 'loadBalancerClass')
  if (isDropped((spec) => takesExternalTraffic(spec, context))) drop('externalTrafficPolicy')
}

function nodePorts({ ports = [] }: ServiceSpec): Set<number> {
  return new Set(ports.flatMap(({ nodePort }) => nodePort || []))
}

/** Whether all node ports in `next` are also in `previous`. */
function isSubset(next: ReadonlySet<number>, previous: ReadonlySet<number>): boolean {
  return [...next].every((port) => previous.has(port))
}

/** Rejects changes to the health check port, because load balancers already use it. */
function checkHealthPortUpdate(next: ServiceSpec, previous: ServiceSpec): FieldError[] {
  if (!needsHealthCheck(next) || !needsHealthCheck(previous)) return []
  if (next.healthCheckNodePort === previous.healthCheckNodePort) return []
  return [forbidden('spec.healthCheckNodePort', 'may not change while `externalTrafficPolicy` is Local')]
}

export function checkUpdate({ spec: next = {} }: Service, { spec: previous = {} }: Service): FieldError[] {
  const name = next.loadBalancerClass
  const balancers = next.type === 'LoadBalancer' && previous.type === 'LoadBalancer'
  return [
    ...checkAddressUpdate(next, previous),
    ...checkHealthPortUpdate(next, previous),
    ...(balancers && name !== previous.loadBalancerClass
      ? [invalid('spec.loadBalancerClass', name, 'may not change once set')]
      : []),
  ]
}

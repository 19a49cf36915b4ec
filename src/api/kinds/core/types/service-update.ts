/** What an update of a Service keeps although the client left it out, and what goes with a change of its type. */
import { type FieldError, forbidden, invalid } from '../../../model/field-error.ts'
import { sameJson } from '../../../json/json.ts'
import { checkAddressUpdate } from './service-addresses.ts'
import { isInCluster, isOnNodes, needsHealthCheck, type Service, type ServiceSpec } from './service-spec.ts'

/** Changes `next`. */
export function prepareUpdate(next: Service, previous: Service): void {
  const [after = {}, before = {}] = [next.spec, previous.spec]
  keepAllocated(after, before)
  normalizeAddresses(after, before)
  dropByType(after, before)
  next.status = { ...previous.status }
  // Whatever a status says of a balancer, no other type has one.
  if (after.type !== 'LoadBalancer') next.status.loadBalancer = {}
}

/** Values that the server chose are kept where a client, which may not know them, left them out. */
function keepAllocated(next: ServiceSpec, previous: ServiceSpec): void {
  if (isInCluster(next) && isInCluster(previous)) {
    next.clusterIP ||= previous.clusterIP ?? ''
    if ((next.clusterIPs ?? []).length === 0 && previous.clusterIPs) next.clusterIPs = [...previous.clusterIPs]
  }
  if (isOnNodes(next) && isOnNodes(previous)) keepNodePorts(next, previous)
  if (needsHealthCheck(next) && needsHealthCheck(previous))
    next.healthCheckNodePort ||= previous.healthCheckNodePort ?? 0
}

/** By the names of the ports, unless the client gives the port of nodes to another. */
function keepNodePorts({ ports = [] }: ServiceSpec, { ports: before = [] }: ServiceSpec): void {
  const stated = new Set(ports.map(({ nodePort }) => nodePort))
  const byName = new Map(before.map(({ name = '', nodePort = 0 }) => [name, nodePort]))
  for (const port of ports) {
    const known = byName.get(port.name ?? '')
    if (!port.nodePort && known && !stated.has(known)) port.nodePort = known
  }
}

/** A client that changes `clusterIP` alone means the whole list. */
function normalizeAddresses(next: ServiceSpec, previous: ServiceSpec): void {
  const untouched = sameJson(next.clusterIPs ?? [], previous.clusterIPs ?? [])
  if (!untouched || next.clusterIP === previous.clusterIP) return
  if (next.clusterIP) next.clusterIPs = [next.clusterIP]
  else delete next.clusterIPs
}

/** What the type before needed and the new one does not goes, unless the client has changed it and so means it. */
function dropByType(next: ServiceSpec, previous: ServiceSpec): void {
  const left = (needs: (spec: ServiceSpec) => boolean) => needs(previous) && !needs(next)
  const drop = (...names: (keyof ServiceSpec)[]) => {
    for (const name of names) if (sameJson(next[name] ?? null, previous[name] ?? null)) delete next[name]
  }
  if (left(isInCluster)) {
    drop('clusterIPs', 'ipFamilies', 'ipFamilyPolicy')
    drop('clusterIP')
  }
  if (left(isOnNodes) && isKnown(nodePorts(next), nodePorts(previous)))
    for (const port of next.ports ?? []) delete port.nodePort
  if (left(needsHealthCheck)) drop('healthCheckNodePort')
  if (left(({ type }) => type === 'LoadBalancer')) drop('allocateLoadBalancerNodePorts', 'loadBalancerClass')
  if (left(isOnNodes)) drop('externalTrafficPolicy')
}

function nodePorts({ ports = [] }: ServiceSpec): Set<number> {
  return new Set(ports.flatMap(({ nodePort }) => nodePort || []))
}

/** Whether the client asks for no port of nodes that the Service did not have: some may have gone. */
function isKnown(next: ReadonlySet<number>, previous: ReadonlySet<number>): boolean {
  return [...next].every((port) => previous.has(port))
}

/** Balancers have been told of it. */
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

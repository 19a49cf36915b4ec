/** Node ports of a Service: a node port for each port of the Service, and one for load balancer health checks. */
import { type FieldError, invalid, tooMany } from '../../../model/field-error.ts'
import type { Allocator, Reservation } from '../../../schema/reservations.ts'
import { isOnNodes, needsHealthCheck, needsNodePorts, type ServicePort, type ServiceSpec } from './service-spec.ts'

/** Name of the reservation pool for node ports. */
export const portPool = 'node-ports'

/** Returns the node ports that a Service reserves. TCP and UDP ports with the same number share one reservation. */
export function heldPorts(spec: ServiceSpec): Reservation[] {
  const own = isOnNodes(spec) ? (spec.ports ?? []).map(({ nodePort = 0 }) => nodePort) : []
  const health = needsHealthCheck(spec) ? (spec.healthCheckNodePort ?? 0) : 0
  const numbers = new Set([...own, health].filter((port) => port !== 0))
  return [...numbers].map((port) => ({ pool: portPool, value: String(port) }))
}

/** Allocates the node ports that a Service needs, and stops at the first error. Modifies `next`. */
export function allocatePorts(
  next: ServiceSpec,
  previous: ServiceSpec | undefined,
  allocator: Allocator,
): FieldError[] {
  const count = next.ports?.length ?? 0
  if (isOnNodes(next) && count > allocator.maxValues) return [tooMany('spec.ports', count, allocator.maxValues)]
  const fault =
    (isOnNodes(next) ? allocateNodePorts(next, previous, allocator) : undefined) ??
    allocateHealthPort(next, previous, allocator)
  return fault === undefined ? [] : [fault]
}

/** Allocates node ports. On creation, ports with the same number (such as DNS over TCP and UDP) share a node port. */
function allocateNodePorts(
  next: ServiceSpec,
  previous: ServiceSpec | undefined,
  allocator: Allocator,
): FieldError | undefined {
  const { ports = [] } = next
  const shared = previous === undefined ? sharedPorts(ports) : new Map<number, number>()
  const assignedPorts = new Set<string>()
  for (const [i, port] of ports.entries()) {
    if (!port.nodePort && !needsNodePorts(next)) continue
    const { port: number = 0 } = port
    port.nodePort ||= shared.get(number) ?? 0
    const path = `spec.ports[${i}].nodePort`
    // Two Service ports may share a node port if their numbers are equal on creation, or if the update leaves the node
    // port unchanged.
    const owner = previous === undefined ? `${number}/${port.nodePort}` : `/${port.nodePort}`
    const fault = port.nodePort && assignedPorts.has(owner) ? undefined : takePort(port, path, allocator)
    if (fault !== undefined) return fault
    if (port.nodePort === keptHealthPort(next, previous))
      return invalid(path, port.nodePort, 'provided port is already allocated')
    if (previous === undefined && !shared.has(number)) shared.set(number, port.nodePort)
    assignedPorts.add(previous === undefined ? `${number}/${port.nodePort}` : `/${port.nodePort}`)
  }
  return undefined
}

/**
 * Returns the requested node port for each port number. If several node ports are requested for a number, the first one
 * is used.
 */
function sharedPorts(ports: readonly ServicePort[]): Map<number, number> {
  const asked = ports.filter(({ nodePort }) => nodePort)
  return new Map(asked.toReversed().map(({ port = 0, nodePort = 0 }) => [port, nodePort]))
}

function takePort(port: ServicePort, path: string, allocator: Allocator): FieldError | undefined {
  if (port.nodePort) {
    const refusal = allocator.refuse(portPool, String(port.nodePort))
    return refusal === undefined ? undefined : invalid(path, port.nodePort, refusal)
  }
  const drawn = allocator.draw(portPool)
  if (drawn === undefined) return invalid(path, 0, 'failed to allocate a node port: the range is full')
  port.nodePort = Number(drawn)
  return undefined
}

/** Returns the health check node port if it must stay the same in an update. */
function keptHealthPort(next: ServiceSpec, previous: ServiceSpec | undefined): number | undefined {
  const keeps = previous !== undefined && needsHealthCheck(previous) && needsHealthCheck(next)
  return keeps ? previous.healthCheckNodePort : undefined
}

function allocateHealthPort(
  next: ServiceSpec,
  previous: ServiceSpec | undefined,
  allocator: Allocator,
): FieldError | undefined {
  // Preserve an assigned port. Validation rejects changes to it.
  const keeps = previous !== undefined && needsHealthCheck(previous) && previous.healthCheckNodePort !== undefined
  if (!needsHealthCheck(next) || keeps) return undefined
  const port: ServicePort = { nodePort: next.healthCheckNodePort ?? 0 }
  const path = 'spec.healthCheckNodePort'
  // A node port that forwards to the pods cannot serve health checks.
  const own = next.ports?.some(({ nodePort }) => nodePort && nodePort === port.nodePort)
  const fault = own
    ? invalid(path, port.nodePort, 'provided port is already allocated')
    : takePort(port, path, allocator)
  if (fault === undefined) next.healthCheckNodePort = port.nodePort!
  return fault
}

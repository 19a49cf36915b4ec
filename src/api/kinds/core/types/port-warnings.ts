/** Warnings about container ports that are probably mistakes. */
import { at, child, type FieldPath } from '../../../model/field-error.ts'
import type { Container, ContainerPort } from './container.ts'

interface PlacedPort {
  readonly port: ContainerPort
  readonly path: FieldPath
}

/** Maximum number of earlier ports with which each port is compared, to bound the work. */
const maxCompared = 10

/**
 * Returns a warning for each port that has the same number and protocol as an earlier port. The warning contains the
 * path of the earlier port.
 */
export function portWarnings(containers: readonly (readonly [Container, FieldPath])[]): string[] {
  const earlier = new Map<string, PlacedPort[]>()
  const warnings: string[] = []
  for (const [{ ports = [] }, where] of containers)
    for (const [i, port] of ports.entries()) {
      const path = at(child(where, 'ports'), i)
      if (port.hostIP && !port.hostPort) warnings.push(`${path}: hostIP set without hostPort`)
      const key = `${port.containerPort}/${port.protocol}`
      const others = earlier.get(key) ?? []
      for (const other of others) {
        const relation = relationOf(port, other.port)
        if (relation !== undefined) warnings.push(`${path}: ${relation} port definition with ${other.path}`)
      }
      if (others.length < maxCompared) earlier.set(key, [...others, { port, path }])
    }
  return warnings
}

function relationOf(one: ContainerPort, other: ContainerPort): string | undefined {
  const { hostIP = '', hostPort = 0 } = one
  const { hostIP: otherIp = '', hostPort: otherPort = 0 } = other
  if (hostIP === otherIp && hostPort === otherPort) return 'duplicate'
  if (hostPort === 0 || otherPort === 0) return 'overlapping'
  const isAmbiguous = hostPort === otherPort && (hostIP === '') !== (otherIp === '')
  return isAmbiguous ? 'dangerously ambiguous' : undefined
}

/** The simulated nodes of `orch up`: their names, addresses and users. */
import { nodesGroup, nodeUserPrefix, type User } from '../../api/model/user.ts'
import type { SimulatedDevices } from '../../cluster/nodes/devices/node-devices.ts'
import type { NodeDescription } from '../../cluster/nodes/node-object.ts'
import { ownRange } from '../../cluster/nodes/pods/addresses.ts'

/** Returns the names of the nodes: node-1, node-2, ... */
export function ownNodeNames(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `node-${i + 1}`)
}

/** Properties that all simulated nodes have in common. */
type SharedDescription = Required<Pick<NodeDescription, 'capacity' | 'port' | 'kubernetesVersion'>> & {
  readonly devices: readonly SimulatedDevices[] | undefined
}

/** Returns descriptions of the nodes. `port` returns the port that all nodes share, or 0 until it is open. */
export function ownNodes(names: readonly string[], { devices, ...shared }: SharedDescription): NodeDescription[] {
  return names.map((name, i) => ({
    name,
    ...shared,
    ...(devices === undefined ? {} : { devices }),
    address: `10.127.${(i + 1) >> 8}.${(i + 1) & 255}`,
    podRange: ownRange(i),
    labels: {},
    taints: [],
  }))
}

/** Returns the user that a node's agent authenticates as. */
export function agentOf(node: string): User {
  return { name: nodeUserPrefix + node, uid: '', groups: [nodesGroup], extra: new Map() }
}

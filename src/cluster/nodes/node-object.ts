/** What a node says of itself: the Node object that its agent registers, and the status that it reports. */
import type { Node } from '../../api/kinds/core/node.ts'
import type { NodeStatus } from '../../api/kinds/core/types/node-status.ts'
import type { Taint } from '../../api/kinds/core/types/taint.ts'
import { timestamp } from '../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import { apiLevel, version } from '../../api/model/version.ts'

/** A node of this process. */
export interface NodeDescription {
  readonly name: string
  /** Where it is reached. */
  readonly address: string
  /** The port of its agent; 0 while it serves none. */
  readonly port: () => number
  readonly capacity: { readonly [resource: string]: string }
  readonly labels: { readonly [key: string]: string }
  readonly taints: readonly Taint[]
  /** The range of its pods' addresses where its Node object names none. */
  readonly podRange: string
}

/** As much as a large machine has. */
export const usualCapacity: { readonly [resource: string]: string } = {
  cpu: '32',
  memory: '256Gi',
  'ephemeral-storage': '1Ti',
  pods: '110',
}

const agentVersion = `v${apiLevel.major}.${apiLevel.minor}.${apiLevel.patch}+orch-${version}`
const os = 'linux'
const arch = 'amd64'

/** The annotation of simulated nodes, by which others know them. */
function simulatedKey(vendor: Vendor): string {
  return vendorKey(vendor, 'node', 'simulation')
}

export function nodeObject(description: NodeDescription, vendor: Vendor, now: number): Node {
  const { name, labels, taints } = description
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        ...labels,
        [vendorKey(vendor, 'hostname')]: name,
        [vendorKey(vendor, 'os')]: os,
        [vendorKey(vendor, 'arch')]: arch,
        [vendorKey(vendor, 'os', 'beta')]: os,
        [vendorKey(vendor, 'arch', 'beta')]: arch,
      },
      annotations: { [simulatedKey(vendor)]: 'true' },
    },
    spec: taints.length === 0 ? {} : { taints: [...taints] },
    status: nodeStatus(description, undefined, now),
  }
}

const conditions: readonly (readonly [type: string, status: string, reason: string, message: string])[] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'the node has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'the node has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'the node has sufficient PIDs available'],
  ['Ready', 'True', 'KubeletReady', 'the node agent is ready'],
]

/**
 * What a node offers: its own capacity, and the extended resources that others have added to the capacity in its status, as
 * is done to advertise devices. Those have a domain in their names.
 */
export function offered(
  { capacity }: NodeDescription,
  reported: NodeStatus | undefined,
): { [resource: string]: string } {
  const added = Object.entries(reported?.capacity ?? {}).filter(([name]) => name.includes('/'))
  return { ...Object.fromEntries(added), ...capacity }
}

/** `previous`: what is reported at present. Fields that others write, such as attached volumes, stay. */
export function nodeStatus(description: NodeDescription, previous: NodeStatus | undefined, now: number): NodeStatus {
  const { name, address, port } = description
  const capacity = offered(description, previous)
  const time = timestamp(now)
  const known = (type: string, status: string) =>
    previous?.conditions?.find((each) => each.type === type && each.status === status)
  const own = new Set(conditions.map(([type]) => type))
  return {
    ...previous,
    capacity,
    allocatable: { ...capacity },
    conditions: [
      ...conditions.map(([type, status, reason, message]) => {
        const lastTransitionTime = known(type, status)?.lastTransitionTime ?? time
        return { type, status, reason, message, lastHeartbeatTime: time, lastTransitionTime }
      }),
      ...(previous?.conditions ?? []).filter(({ type = '' }) => !own.has(type)),
    ],
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: port() } },
    nodeInfo: {
      machineID: name,
      systemUUID: name,
      bootID: name,
      kernelVersion: 'simulated',
      osImage: 'simulated',
      containerRuntimeVersion: `simulated://${version}`,
      kubeletVersion: agentVersion,
      kubeProxyVersion: agentVersion,
      operatingSystem: os,
      architecture: arch,
    },
  }
}

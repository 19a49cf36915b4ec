/** The Node object that a node agent registers, and the status that it reports. */
import type { Node } from '../../api/kinds/core/node.ts'
import type { NodeStatus } from '../../api/kinds/core/types/node-status.ts'
import type { Taint } from '../../api/kinds/core/types/taint.ts'
import { timestamp } from '../../api/model/object.ts'
import { simulatedNodeAnnotation } from '../../api/model/simulated-failures.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import { version } from '../../api/model/version.ts'
import { type EmulatedVersion, oldestVersion, releaseOf } from '../../api/versions/emulated-version.ts'
import type { SimulatedDevices } from './devices/node-devices.ts'

/** Describes how to create and run a simulated node. */
export interface NodeDescription {
  readonly name: string
  /** Kubernetes version that the node reports. Defaults to the oldest supported version. */
  readonly kubernetesVersion?: EmulatedVersion
  /** IP address of the node. */
  readonly address: string
  /** Returns the port of the node agent, or 0 if the agent has none. */
  readonly port: () => number
  readonly capacity: { readonly [resource: string]: string }
  readonly labels: { readonly [key: string]: string }
  readonly taints: readonly Taint[]
  /** Devices that the node publishes. Defaults to none. */
  readonly devices?: readonly SimulatedDevices[]
  /** Pod CIDR that the node uses as long as its Node object does not specify a pod CIDR. */
  readonly podRange: string
}

/** Default capacity of a node: that of a large machine. */
export const usualCapacity: { readonly [resource: string]: string } = {
  cpu: '32',
  memory: '256Gi',
  'ephemeral-storage': '1Ti',
  pods: '110',
}

/** Returns the version of the node agent: the newest patch release of the node's Kubernetes version. */
function agentVersionOf({ kubernetesVersion = oldestVersion }: NodeDescription): string {
  const { major, minor, patch } = releaseOf(kubernetesVersion)
  return `v${major}.${minor}.${patch}+orch-${version}`
}

const os = 'linux'
const arch = 'amd64'

/** Returns the key of the annotation that marks simulated nodes. */
function simulatedKey(vendor: Vendor): string {
  return vendorKey(vendor, simulatedNodeAnnotation, 'simulation')
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
    status: nodeStatus(description, { previous: undefined, now }),
  }
}

/** The conditions of a healthy node. */
export const nodeConditions: readonly (readonly [type: string, status: string, reason: string, message: string])[] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'the node has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'the node has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'the node has sufficient PIDs available'],
  ['Ready', 'True', 'KubeletReady', 'the node agent is ready'],
]

/**
 * Returns the capacity of a node: the configured capacity, and the extended resources that other components have added
 * to the status, for example to advertise devices. The names of extended resources contain a domain.
 */
export function offered(
  { capacity }: NodeDescription,
  reported: NodeStatus | undefined,
): { [resource: string]: string } {
  const added = Object.entries(reported?.capacity ?? {}).filter(([name]) => name.includes('/'))
  return { ...Object.fromEntries(added), ...capacity }
}

const diskPressure = ['DiskPressure', 'True', 'KubeletHasDiskPressure', 'the node has disk pressure'] as const

/** The inputs to a node's new status, apart from the description of the node. */
export interface NodeReport {
  /** The current status. Fields written by other clients, such as attached volumes, are preserved. */
  readonly previous: NodeStatus | undefined
  readonly now: number
  readonly hasDiskPressure?: boolean
}

export function nodeStatus(
  description: NodeDescription,
  { previous, now, hasDiskPressure = false }: NodeReport,
): NodeStatus {
  const { name, address, port } = description
  const capacity = offered(description, previous)
  const agentVersion = agentVersionOf(description)
  const time = timestamp(now)
  const previousCondition = (type: string, status: string) =>
    previous?.conditions?.find((each) => each.type === type && each.status === status)
  const own = new Set(nodeConditions.map(([type]) => type))
  return {
    ...previous,
    capacity,
    allocatable: { ...capacity },
    conditions: [
      ...nodeConditions.map((usual) => {
        const [type, status, reason, message] = hasDiskPressure && usual[0] === 'DiskPressure' ? diskPressure : usual
        const lastTransitionTime = previousCondition(type, status)?.lastTransitionTime ?? time
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

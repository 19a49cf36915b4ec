/** NodeStatus is the status that the node agent reports. */
import { isExplicitlyEmpty } from '../../../schema/explicit-empty.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { byType } from '../../list-keys.ts'
import { nodeConfigStatus } from './node-config.ts'
import { resourceList, roundResources } from './resource-list.ts'

const always = { zeroValue: 'write', published: 'required' } as const

const condition = s.object(
  {
    type: field(1, s.string(), { ...always, doc: 'Type of the condition, such as Ready.' }),
    status: field(2, s.string(), { ...always, doc: 'Status of the condition: True, False or Unknown.' }),
    lastHeartbeatTime: field(3, s.time(), {
      zeroValue: 'write',
      doc: 'Time when the node agent last reported the condition.',
    }),
    lastTransitionTime: field(4, s.time(), {
      zeroValue: 'write',
      doc: 'Time when the status of the condition last changed.',
    }),
    reason: field(5, s.string(), { doc: 'Machine-readable reason for the last transition, in CamelCase.' }),
    message: field(6, s.string(), { doc: 'Human-readable message about the last transition.' }),
  },
  { name: 'NodeCondition', doc: 'A condition of a Node.' },
)

const address = s.object(
  {
    type: field(1, s.string(), {
      ...always,
      doc: 'Type of the address: `Hostname`, `InternalIP`, `ExternalIP`, `InternalDNS` or `ExternalDNS`.',
    }),
    address: field(2, s.string(), { ...always, doc: 'IP address or host name.' }),
  },
  { name: 'NodeAddress', doc: 'An address of a node.' },
)

const daemonEndpoint = s.object(
  { Port: field(1, s.int32(), { ...always, doc: 'Port number.' }) },
  { name: 'DaemonEndpoint', doc: 'The port of a daemon on a node.' },
)

const daemonEndpoints = s.object(
  { kubeletEndpoint: field(1, daemonEndpoint, { zeroValue: 'write', doc: 'Port of the node agent (kubelet).' }) },
  { name: 'NodeDaemonEndpoints', doc: 'Ports of the daemons on a node.' },
)

const text = (tag: number, doc: string) => field(tag, s.string(), { ...always, doc })

const swapStatus = s.object(
  { capacity: field(1, s.int64(), { zeroValue: 'keep', doc: 'Total amount of swap memory in bytes.' }) },
  { name: 'NodeSwapStatus', doc: 'Information about the swap memory of a node.' },
)

const systemInfo = s.object(
  {
    machineID: text(1, 'ID of the machine, unique within the cluster.'),
    systemUUID: text(2, 'UUID of the system, as reported by the hardware.'),
    bootID: text(3, 'ID of the current boot. It changes whenever the node is rebooted.'),
    kernelVersion: text(4, 'Kernel version of the node.'),
    osImage: text(5, 'Human-readable name and version of the operating system.'),
    containerRuntimeVersion: text(6, 'Name and version of the container runtime, in the form `<name>://<version>`.'),
    kubeletVersion: text(7, 'Version of the node agent (kubelet).'),
    kubeProxyVersion: text(8, 'Version of kube-proxy on the node.'),
    operatingSystem: text(9, 'Operating system of the node, such as linux.'),
    architecture: text(10, 'Processor architecture of the node, such as amd64.'),
    swap: field(11, swapStatus, { since: '1.33', doc: 'Information about the swap memory of the node.' }),
  },
  { name: 'NodeSystemInfo', doc: 'Identifiers and software versions of a node.' },
)

const image = s.object(
  {
    names: field(1, s.list(s.string()), { doc: 'Names by which the image is known, including its tags and digests.' }),
    sizeBytes: field(2, s.int64(), { doc: 'Size of the image in bytes.' }),
  },
  { name: 'ContainerImage', doc: 'A container image that is stored on a node.' },
)

const attachedVolume = s.object(
  {
    name: text(1, 'Name of the attached volume.'),
    devicePath: text(2, 'Path of the device on the node.'),
  },
  { name: 'AttachedVolume', doc: 'A volume that is attached to a node.' },
)

const handlerFeatures = s.object(
  {
    recursiveReadOnlyMounts: field(1, s.boolean(), {
      zeroValue: 'keep',
      gate: 'RecursiveReadOnlyMounts',
      doc: 'Whether the runtime handler supports recursively read-only mounts.',
    }),
    userNamespaces: field(2, s.boolean(), {
      zeroValue: 'keep',
      since: '1.31',
      gate: 'UserNamespacesSupport',
      gateDrops: 'main',
      doc: 'Whether the runtime handler supports user namespaces.',
    }),
  },
  { name: 'NodeRuntimeHandlerFeatures', doc: 'Features of a runtime handler.' },
)

const runtimeHandler = s.object(
  {
    name: field(1, s.string(), {
      zeroValue: 'write',
      published: 'optional',
      doc: 'Name of the runtime handler. Empty for the default handler.',
    }),
    features: field(2, handlerFeatures, { doc: 'Features that the runtime handler supports.' }),
  },
  { name: 'NodeRuntimeHandler', doc: 'A container runtime handler on a node.' },
)

const nodeFeatures = s.object(
  {
    supplementalGroupsPolicy: field(1, s.boolean(), {
      zeroValue: 'keep',
      doc: 'Whether the node supports supplementalGroupsPolicy and reports container users.',
    }),
  },
  { name: 'NodeFeatures', doc: 'Features of the container runtime on a node.' },
)

const conditions = s.list(condition, byType)
const addresses = s.list(address, byType)

const fields = {
  capacity: field(1, resourceList, { doc: 'Total amount of each resource on the node.' }),
  allocatable: field(2, resourceList, {
    emptyCounts: true,
    doc: 'Amount of each resource that pods on the node can use. Defaults to `capacity`.',
  }),
  phase: field(3, s.string(), { doc: 'Phase of the node. Deprecated and unused.' }),
  conditions: field(4, conditions, { doc: 'Conditions of the node, such as Ready.' }),
  addresses: field(5, addresses, { doc: 'IP addresses and host names of the node.' }),
  daemonEndpoints: field(6, daemonEndpoints, { zeroValue: 'write', doc: 'Ports of the daemons on the node.' }),
  nodeInfo: field(7, systemInfo, { zeroValue: 'write', doc: 'Identifiers and software versions of the node.' }),
  images: field(8, s.list(image), { doc: 'Container images that are stored on the node.' }),
  volumesInUse: field(9, s.list(s.string()), {
    doc: 'Names of the attachable volumes that pods on the node are using.',
  }),
  volumesAttached: field(10, s.list(attachedVolume), { doc: 'Volumes that are attached to the node.' }),
  config: field(11, nodeConfigStatus, {
    doc: "Status of the node agent's configuration. Not supported: the server drops this field.",
  }),
  runtimeHandlers: field(12, s.list(runtimeHandler), {
    since: '1.30',
    gate: { anyOf: ['RecursiveReadOnlyMounts', 'UserNamespacesSupport'] },
    gateDrops: 'main',
    doc: 'Container runtime handlers that the node supports.',
  }),
  features: field(13, nodeFeatures, {
    since: '1.31',
    gate: 'SupplementalGroupsPolicy',
    gateDrops: 'main',
    doc: 'Features of the container runtime.',
  }),
  declaredFeatures: field(14, s.list(s.string()), {
    since: '1.35',
    gate: 'NodeDeclaredFeatures',
    gateDrops: 'main',
    doc: 'Features of the node agent that depend on feature gates.',
  }),
}

export type NodeStatus = InferFields<typeof fields>

export const nodeStatus = s.object(fields, {
  name: 'NodeStatus',
  doc: 'Observed status of a Node, reported by the node agent.',
  fill: (value) => {
    if (value.capacity !== undefined && !isExplicitlyEmpty(value, 'allocatable'))
      value.allocatable ??= { ...value.capacity }
    roundResources(value.capacity)
    roundResources(value.allocatable)
  },
})

/** NodeStatus: what the agent on a node reports. */
import { isExplicitlyEmpty } from '../../../schema/explicit-empty.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { byType } from '../../list-keys.ts'
import { nodeConfigStatus } from './node-config.ts'
import { resourceList, roundResources } from './resource-list.ts'

const always = { zero: 'write', published: 'required' } as const

const condition = s.object(
  {
    type: field(1, s.string(), { ...always, doc: 'What the condition is about, such as Ready.' }),
    status: field(2, s.string(), { ...always, doc: 'True, False or Unknown.' }),
    lastHeartbeatTime: field(3, s.time(), { zero: 'write', doc: 'When the agent last reported it.' }),
    lastTransitionTime: field(4, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
    reason: field(5, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(6, s.string(), { doc: 'Why, for people.' }),
  },
  { name: 'NodeCondition', doc: 'Something that is known of the state of a node.' },
)

const address = s.object(
  {
    type: field(1, s.string(), { ...always, doc: 'Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.' }),
    address: field(2, s.string(), { ...always, doc: 'The address.' }),
  },
  { name: 'NodeAddress', doc: 'Where a node is reached.' },
)

const daemonEndpoint = s.object(
  { Port: field(1, s.int32(), { ...always, doc: 'The port.' }) },
  { name: 'DaemonEndpoint', doc: 'Where a program on a node is reached.' },
)

const daemonEndpoints = s.object(
  { kubeletEndpoint: field(1, daemonEndpoint, { zero: 'write', doc: 'Where the agent is reached.' }) },
  { name: 'NodeDaemonEndpoints', doc: 'Where the programs on a node are reached.' },
)

const text = (tag: number, doc: string) => field(tag, s.string(), { ...always, doc })

const systemInfo = s.object(
  {
    machineID: text(1, 'The id of the machine.'),
    systemUUID: text(2, 'The id of the system.'),
    bootID: text(3, 'Another one after each boot.'),
    kernelVersion: text(4, 'The version of the kernel.'),
    osImage: text(5, 'The operating system, for people.'),
    containerRuntimeVersion: text(6, 'What runs the containers, and its version.'),
    kubeletVersion: text(7, 'The version of the agent.'),
    kubeProxyVersion: text(8, 'The version of the proxy.'),
    operatingSystem: text(9, 'The operating system, in one word.'),
    architecture: text(10, 'The architecture of the processor.'),
  },
  { name: 'NodeSystemInfo', doc: 'What a node is made of.' },
)

const image = s.object(
  {
    names: field(1, s.list(s.string()), { doc: 'The names it is known by.' }),
    sizeBytes: field(2, s.int64(), { doc: 'Its size.' }),
  },
  { name: 'ContainerImage', doc: 'An image that a node has.' },
)

const attachedVolume = s.object(
  { name: text(1, 'The name of the volume.'), devicePath: text(2, 'The device that it is.') },
  { name: 'AttachedVolume', doc: 'A volume that is attached to a node.' },
)

const conditions = s.list(condition, byType)
const addresses = s.list(address, byType)

const fields = {
  capacity: field(1, resourceList, { doc: 'How much of each resource it has.' }),
  allocatable: field(2, resourceList, {
    emptyCounts: true,
    doc: 'Resources that are available to pods. Defaults to the capacity.',
  }),
  phase: field(3, s.string(), { doc: 'No longer used.' }),
  conditions: field(4, conditions, { doc: 'What is known of its state.' }),
  addresses: field(5, addresses, { doc: 'Where it is reached.' }),
  daemonEndpoints: field(6, daemonEndpoints, { zero: 'write', doc: 'Where its programs are reached.' }),
  nodeInfo: field(7, systemInfo, { zero: 'write', doc: 'What it is made of.' }),
  images: field(8, s.list(image), { doc: 'The images that it has.' }),
  volumesInUse: field(9, s.list(s.string()), { doc: 'The volumes that pods use there.' }),
  volumesAttached: field(10, s.list(attachedVolume), { doc: 'The volumes that are attached.' }),
  config: field(11, nodeConfigStatus, { doc: 'Not served: how far a new configuration of the agent has come.' }),
}

export type NodeStatus = InferFields<typeof fields>

export const nodeStatus = s.object(fields, {
  name: 'NodeStatus',
  doc: 'What the agent on a node reports.',
  fill: (value) => {
    if (value.capacity !== undefined && !isExplicitlyEmpty(value, 'allocatable'))
      value.allocatable ??= { ...value.capacity }
    roundResources(value.capacity)
    roundResources(value.allocatable)
  },
})

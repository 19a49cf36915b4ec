/** The allocation result of a ResourceClaim: which devices were allocated to it, and where they can be used. */
import { child, type FieldError, type FieldPath, notSupported, required } from '../../../model/field-error.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, inlined, s } from '../../../schema/schema.ts'
import { nodeSelectorTerm } from '../../core/types/node-selector.ts'
import { checkDriverName } from '../../core/types/volumes/storage-systems.ts'
import { checkBindingConditions } from './binding-conditions.ts'
import { checkRequestName } from './claim-spec.ts'
import { checkConfiguration, configurationFields } from './configuration.ts'
import { checkList, checkName, checkPoolName, checkShareId } from './lists.ts'
import { deviceToleration } from './request.ts'

/** A node selector. The number of terms is validated only in a new allocation. */
const allocationNodes = s.object(
  {
    nodeSelectorTerms: field(1, s.list(nodeSelectorTerm), {
      zeroValue: 'write',
      doc: 'Alternative terms. A node must match at least one of them.',
    }),
  },
  {
    name: 'core.v1.NodeSelector',
    doc: 'Selects nodes. A node is selected if it matches at least one term.',
    atomic: true,
  },
)

const bindingGates = ['DRADeviceBindingConditions', 'DRAResourceClaimDeviceStatus'] as const

const resultFields = {
  request: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'Name of the request for which the device was allocated. For an alternative, the form is `<request>/<alternative>`.',
  }),
  driver: field(2, s.string(), { zeroValue: 'write', doc: 'Name of the driver that manages the device.' }),
  pool: field(3, s.string(), { zeroValue: 'write', doc: 'Name of the pool that contains the device.' }),
  device: field(4, s.string(), { zeroValue: 'write', doc: 'Name of the device within its pool.' }),
  adminAccess: field(5, s.boolean(), {
    zeroValue: 'keep',
    gate: 'DRAAdminAccess',
    doc: 'Whether the device was allocated for administrative access.',
  }),
  tolerations: field(6, s.list(deviceToleration), {
    since: '1.33',
    gate: 'DRADeviceTaints',
    doc: 'Tolerations that the request had when the device was allocated.',
  }),
  bindingConditions: field(7, s.list(s.string()), {
    since: '1.34',
    gate: bindingGates,
    doc: 'Conditions of the device that must be true before pods are bound to a node.',
  }),
  bindingFailureConditions: field(8, s.list(s.string()), {
    since: '1.34',
    gate: bindingGates,
    doc: 'Conditions of the device that cause the binding of pods to fail if they are true.',
  }),
  shareID: field(9, s.string(), {
    zeroValue: 'keep',
    since: '1.34',
    gate: 'DRAConsumableCapacity',
    doc: 'UUID of the device share. Set if the device allows multiple allocations.',
  }),
  consumedCapacity: field(10, s.map(s.quantity()), {
    since: '1.34',
    gate: 'DRAConsumableCapacity',
    doc: 'Amount of each capacity that the allocation consumes.',
  }),
}

const result = s.object(resultFields, {
  name: 'DeviceRequestAllocationResult',
  doc: 'A device that was allocated for a request.',
})

const configuration = s.object(
  {
    source: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Where the configuration comes from: a DeviceClass (`FromClass`) or the claim (`FromClaim`).',
    }),
    requests: field(2, s.list(s.string()), {
      doc: 'Names of the requests to which the configuration applies. If empty, the configuration applies to all requests.',
    }),
    ...inlined(3, configurationFields),
  },
  {
    name: 'DeviceAllocationConfiguration',
    doc: 'Configuration for allocated devices.',
  },
)

const devicesFields = {
  results: field(1, s.list(result), { doc: 'Allocated devices.' }),
  config: field(2, s.list(configuration), {
    doc: 'Configuration for the devices, from their classes and from the claim.',
  }),
}

const devices = s.object(devicesFields, {
  name: 'DeviceAllocationResult',
  doc: 'The allocated devices and their configuration.',
})

const allocationFields = {
  devices: field(1, devices, {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Allocated devices and their configuration.',
  }),
  nodeSelector: field(3, allocationNodes, {
    doc: 'Nodes from which the devices are accessible. If unset, the devices are accessible from all nodes.',
  }),
  allocationTimestamp: field(5, s.time(), {
    since: '1.34',
    gate: bindingGates,
    doc: 'Time when the devices were allocated.',
  }),
}

export type AllocationResult = InferFields<typeof allocationFields>

export const allocationResult = s.object(allocationFields, {
  name: 'AllocationResult',
  doc: 'The devices that were allocated for a claim.',
})

const sources = ['FromClaim', 'FromClass']
const maxConfigurations = 64

function checkSource(source: string, path: FieldPath): FieldError[] {
  if (source === '') return [required(path)]
  return sources.includes(source) ? [] : [notSupported(path, source, sources)]
}

/** Validates a new allocation against the requests of its claim. */
export function checkAllocation(
  { devices: { results, config } = {}, nodeSelector: selector }: AllocationResult,
  { names, path }: { readonly names: ReadonlySet<string>; readonly path: FieldPath },
  context: RuleContext,
): FieldError[] {
  const place = child(path, 'devices')
  const terms = child(path, 'nodeSelector.nodeSelectorTerms')
  return [
    ...(selector && (selector.nodeSelectorTerms ?? []).length === 0 ? [required(terms)] : []),
    ...checkList(results, child(place, 'results'), {
      check: (each, at) => checkResult(each, { names, path: at }, context),
    }),
    ...checkList(config, child(place, 'config'), {
      max: maxConfigurations,
      check: ({ source = '', requests, ...value }, at) => [
        ...checkSource(source, child(at, 'source')),
        ...checkConfiguration(value, at),
        ...checkList(requests, child(at, 'requests'), {
          key: (name) => name,
          check: (name, own) => checkRequestName(name, names, own),
        }),
      ],
    }),
  ]
}

function checkResult(
  value: InferFields<typeof resultFields>,
  { names, path }: { readonly names: ReadonlySet<string>; readonly path: FieldPath },
  context: RuleContext,
): FieldError[] {
  const { request = '', driver = '', pool = '', device = '', shareID } = value
  return [
    ...checkRequestName(request, names, child(path, 'request')),
    ...checkDriverName(driver, child(path, 'driver'), context),
    ...checkPoolName(pool, child(path, 'pool')),
    ...checkName(device, child(path, 'device')),
    ...checkBindingConditions(value, path),
    ...checkShareId(shareID, path),
  ]
}

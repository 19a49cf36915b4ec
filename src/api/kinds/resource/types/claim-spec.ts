/** ResourceClaimSpec describes the devices that a claim requests, constraints on them and their configuration. */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { isEnabled, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, inlined, s } from '../../../schema/schema.ts'
import { checkConfiguration, configurationFields } from './configuration.ts'
import { checkFullName, checkList, keyFieldOf } from './lists.ts'
import { deviceRequest } from './request.ts'

const constraintFields = {
  requests: field(1, s.list(s.string()), {
    doc: 'Names of the requests to which the constraint applies. If empty, the constraint applies to all requests.',
  }),
  matchAttribute: field(2, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of an attribute, such as `driver.example.com/numa`, that must have the same value on all allocated devices.',
  }),
  distinctAttribute: field(3, s.string(), {
    zeroValue: 'keep',
    since: '1.34',
    gate: 'DRAConsumableCapacity',
    gateDrops: '1.36',
    doc: 'Name of an attribute that must have a different value on each allocated device.',
  }),
}

const constraint = s.object(constraintFields, {
  name: 'DeviceConstraint',
  doc: 'A constraint that spans the devices of several requests.',
  check: checkConstraint,
})

const configuration = s.object(
  {
    requests: field(1, s.list(s.string()), {
      doc: 'Names of the requests to which the configuration applies. If empty, the configuration applies to all requests.',
    }),
    ...inlined(2, configurationFields),
  },
  {
    name: 'DeviceClaimConfiguration',
    doc: 'Configuration for the devices of one or more requests.',
    check: (value, path) => checkConfiguration(value, path),
  },
)

export const devicesFields = {
  requests: field(1, s.list(deviceRequest), { doc: 'Requests for devices. At most 32 requests.' }),
  constraints: field(2, s.list(constraint), { doc: 'Constraints on the allocated devices. At most 32 constraints.' }),
  config: field(3, s.list(configuration), { doc: 'Configuration for the devices. At most 32 entries.' }),
}

const devices = s.object(devicesFields, {
  name: 'DeviceClaim',
  doc: 'Requests for devices, with constraints and configuration.',
  check: checkDevices,
})

export const specFields = {
  devices: field(1, devices, {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Requests for devices, with constraints and configuration.',
  }),
}

export type ResourceClaimSpec = InferFields<typeof specFields>

export const resourceClaimSpec = s.object(specFields, {
  name: 'ResourceClaimSpec',
  doc: 'Specification of a ResourceClaim. Immutable.',
})

function checkDevices(value: InferFields<typeof devicesFields>, path: FieldPath, context: RuleContext): FieldError[] {
  const names = requestNames({ devices: value })
  const checkReferences = ({ requests }: { requests?: string[] }, place: FieldPath) =>
    checkList(requests, child(place, 'requests'), {
      key: (name) => name,
      check: (name, at) => checkRequestName(name, names, at),
    })
  return [
    ...checkList(value.requests, child(path, 'requests'), {
      key: ({ name = '' }) => name,
      keyField: keyFieldOf('name', context),
    }),
    ...checkList(value.constraints, child(path, 'constraints'), { check: checkReferences }),
    ...checkList(value.config, child(path, 'config'), { check: checkReferences }),
  ]
}

/** Returns the names of the requests. The alternatives of a request are named `request/alternative`. */
export function requestNames({ devices: { requests = [] } = {} }: ResourceClaimSpec): ReadonlySet<string> {
  return new Set(
    requests.flatMap(({ name = '', firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((each) => `${name}/${each.name ?? ''}`),
    ]),
  )
}

/** Validates a reference to a request or to one of its alternatives. */
export function checkRequestName(name: string, names: ReadonlySet<string>, path: FieldPath): FieldError[] {
  return names.has(name) ? [] : [invalid(path, name, 'must be the name of a request, or `request/alternative`')]
}

function checkConstraint(
  { matchAttribute, distinctAttribute }: InferFields<typeof constraintFields>,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  if (matchAttribute !== undefined) return checkFullName(matchAttribute, child(path, 'matchAttribute'), context)
  if (distinctAttribute !== undefined)
    return checkFullName(distinctAttribute, child(path, 'distinctAttribute'), context)
  if (!isEnabled('DRAConsumableCapacity', context)) return [required(child(path, 'matchAttribute'))]
  return [required(path, 'exactly one of `matchAttribute` and `distinctAttribute` is required')]
}

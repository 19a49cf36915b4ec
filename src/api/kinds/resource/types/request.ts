/** A DeviceRequest describes devices that a claim requests, either exactly or as a list of alternatives. */
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../../model/field-error.ts'
import { checkDnsSubdomain, checkLabelValue } from '../../../model/names.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkLabelKey } from '../../../selectors/label-rules.ts'
import { checkList, checkName, checkRequired, keyFieldOf } from './lists.ts'
import { deviceSelector } from './selector.ts'

const operators = ['Equal', 'Exists']

/** Returns the effects of device taints. The effect `None`, which has no consequences, was added in 1.36. */
export function taintEffects(context: RuleContext): readonly string[] {
  return ['NoExecute', 'NoSchedule', ...(isSince('1.36', context) ? ['None'] : [])]
}

const tolerationFields = {
  key: field(1, s.string(), {
    doc: 'Key of the taint. If empty, the operator must be `Exists`, and taints with any key match.',
  }),
  operator: field(2, s.string(), {
    default: 'Equal',
    doc: "How to compare the taint's value: `Equal` (the default) requires the same value, and `Exists` accepts any value.",
  }),
  value: field(3, s.string(), { doc: 'Value of the taint. Must be empty if the operator is `Exists`.' }),
  effect: field(4, s.string(), { doc: 'Effect of the taint. If empty, taints with any effect match.' }),
  tolerationSeconds: field(5, s.int64(), {
    zeroValue: 'keep',
    doc: 'Number of seconds for which a NoExecute taint is tolerated. If unset, the taint is tolerated forever.',
  }),
}

export const deviceToleration = s.object(tolerationFields, {
  name: 'DeviceToleration',
  doc: 'Allows a request to use devices with matching taints.',
  check: checkToleration,
})

const capacity = s.object(
  { requests: field(1, s.map(s.quantity()), { doc: 'Requested amount of each capacity.' }) },
  { name: 'CapacityRequirements', doc: 'The amounts of device capacities that are requested.' },
)

const subRequest = {
  deviceClassName: { zeroValue: 'write', doc: 'Name of the DeviceClass to which the devices must belong.' } as const,
  selectors: {
    doc: 'Selectors, all of which a device must match in addition to the selectors of its class.',
  },
  allocationMode: {
    doc: 'How many devices to allocate: `ExactCount` (the default; see `count`) or `All` (every matching device).',
  },
  count: { doc: 'Number of devices to allocate if the allocation mode is `ExactCount`. Defaults to 1.' },
  tolerations: {
    gate: 'DRADeviceTaints',
    gateDrops: '1.36',
    doc: 'Device taints that the request tolerates.',
  } as const,
  capacity: {
    since: '1.34',
    gate: 'DRAConsumableCapacity',
    doc: 'Amounts of capacity that are requested from each device.',
  } as const,
}

export const exactFields = {
  deviceClassName: field(1, s.string(), subRequest.deviceClassName),
  selectors: field(2, s.list(deviceSelector), subRequest.selectors),
  allocationMode: field(3, s.string(), subRequest.allocationMode),
  count: field(4, s.int64(), subRequest.count),
  adminAccess: field(5, s.boolean(), {
    zeroValue: 'keep',
    gate: 'DRAAdminAccess',
    doc: 'Whether to request administrative access to devices, even if they are in use. Requires a label on the namespace.',
  }),
  tolerations: field(6, s.list(deviceToleration), subRequest.tolerations),
  capacity: field(7, capacity, subRequest.capacity),
}

const exact = s.object(exactFields, {
  name: 'ExactDeviceRequest',
  doc: 'A request for devices of one class.',
  fill: fillCount,
  check: checkDevices,
})

export const alternativeFields = {
  name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the alternative, unique within the request.' }),
  deviceClassName: field(2, s.string(), subRequest.deviceClassName),
  selectors: field(3, s.list(deviceSelector), subRequest.selectors),
  allocationMode: field(4, s.string(), subRequest.allocationMode),
  count: field(5, s.int64(), subRequest.count),
  tolerations: field(6, s.list(deviceToleration), subRequest.tolerations),
  capacity: field(7, capacity, subRequest.capacity),
}

const alternative = s.object(alternativeFields, {
  name: 'DeviceSubRequest',
  doc: 'One of several alternatives for satisfying a request.',
  fill: fillCount,
  check: (value, path) => [...checkName(value.name ?? '', child(path, 'name')), ...checkDevices(value, path)],
})

export const requestFields = {
  name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the request, unique within the claim.' }),
  exactly: field(2, exact, { doc: 'Request for devices of one class. Mutually exclusive with `firstAvailable`.' }),
  firstAvailable: field(3, s.list(alternative), {
    gate: 'DRAPrioritizedList',
    doc: 'Alternatives, in order of preference. At most 8 alternatives. Mutually exclusive with `exactly`.',
  }),
}

export type DeviceRequest = InferFields<typeof requestFields>

export const deviceRequest = s.object(requestFields, {
  name: 'DeviceRequest',
  doc: 'A request for devices in a claim.',
  check: checkRequest,
})

const maxAlternatives = 8
const oneForm = 'exactly one of `exactly` and `firstAvailable` is required'

function checkRequest(
  { name = '', exactly, firstAvailable = [] }: DeviceRequest,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const hasAlternatives = firstAvailable.length > 0
  return [
    ...checkName(name, child(path, 'name')),
    ...(exactly === undefined && !hasAlternatives ? [required(path, oneForm)] : []),
    ...(exactly !== undefined && hasAlternatives ? [invalid(path, undefined, oneForm)] : []),
    ...checkList(firstAvailable, child(path, 'firstAvailable'), {
      max: maxAlternatives,
      key: ({ name: own = '' }) => own,
      keyField: keyFieldOf('name', context),
    }),
  ]
}

type Devices = Pick<InferFields<typeof exactFields>, 'deviceClassName' | 'selectors' | 'allocationMode' | 'count'>

function fillCount(value: Devices): void {
  value.allocationMode ||= 'ExactCount'
  if (value.allocationMode === 'ExactCount') value.count ||= 1
}

function checkDevices(value: Devices, path: FieldPath): FieldError[] {
  const { deviceClassName = '', selectors, allocationMode: mode = '', count = 0 } = value
  const place = child(path, 'count')
  return [
    ...checkRequired(deviceClassName, child(path, 'deviceClassName'), checkDnsSubdomain),
    ...checkList(selectors, child(path, 'selectors'), {}),
    ...(mode === 'All' && count !== 0 ? [invalid(place, count, 'must not be set with allocation mode `All`')] : []),
    ...(mode === 'ExactCount' && count <= 0 ? [invalid(place, count, 'must be greater than zero')] : []),
    ...(['All', 'ExactCount'].includes(mode)
      ? []
      : [notSupported(child(path, 'allocationMode'), mode, ['All', 'ExactCount'])]),
  ]
}

function checkToleration(
  { key = '', operator = '', value = '', effect = '' }: InferFields<typeof tolerationFields>,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const effects = taintEffects(context)
  return [
    ...(key === '' ? [] : checkLabelKey(key, child(path, 'key'))),
    ...(operator === 'Exists' && value !== ''
      ? [invalid(child(path, 'value'), value, 'must be empty with operator `Exists`')]
      : []),
    ...(operator === 'Equal' ? checkName(value, child(path, 'value'), checkLabelValue) : []),
    ...(operators.includes(operator) ? [] : [notSupported(child(path, 'operator'), operator, operators)]),
    ...(effect === '' || effects.includes(effect) ? [] : [notSupported(child(path, 'effect'), effect, effects)]),
  ]
}

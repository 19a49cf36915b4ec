/** DeviceRequest: devices that a claim requests, either exactly or as a list of alternatives. */
import { child, type FieldError, type FieldPath, invalid, notSupported, required } from '../../../model/field-error.ts'
import { checkDnsSubdomain, checkLabelValue } from '../../../model/names.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkLabelKey } from '../../../selectors/label-rules.ts'
import { checkList, checkName, checkRequired, keyFieldOf } from './lists.ts'
import { deviceSelector } from './selector.ts'

const operators = ['Equal', 'Exists']

/** Returns the effects of device taints. Since 1.36, an effect can have no consequences. */
export function taintEffects(context: RuleContext): readonly string[] {
  return ['NoExecute', 'NoSchedule', ...(isSince('1.36', context) ? ['None'] : [])]
}

const tolerationFields = {
  key: field(1, s.string(), { doc: 'Key of the taint. Empty matches all keys, with operator `Exists`.' }),
  operator: field(2, s.string(), {
    default: 'Equal',
    doc: 'Comparison of the value: `Equal` (the default) or `Exists`.',
  }),
  value: field(3, s.string(), { doc: 'Value of the taint. Must be empty with operator `Exists`.' }),
  effect: field(4, s.string(), { doc: 'Effect of the taint. Empty matches all effects.' }),
  tolerationSeconds: field(5, s.int64(), {
    zeroValue: 'keep',
    doc: 'Seconds for which a NoExecute taint is tolerated. Unset means forever.',
  }),
}

export const deviceToleration = s.object(tolerationFields, {
  name: 'DeviceToleration',
  doc: 'A taint of devices that a request tolerates.',
  check: checkToleration,
})

const capacity = s.object(
  { requests: field(1, s.map(s.quantity()), { doc: 'Requested amount of each capacity.' }) },
  { name: 'CapacityRequirements', doc: 'Requested amounts of the capacities of a device.' },
)

const subRequest = {
  deviceClassName: { zeroValue: 'write', doc: 'Name of the DeviceClass that describes suitable devices.' } as const,
  selectors: { doc: 'Selectors that a device must all match, in addition to those of the class.' },
  allocationMode: { doc: 'Number of devices: `ExactCount` (the default, see `count`) or `All` matching devices.' },
  count: { doc: 'Number of devices with allocation mode `ExactCount`. Defaults to 1.' },
  tolerations: {
    gate: 'DRADeviceTaints',
    gateDrops: '1.36',
    doc: 'Taints of devices that the request tolerates.',
  } as const,
  capacity: {
    since: '1.34',
    gate: 'DRAConsumableCapacity',
    doc: 'Requested amounts of the capacities of each device.',
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
    doc: 'Whether to access devices in use for administration. Requires a label on the namespace.',
  }),
  tolerations: field(6, s.list(deviceToleration), subRequest.tolerations),
  capacity: field(7, capacity, subRequest.capacity),
}

const exact = s.object(exactFields, {
  name: 'ExactDeviceRequest',
  doc: 'Devices of one class.',
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
  doc: 'One of several alternatives of a request.',
  fill: fillCount,
  check: (value, path) => [...checkName(value.name ?? '', child(path, 'name')), ...checkDevices(value, path)],
})

export const requestFields = {
  name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the request, unique within the claim.' }),
  exactly: field(2, exact, { doc: 'Devices of one class. Mutually exclusive with `firstAvailable`.' }),
  firstAvailable: field(3, s.list(alternative), {
    gate: 'DRAPrioritizedList',
    doc: 'Alternatives in order of preference, at most 8. Mutually exclusive with `exactly`.',
  }),
}

export type DeviceRequest = InferFields<typeof requestFields>

export const deviceRequest = s.object(requestFields, {
  name: 'DeviceRequest',
  doc: 'Devices that a claim requests.',
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

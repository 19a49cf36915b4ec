/** A device in a ResourceSlice, with its attributes, capacities, taints and location. */
import { keysOf } from '../../../json/json.ts'
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../model/field-error.ts'
import { checkLabelValue } from '../../../model/names.ts'
import { isSemanticVersion } from '../../../model/semantic-version.ts'
import { isEnabled, isSince, type RuleContext } from '../../../schema/context.ts'
import { isExplicitlyEmpty } from '../../../schema/explicit-empty.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkLabelKey } from '../../../selectors/label-rules.ts'
import { nodeSelector } from '../../core/types/node-selector.ts'
import { checkBindingConditions } from './binding-conditions.ts'
import { counterConsumption } from './counters.ts'
import { checkCapacity, deviceCapacity } from './device-capacity.ts'
import { checkAttributeName, checkList, checkName, keyFieldOf, maxElements } from './lists.ts'
import { taintEffects } from './request.ts'

const listed = { since: '1.36', gate: 'DRAListTypeAttributes', emptyCounts: true } as const
const listAttributes = ['ints', 'bools', 'strings', 'versions'] as const

const attributeFields = {
  int: field(2, s.int64(), { zeroValue: 'keep', doc: 'Integer value of the attribute.' }),
  bool: field(3, s.boolean(), { zeroValue: 'keep', doc: 'Boolean value of the attribute.' }),
  string: field(4, s.string(), { zeroValue: 'keep', doc: 'String value of the attribute. At most 64 bytes.' }),
  version: field(5, s.string(), {
    zeroValue: 'keep',
    doc: 'Value of the attribute, as a semantic version. At most 64 bytes.',
  }),
  ints: field(6, s.list(s.int64()), { ...listed, doc: 'List of integers as the value of the attribute.' }),
  bools: field(7, s.list(s.boolean()), { ...listed, doc: 'List of booleans as the value of the attribute.' }),
  strings: field(8, s.list(s.string()), { ...listed, doc: 'List of strings as the value of the attribute.' }),
  versions: field(9, s.list(s.string()), {
    ...listed,
    doc: 'List of semantic versions as the value of the attribute.',
  }),
}

const attribute = s.object(attributeFields, {
  name: 'DeviceAttribute',
  doc: 'The value of a device attribute. Exactly one field must be set.',
  check: checkAttribute,
})

const taintFields = {
  key: field(1, s.string(), { zeroValue: 'write', doc: 'Key of the taint.' }),
  value: field(2, s.string(), { doc: 'Value of the taint.' }),
  effect: field(3, s.string(), {
    zeroValue: 'write',
    doc: 'Effect on claims that do not tolerate the taint: `None`, `NoSchedule` or `NoExecute`.',
  }),
  timeAdded: field(4, s.time(), { doc: 'Time when the taint was added. The server sets the time if it is missing.' }),
}

export const deviceTaint = s.object(taintFields, {
  name: 'DeviceTaint',
  doc: 'A mark on a device that repels claims unless they tolerate the taint.',
  check: checkTaint,
})

const mapping = s.object(
  {
    capacityKey: field(1, s.string(), {
      zeroValue: 'keep',
      doc: 'Name of the device capacity from which the amount is computed.',
    }),
    allocationMultiplier: field(2, s.quantity(), {
      zeroValue: 'keep',
      doc: 'Amount of the node resource for each unit of the capacity, or for each device if no capacity is set.',
    }),
  },
  { name: 'NodeAllocatableResourceMapping', doc: 'Specifies how much of a node resource a device uses.' },
)

const bindingGates = ['DRADeviceBindingConditions', 'DRAResourceClaimDeviceStatus'] as const

export const deviceFields = {
  name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the device, unique within its pool.' }),
  attributes: field(2, s.map(attribute), {
    doc: 'Attributes of the device, keyed by name. A name may have a domain prefix.',
  }),
  capacity: field(3, s.map(deviceCapacity), {
    doc: 'Capacities of the device, keyed by name. A name may have a domain prefix.',
  }),
  consumesCounters: field(4, s.list(counterConsumption), {
    gate: 'DRAPartitionableDevices',
    doc: 'Amounts of shared counters that the device consumes when it is allocated.',
  }),
  nodeName: field(5, s.string(), {
    zeroValue: 'keep',
    gate: 'DRAPartitionableDevices',
    doc: 'Name of the node from which the device is accessible. Requires `perDeviceNodeSelection`.',
  }),
  nodeSelector: field(6, nodeSelector, {
    gate: 'DRAPartitionableDevices',
    doc: 'Nodes from which the device is accessible. Requires `perDeviceNodeSelection`.',
  }),
  allNodes: field(7, s.boolean(), {
    zeroValue: 'keep',
    gate: 'DRAPartitionableDevices',
    doc: 'Whether the device is accessible from all nodes. Requires `perDeviceNodeSelection`.',
  }),
  taints: field(8, s.list(deviceTaint), { gate: 'DRADeviceTaints', doc: 'Taints on the device. At most 16 taints.' }),
  bindsToNode: field(9, s.boolean(), {
    zeroValue: 'keep',
    since: '1.34',
    gate: bindingGates,
    doc: 'Whether allocating the device restricts the claim to the node of the pod.',
  }),
  bindingConditions: field(10, s.list(s.string()), {
    since: '1.34',
    gate: bindingGates,
    doc: 'Conditions that must be true before pods are bound to a node. At most 4 conditions.',
  }),
  bindingFailureConditions: field(11, s.list(s.string()), {
    since: '1.34',
    gate: bindingGates,
    doc: 'Conditions that cause the binding of pods to fail if they are true. At most 4 conditions.',
  }),
  allowMultipleAllocations: field(12, s.boolean(), {
    zeroValue: 'keep',
    since: '1.34',
    gate: 'DRAConsumableCapacity',
    doc: 'Whether the device can be allocated to several requests at the same time.',
  }),
  nodeAllocatableResourceMappings: field(13, s.map(mapping), {
    since: '1.36',
    gate: 'DRANodeAllocatableResources',
    doc: 'Node resources that the device uses, keyed by resource name.',
  }),
}

export type Device = InferFields<typeof deviceFields>

export const device = s.object(deviceFields, {
  name: 'Device',
  doc: 'A device with its attributes and capacities.',
  check: checkDevice,
})

const maxTextLength = 64
const maxTaints = 16
const maxConsumptions = 2
/** Maximum number of attribute values per device. Each list element counts. */
const maxValues = 48

function checkDevice(value: Device, path: FieldPath, context: RuleContext): FieldError[] {
  const { name = '', attributes = {}, capacity = {} } = value
  const places = { attributes: child(path, 'attributes'), capacity: child(path, 'capacity') }
  const count = Object.keys(attributes).length + Object.keys(capacity).length
  const values = Object.values(attributes).reduce((sum, attribute) => sum + valueCount(attribute), 0)
  return [
    ...checkName(name, child(path, 'name')),
    ...(count > maxElements
      ? [invalid(path, count, `the total number of attributes and capacities must not exceed ${maxElements}`)]
      : []),
    ...(values > maxValues && isEnabled(listed.gate, context)
      ? [invalid(path, values, `the total number of attribute values must not exceed ${maxValues}`)]
      : []),
    ...Object.keys(attributes).flatMap((key) =>
      checkAttributeName(key, pathOfName(places.attributes, key, context), context),
    ),
    ...Object.entries(capacity).flatMap(([key, each]) => [
      ...checkAttributeName(key, pathOfName(places.capacity, key, context), context),
      ...checkCapacity(each, {
        isShared: value.allowMultipleAllocations === true,
        path: at(places.capacity, key),
      }),
    ]),
    ...checkList(value.taints, child(path, 'taints'), { max: maxTaints }),
    ...checkList(value.consumesCounters, child(path, 'consumesCounters'), {
      max: maxConsumptions,
      key: ({ counterSet = '' }) => counterSet,
      keyField: keyFieldOf('counterSet', context),
    }),
    ...checkBindingConditions(value, path),
  ]
}

/** Returns the path for errors in the name of an attribute or capacity. Since 1.36, this is the path of the map. */
function pathOfName(path: FieldPath, name: string, context: RuleContext): FieldPath {
  return isSince('1.36', context) ? path : at(path, name)
}

const oneValue = 'exactly one value must be specified'

function checkAttribute(
  value: InferFields<typeof attributeFields>,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const empty = listAttributes.filter((name) => isEnabled(listed.gate, context) && isExplicitlyEmpty(value, name))
  const names = keysOf(value).filter((name) => value[name] !== undefined)
  const count = new Set([...empty, ...names]).size
  const { string, version: text, strings = [], versions = [] } = value
  return [
    ...empty.map((name) => invalid(child(path, name), [], 'must not be empty if specified')),
    ...(count === 0 && !isSince('1.36', context) ? [required(path, oneValue)] : []),
    ...(count > 1 || (count === 0 && isSince('1.36', context)) ? [invalid(path, value, oneValue)] : []),
    ...(string === undefined ? [] : checkText(string, child(path, 'string'))),
    ...(text === undefined ? [] : checkVersion(text, child(path, 'version'))),
    ...strings.flatMap((each, i) => checkText(each, at(child(path, 'strings'), i))),
    ...versions.flatMap((each, i) => checkVersion(each, at(child(path, 'versions'), i))),
  ]
}

/** Returns the number of values that an attribute counts as: its list elements, or 1 for a single value. */
function valueCount(attribute: InferFields<typeof attributeFields>): number {
  const count = listAttributes.reduce((sum, name) => sum + (attribute[name] ?? []).length, 0)
  return count === 0 ? 1 : count
}

/** Whether the device has an attribute whose value is a list. */
export function hasListAttributes({ attributes = {} }: Device): boolean {
  return Object.values(attributes).some((attribute) => listAttributes.some((name) => attribute[name] !== undefined))
}

function checkText(text: string, path: FieldPath): FieldError[] {
  return Buffer.byteLength(text) > maxTextLength ? [tooLong(path, maxTextLength)] : []
}

function checkVersion(text: string, path: FieldPath): FieldError[] {
  return [
    ...(isSemanticVersion(text) ? [] : [invalid(path, text, 'must be a semantic version')]),
    ...checkText(text, path),
  ]
}

function checkTaint(
  { key = '', value = '', effect = '' }: InferFields<typeof taintFields>,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const effects = taintEffects(context)
  const place = child(path, 'effect')
  return [
    ...checkLabelKey(key, child(path, 'key')),
    ...checkName(value, child(path, 'value'), checkLabelValue),
    ...(effect === '' ? [required(place)] : []),
    ...(effect === '' || effects.includes(effect) ? [] : [notSupported(place, effect, effects)]),
  ]
}

/**
 * A ResourceSlice lists devices that a driver offers, either on one node or for several nodes. All slices of a pool
 * belong together.
 */
import { at, child, type FieldError, invalid, required } from '../../model/field-error.ts'
import { checkDnsSubdomain } from '../../model/names.ts'
import { timestamp } from '../../model/object.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { PrepareContext, RuleContext } from '../../schema/context.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { nodeSelector } from '../core/types/node-selector.ts'
import { checkDriverName } from '../core/types/volumes/storage-systems.ts'
import { countsGeneration } from '../generation.ts'
import { immutableField } from '../immutable.ts'
import { counterSet } from './types/counters.ts'
import { type Device, device, hasListAttributes } from './types/device.ts'
import { checkList, checkName, checkPoolName, keyFieldOf } from './types/lists.ts'

const pool = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the pool. Immutable.' }),
    generation: field(2, s.int64(), {
      zeroValue: 'write',
      doc: 'Generation of the pool. Only slices with the highest generation are in effect.',
    }),
    resourceSliceCount: field(3, s.int64(), {
      zeroValue: 'write',
      doc: 'Number of slices that the pool has in this generation. Must be at least 1.',
    }),
  },
  {
    name: 'ResourcePool',
    doc: 'The pool to which a slice belongs.',
    check: ({ name = '', generation = 0, resourceSliceCount: count = 0 }, path) => [
      ...checkPoolName(name, child(path, 'name')),
      ...(count > 0 ? [] : [invalid(child(path, 'resourceSliceCount'), count, 'must be greater than zero')]),
      ...(generation < 0
        ? [invalid(child(path, 'generation'), generation, 'must be greater than or equal to zero')]
        : []),
    ],
  },
)

export const sliceSpecFields = {
  driver: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the driver that offers the devices. Immutable.' }),
  pool: field(2, pool, { zeroValue: 'write', published: 'required', doc: 'Pool to which the slice belongs.' }),
  nodeName: field(3, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the node from which the devices are accessible. Immutable.',
  }),
  nodeSelector: field(4, nodeSelector, {
    doc: 'Node selector for the nodes from which the devices are accessible. Must have exactly one term.',
  }),
  allNodes: field(5, s.boolean(), { zeroValue: 'keep', doc: 'Whether the devices are accessible from all nodes.' }),
  devices: field(6, s.list(device), {
    doc: 'Devices in the slice. At most 128 devices, or 64 if any device has taints, consumes counters or has list attributes.',
  }),
  perDeviceNodeSelection: field(7, s.boolean(), {
    zeroValue: 'keep',
    since: '1.33',
    gate: 'DRAPartitionableDevices',
    doc: 'Whether each device specifies the nodes from which it is accessible.',
  }),
  sharedCounters: field(8, s.list(counterSet), {
    since: '1.33',
    gate: 'DRAPartitionableDevices',
    doc: 'Sets of counters that devices in the pool consume. At most 8 sets. A slice contains either counter sets or devices.',
  }),
}

type Spec = InferFields<typeof sliceSpecFields>

const spec = s.object(sliceSpecFields, {
  name: 'ResourceSliceSpec',
  doc: 'Specification of a ResourceSlice.',
  check: (value, path, context) => checkSpec(value, path, context),
})

export const sliceFields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Devices in the slice, and the nodes from which they are accessible.',
  }),
}

export type ResourceSlice = ObjectOf<typeof sliceFields>

const { prepareForCreate, prepareForUpdate, ...rules } = countsGeneration(({ spec }: ResourceSlice) => spec, {
  validateUpdate: ({ spec: next = {} }, { spec: previous = {} }) => [
    ...immutableField('spec.driver', next.driver, previous.driver),
    ...immutableField('spec.nodeName', next.nodeName, previous.nodeName),
    ...immutableField('spec.pool.name', next.pool?.name, previous.pool?.name),
  ],
})

export const resourceSlice = defineKind({
  names: { group: 'resource', version: 'v1', kind: 'ResourceSlice', plural: 'resourceslices', scope: 'Cluster' },
  since: '1.34',
  doc: 'A set of devices that a driver offers on one or more nodes.',
  fields: sliceFields,
  rules: {
    ...rules,
    prepareForCreate: (object, context) => {
      addTimes(object, context)
      prepareForCreate(object, context)
    },
    prepareForUpdate: (next, previous, context) => {
      addTimes(next, context)
      prepareForUpdate(next, previous, context)
    },
  },
  lifecycle: { deleteAnswers: 'object' },
  views: {
    columns: [
      nameColumn,
      column(
        'Node',
        'Name of the node from which the devices are accessible.',
        ({ spec }: ResourceSlice) => spec?.nodeName ?? '',
      ),
      column('Driver', 'Name of the driver that offers the devices.', ({ spec }: ResourceSlice) => spec?.driver ?? ''),
      column(
        'Pool',
        'Name of the pool to which the slice belongs.',
        ({ spec }: ResourceSlice) => spec?.pool?.name ?? '',
      ),
      ageColumn,
    ],
    selectable: ({ spec = {} }) => ({ 'spec.driver': spec.driver ?? '', 'spec.nodeName': spec.nodeName ?? '' }),
  },
})

/** Sets the time of taints that do not have one. */
function addTimes({ spec }: ResourceSlice, { now }: PrepareContext): void {
  for (const { taints = [] } of spec?.devices ?? []) for (const taint of taints) taint.timeAdded ??= timestamp(now)
}

const maxDevices = 128
const maxDevicesWithDetails = 64
const maxCounterSets = 8
const locations = ['nodeName', 'nodeSelector', 'allNodes'] as const
const oneLocation = 'exactly one of `nodeName`, `nodeSelector`, `allNodes` and `perDeviceNodeSelection` is required'

function checkSpec(value: Spec, path: string, context: RuleContext): FieldError[] {
  const { driver = '', devices = [], sharedCounters = [] } = value
  const isDetailed = devices.some(
    (each) => each.taints?.length || each.consumesCounters?.length || hasListAttributes(each),
  )
  return [
    ...checkDriverName(driver, child(path, 'driver'), context),
    ...checkLocation(value, path, { names: [...locations, 'perDeviceNodeSelection'], text: oneLocation }),
    ...checkTermCount(value, path),
    ...checkList(devices, child(path, 'devices'), {
      max: isDetailed ? maxDevicesWithDetails : maxDevices,
      key: ({ name = '' }) => name,
      keyField: keyFieldOf('name', context),
    }),
    ...devices
      .slice(0, maxDevices)
      .flatMap((each, i) => checkDeviceLocation(each, value, at(child(path, 'devices'), i))),
    ...checkList(sharedCounters, child(path, 'sharedCounters'), {
      max: maxCounterSets,
      key: ({ name = '' }) => name,
      keyField: keyFieldOf('name', context),
    }),
    ...(sharedCounters.length > 0 && devices.length > 0
      ? [invalid(path, '', 'only one of `sharedCounters` and `devices` is allowed')]
      : []),
  ]
}

const perDevice = 'exactly one of `nodeName`, `nodeSelector` and `allNodes` is required with `perDeviceNodeSelection`'

function checkDeviceLocation(value: Device, { perDeviceNodeSelection }: Spec, path: string): FieldError[] {
  if (perDeviceNodeSelection) return checkLocation(value, path, { names: locations, text: perDevice })
  return locations.some((name) => value[name] !== undefined)
    ? [invalid(path, undefined, 'the device may specify its nodes only if `perDeviceNodeSelection` is set')]
    : []
}

type Location = Pick<Spec, 'nodeName' | 'nodeSelector' | 'allNodes' | 'perDeviceNodeSelection'>

/** Requires exactly one term in the selector of a slice, so that the selectors of multiple slices can be combined. */
function checkTermCount({ nodeSelector: selector }: Spec, path: string): FieldError[] {
  const terms = selector?.nodeSelectorTerms ?? []
  return selector === undefined || terms.length === 1
    ? []
    : [invalid(child(path, 'nodeSelector.nodeSelectorTerms'), terms, 'must have exactly one term')]
}

/**
 * Requires exactly one of the fields that specify where the devices are. A boolean that is explicitly false is an
 * error.
 */
function checkLocation(
  value: Location,
  path: string,
  { names, text }: { readonly names: readonly (keyof Location)[]; readonly text: string },
): FieldError[] {
  const set = names.filter((name) => Boolean(value[name]))
  const { nodeName } = value
  return [
    ...(nodeName === undefined ? [] : checkName(nodeName, child(path, 'nodeName'), checkDnsSubdomain)),
    ...(['allNodes', 'perDeviceNodeSelection'] as const)
      .filter((name) => value[name] === false)
      .map((name) => invalid(child(path, name), false, 'must be either unset or true')),
    ...(set.length === 0 ? [required(path, text)] : []),
    ...(set.length > 1 ? [invalid(path, set, text)] : []),
  ]
}

export const resourceSliceV1beta2 = defineVersion(resourceSlice, {
  version: 'v1beta2',
  fields: sliceFields,
  since: '1.33',
  optIn: true,
})

/** A CSINode lists the Container Storage Interface drivers installed on a node. The object has the name of the node. */

import { defined, sameJson } from '../../json/json.ts'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  maxFaults,
  required,
} from '../../model/field-error.ts'
import { checkQualifiedName } from '../../model/names.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { checkDriverName } from '../core/types/volumes/storage-systems.ts'
import { byName } from '../list-keys.ts'

const maxNodeIdLength = 256

const allocatable = s.object(
  {
    count: field(1, s.int32(), {
      zeroValue: 'keep',
      doc: "Maximum number of the driver's volumes that the node can use at the same time. If unset, there is no limit.",
    }),
  },
  {
    name: 'VolumeNodeResources',
    doc: "Limits on a driver's volumes on a node.",
    check: ({ count = 0 }, path) =>
      count >= 0 ? [] : [invalid(child(path, 'count'), count, 'must be greater than or equal to 0')],
  },
)

const driverFields = {
  name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the driver.' }),
  nodeID: field(2, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'ID by which the driver identifies the node. At most 256 characters.',
  }),
  topologyKeys: field(3, s.list(s.string()), {
    zeroValue: 'write',
    published: 'optional',
    doc: "Keys of the node labels that describe the driver's topology.",
  }),
  allocatable: field(4, allocatable, { doc: "Limits on the driver's volumes on the node." }),
}

const driver = s.object(driverFields, {
  name: 'CSINodeDriver',
  doc: 'A CSI driver that is installed on a node.',
  check: checkDriver,
})

type Driver = InferFields<typeof driverFields>

const drivers = s.list(driver, byName)

const spec = s.object(
  {
    drivers: field(1, drivers, {
      zeroValue: 'write',
      published: 'required',
      doc: 'CSI drivers that are installed on the node. Each driver has a unique name.',
    }),
  },
  {
    name: 'CSINodeSpec',
    doc: 'Specification of a CSINode.',
    check: ({ drivers = [] }, path) => checkNames(drivers, child(path, 'drivers')),
  },
)

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'CSI drivers that are installed on the node.',
  }),
}

export type CSINode = ObjectOf<typeof fields>

export const csiNode = defineKind({
  names: {
    group: 'storage',
    version: 'v1',
    kind: 'CSINode',
    plural: 'csinodes',
    scope: 'Cluster',
  },
  doc: 'The Container Storage Interface (CSI) drivers that are installed on the node with the same name.',
  fields,
  rules: {
    validateUpdate: ({ spec: next }, { spec: previous }, context) =>
      checkSameDrivers(next?.drivers ?? [], previous?.drivers ?? [], context),
  },
  lifecycle: {
    needsVersion: true,
    deleteAnswers: 'object',
  },
  views: {
    columns: [
      nameColumn,
      {
        ...column(
          'Drivers',
          'Number of CSI drivers that are installed on the node.',
          ({ spec }: CSINode) => spec?.drivers?.length ?? 0,
        ),
        type: 'integer',
      },
      ageColumn,
    ],
  },
})

function checkDriver(
  { name = '', nodeID = '', topologyKeys = [] }: Driver,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  return [
    ...checkDriverName(name, child(path, 'name'), context),
    ...(nodeID.length > maxNodeIdLength
      ? [invalid(child(path, 'nodeID'), nodeID, `must be ${maxNodeIdLength} characters or less`)]
      : []),
    ...checkTopologyKeys(topologyKeys, path),
  ]
}

/** Errors are reported for the driver instead of its topologyKeys, because clients expect that path. */
function checkTopologyKeys(keys: readonly string[], path: FieldPath): FieldError[] {
  const repeated = repeatedAt(keys)
  return keys
    .slice(0, maxFaults)
    .flatMap((key, i) => [
      ...(key === '' ? [required(path)] : []),
      ...(repeated.has(i) ? [duplicate(path, key)] : []),
      ...checkQualifiedName(key).map((fault) => invalid(path, key, fault)),
    ])
}

function checkNames(drivers: readonly Driver[], path: FieldPath): FieldError[] {
  const names = drivers.map(({ name = '' }) => name)
  return [...repeatedAt(names)].map((i) => duplicate(child(at(path, i), 'name'), names[i]!))
}

/**
 * Drivers can be added and removed. The volume limits of an existing driver may change if the feature gate is enabled.
 * All other fields of a driver are immutable.
 */
function checkSameDrivers(next: readonly Driver[], previous: readonly Driver[], context: RuleContext): FieldError[] {
  const { version, gates } = emulationOf(context)
  const mayChangeLimits = gates.has('MutableCSINodeAllocatableCount')
  const stored = new Map(previous.map((each) => [each.name, each]))
  return next.flatMap((each, i) => {
    const before = stored.get(each.name)
    if (before === undefined) return []
    const after = mayChangeLimits ? { ...each, allocatable: before.allocatable } : each
    if (sameJson(defined(after), before)) return []
    const path = isAtLeast(version, '1.33') ? 'spec.drivers' : at('spec.drivers', i)
    return [invalid(path, each, 'field is immutable')]
  })
}

/**
 * A StorageClass provisions volumes on demand. The provisioner, parameters, reclaim policy and volume binding mode are
 * immutable, so that they always describe existing volumes correctly.
 */

import { sameJson } from '../../json/json.ts'
import { type FieldError, forbidden, invalid, notSupported } from '../../model/field-error.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { oldLabelWarnings } from '../core/types/old-labels.ts'
import { checkTopologyTerms, topologyLabels, topologySelectorTerm } from '../core/types/topology-selector.ts'
import { immutableField } from '../immutable.ts'
import { checkParameters, checkProvisioner } from './types/class-rules.ts'

const reclaimPolicies = ['Delete', 'Retain']

const fields = {
  provisioner: field(2, s.string(), {
    required: true,
    zeroValue: 'write',
    doc: 'Qualified name of the provisioner that creates the volumes, for example `example.com/disks`. Immutable.',
  }),
  parameters: field(3, s.map(s.string()), {
    doc: 'Parameters for the provisioner. At most 512 entries, with a total of at most 256 KiB. Immutable.',
  }),
  reclaimPolicy: field(4, s.string(), {
    zeroValue: 'keep',
    default: 'Delete',
    doc: 'What to do with a volume when its claim is deleted: `Delete` (the default) or `Retain`. Immutable.',
  }),
  mountOptions: field(5, s.list(s.string()), {
    doc: 'Mount options for the volumes, such as `ro`. The server does not validate the options.',
  }),
  allowVolumeExpansion: field(6, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether claims in this class may be expanded.',
  }),
  volumeBindingMode: field(7, s.oneOf('Immediate', 'WaitForFirstConsumer'), {
    zeroValue: 'keep',
    default: 'Immediate',
    doc: 'When claims are bound: immediately (`Immediate`, the default), or when the first pod that uses the claim is scheduled (`WaitForFirstConsumer`). Immutable.',
  }),
  allowedTopologies: field(8, s.list(topologySelectorTerm), {
    doc: 'Topologies in which volumes may be provisioned. At least one must match. If unset, volumes may be provisioned in any topology.',
  }),
}

export type StorageClass = ObjectOf<typeof fields>

/** Returns whether claims that do not name a class use this class. The older beta annotation is also supported. */
function isDefaultClass({ metadata }: Pick<StorageClass, 'metadata'>, vendor: Vendor): boolean {
  const marks = ['storageclass', 'storageclass.beta'].map((part) => vendorKey(vendor, 'is-default-class', part))
  return marks.some((mark) => metadata.annotations?.[mark] === 'true')
}

const columns: readonly Column<StorageClass>[] = [
  {
    ...nameColumn,
    cell: (object, _, vendor) => `${object.metadata.name}${isDefaultClass(object, vendor) ? ' (default)' : ''}`,
  },
  column('Provisioner', 'Name of the provisioner that creates the volumes.', ({ provisioner }) => provisioner ?? ''),
  column(
    'ReclaimPolicy',
    'What happens to a volume when its claim is deleted.',
    ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete',
  ),
  column(
    'VolumeBindingMode',
    'When claims are bound and their volumes are provisioned.',
    ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate',
  ),
  column(
    'AllowVolumeExpansion',
    'Whether claims may be expanded.',
    ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
  ),
  ageColumn,
]

export const storageClass = defineKind({
  names: {
    group: 'storage',
    version: 'v1',
    kind: 'StorageClass',
    plural: 'storageclasses',
    shortNames: ['sc'],
    scope: 'Cluster',
  },
  doc: 'A class of storage whose provisioner creates volumes on demand.',
  fields,
  rules: {
    validate: (object) => [
      ...checkProvisioner(object.provisioner ?? '', 'provisioner'),
      ...checkParameters(object.parameters ?? {}, { needsOne: false }),
      ...checkReclaimPolicy(object.reclaimPolicy ?? ''),
      ...checkTopologyTerms(object.allowedTopologies, 'allowedTopologies'),
    ],
    validateUpdate: checkUpdate,
    warnings: ({ allowedTopologies = [] }, _, { vendor, version }) =>
      version !== undefined && isAtLeast(version, '1.24')
        ? oldLabelWarnings(topologyLabels(allowedTopologies, 'allowedTopologies'), vendor)
        : [],
  },
  lifecycle: {
    deleteAnswers: 'object',
  },
  views: {
    columns,
  },
})

const immutableNames = ['parameters', 'provisioner', 'reclaimPolicy'] as const

/** Rejects changes to immutable fields. Since 1.36, the errors for all immutable fields have the same reason. */
function checkUpdate(next: StorageClass, previous: StorageClass, context: RuleContext): FieldError[] {
  const isUniform = isAtLeast(emulationOf(context).version, '1.36')
  const changed = immutableNames.filter((name) => !sameJson(next[name], previous[name]))
  return [
    ...changed.map((name) =>
      isUniform
        ? invalid(name, next[name], 'field is immutable')
        : forbidden(name, `updates to ${name} are forbidden.`),
    ),
    ...immutableField('volumeBindingMode', next.volumeBindingMode, previous.volumeBindingMode),
  ]
}

/** Validates the reclaim policy. An empty policy is valid and means that none was specified. */
function checkReclaimPolicy(policy: string): FieldError[] {
  if (policy === '' || reclaimPolicies.includes(policy)) return []
  return [notSupported('reclaimPolicy', policy, reclaimPolicies)]
}

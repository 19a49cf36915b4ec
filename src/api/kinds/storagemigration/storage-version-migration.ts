/**
 * A StorageVersionMigration requests that all objects of a resource be rewritten in their current stored form, for
 * example after the storage version of a custom resource or the key that encrypts Secrets has changed.
 */
import { type FieldError, invalid, required } from '../../model/field-error.ts'
import { checkDns1035Label, checkDnsSubdomain } from '../../model/names.ts'
import { isMigration } from '../../model/storage-migration.ts'
import { column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { immutableField } from '../immutable.ts'
import { checkConditions, conditions } from '../meta/condition.ts'
import { specAndStatus, statusAlone } from '../spec-and-status.ts'

const groupResource = s.object(
  {
    group: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'API group of the resource. Empty for the core group.',
    }),
    resource: field(2, s.string(), { zeroValue: 'write', doc: 'Plural name of the resource, such as `secrets`.' }),
  },
  {
    name: 'meta.v1.GroupResource',
    doc: 'A resource, regardless of its API version.',
    check: ({ group = '', resource = '' }, path) => [
      ...(resource === '' ? [required(`${path}.resource`, 'resource is required to be set')] : []),
      ...(resource === '' ? [] : faultsOf(`${path}.resource`, resource, checkDns1035Label(resource))),
      ...(group === '' ? [] : faultsOf(`${path}.group`, group, checkDnsSubdomain(group))),
    ],
  },
)

function faultsOf(path: string, value: string, faults: readonly string[]): FieldError[] {
  return faults.length === 0 ? [] : [invalid(path, value, faults.join(','))]
}

const spec = s.object(
  {
    resource: field(1, groupResource, {
      zeroValue: 'write',
      published: 'required',
      doc: 'Resource whose objects are rewritten. Immutable.',
    }),
  },
  { name: 'StorageVersionMigrationSpec', doc: 'Specification of a StorageVersionMigration.' },
)

const status = s.object(
  {
    conditions: field(1, conditions, { doc: 'Conditions of the migration: Running, Succeeded and Failed.' }),
    resourceVersion: field(2, s.string(), {
      doc: 'Resource version of the collection when the migration started. Objects with a later version do not need to be rewritten. Immutable once set.',
    }),
  },
  { name: 'StorageVersionMigrationStatus', doc: 'Observed status of a StorageVersionMigration.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Resource to migrate.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the migration.' }),
}

export type StorageVersionMigration = ObjectOf<typeof fields>

type Status = NonNullable<StorageVersionMigration['status']>

export const storageVersionMigration = defineKind({
  names: {
    group: 'storagemigration',
    version: 'v1beta1',
    kind: 'StorageVersionMigration',
    plural: 'storageversionmigrations',
    scope: 'Cluster',
  },
  since: '1.35',
  optIn: true,
  doc: 'A request to rewrite all objects of a resource in their current storage format.',
  fields,
  rules: specAndStatus<StorageVersionMigration>({
    newStatus: () => ({}),
    validateUpdate: (next, previous) => [
      ...immutableField('spec', next.spec, previous.spec),
      ...checkStatus(next.status ?? {}, previous.status ?? {}),
    ],
  }),
  views: {
    columns: [nameColumn, column('Resource', 'Qualified name of the resource to migrate.', resourceOf)],
    subresources: { status: statusAlone },
  },
})

function resourceOf({ spec }: StorageVersionMigration): string {
  const { group = '', resource = '' } = spec?.resource ?? {}
  return group === '' ? resource : `${resource}.${group}`
}

/** Pairs of conditions that exclude each other. */
const exclusive = [
  ['Succeeded', 'Failed'],
  ['Succeeded', 'Running'],
  ['Failed', 'Running'],
] as const

function checkStatus(next: Status, previous: Status): FieldError[] {
  const path = 'status.conditions'
  const { conditions = [], resourceVersion = '' } = next
  return [
    ...(resourceVersion === '' || /^\d{1,20}$/.test(resourceVersion)
      ? []
      : [invalid('status.resourceVersion', resourceVersion, 'must be a resource version that this server returned')]),
    ...checkConditions(conditions, path),
    ...(previous.resourceVersion
      ? immutableField('status.resourceVersion', resourceVersion, previous.resourceVersion)
      : []),
    ...exclusive
      .filter((pair) => pair.every((state) => isMigration(state, next)))
      .map(([a, b]) => invalid(path, conditions, `${a} and ${b} cannot be true at the same time`)),
    ...(['Succeeded', 'Failed'] as const)
      .filter((state) => isMigration(state, previous) && !isMigration(state, next))
      .map((state) => invalid(path, conditions, `${state} cannot become false once it is true`)),
  ]
}

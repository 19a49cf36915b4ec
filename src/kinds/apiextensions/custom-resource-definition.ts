/**
 * CustomResourceDefinition: a kind that a user adds to the server. What its schema says is read in `custom/`, where the
 * kind is made and served; here is the definition itself, and what can be judged of it without reading the schema.
 */
import { at, type FieldError, type FieldPath, invalid, notSupported, required } from '../../model/field-error.ts'
import { type Json, sameJson } from '../../model/json.ts'
import { checkDnsLabel, checkDnsSubdomain, type NameCheck } from '../../model/names.ts'
import { timestamp } from '../../model/object.ts'
import type { Vendor } from '../../model/vendor.ts'
import { column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { keep, plainStatus } from '../spec-and-status.ts'

const printerColumn = s.object(
  {
    name: field(1, s.string(), { zero: 'write', published: 'required', doc: 'The heading.' }),
    type: field(2, s.string(), { zero: 'write', published: 'required', doc: 'The type of the cells in OpenAPI.' }),
    format: field(3, s.string(), { doc: 'The format of the cells in OpenAPI; `name` marks the name.' }),
    description: field(4, s.string(), { doc: 'What the column shows.' }),
    priority: field(5, s.int32(), { doc: '0: always shown; above: only in wide tables.' }),
    jsonPath: field(6, s.string(), {
      zero: 'write',
      published: 'required',
      doc: 'Where the cell is found in an object.',
    }),
  },
  { name: 'CustomResourceColumnDefinition', doc: 'A column of tables of the kind.' },
)

const scaleSubresource = s.object(
  {
    specReplicasPath: field(1, s.string(), {
      zero: 'write',
      published: 'required',
      doc: 'Where the wanted number is.',
    }),
    statusReplicasPath: field(2, s.string(), {
      zero: 'write',
      published: 'required',
      doc: 'Where the present number is.',
    }),
    labelSelectorPath: field(3, s.string(), { doc: 'Where the selector of its pods is.', zero: 'keep' }),
  },
  { name: 'CustomResourceSubresourceScale', doc: 'How the kind is scaled.' },
)

const subresources = s.object(
  {
    status: field(1, s.any({ name: 'CustomResourceSubresourceStatus', doc: 'There, it has a status of its own.' }), {
      doc: 'There, the status is written through a way of its own.',
    }),
    scale: field(2, scaleSubresource, { doc: 'There, the kind can be scaled.' }),
  },
  { name: 'CustomResourceSubresources', doc: 'Which sub-resources the kind has.' },
)

const validation = s.object(
  {
    openAPIV3Schema: field(1, s.any({ name: 'JSONSchemaProps', doc: 'A schema in the words of OpenAPI v3.' }), {
      doc: 'What objects of the kind look like.',
    }),
  },
  { name: 'CustomResourceValidation', doc: 'What objects of the kind look like.' },
)

const version = s.object(
  {
    name: field(1, s.string(), { zero: 'write', published: 'required', doc: 'The name of the version: `v1`.' }),
    served: field(2, s.boolean(), { zero: 'write', published: 'required', doc: 'Whether it is served.' }),
    storage: field(3, s.boolean(), { zero: 'write', published: 'required', doc: 'Whether objects are stored in it.' }),
    schema: field(4, validation, { doc: 'What objects look like in it.' }),
    subresources: field(5, subresources, { doc: 'Its sub-resources.' }),
    additionalPrinterColumns: field(6, s.list(printerColumn), { doc: 'The columns of its tables.' }),
    deprecated: field(7, s.boolean(), { doc: 'Its users are warned.' }),
    deprecationWarning: field(8, s.string(), { zero: 'keep', doc: 'The words of the warning.' }),
  },
  { name: 'CustomResourceDefinitionVersion', doc: 'One version of the kind.' },
)

const nameFields = {
  plural: field(1, s.string(), { zero: 'write', published: 'required', doc: 'As in paths, in lower case.' }),
  singular: field(2, s.string(), { doc: 'For the command line; the kind in lower case by default.' }),
  shortNames: field(3, s.list(s.string()), { doc: 'Short forms for the command line.' }),
  kind: field(4, s.string(), { zero: 'write', published: 'required', doc: 'As objects carry it.' }),
  listKind: field(5, s.string(), { doc: 'The kind of lists; the kind with `List` after it by default.' }),
  categories: field(6, s.list(s.string()), { doc: 'Names that stand for several types, such as `all`.' }),
}

const names = s.object(nameFields, { name: 'CustomResourceDefinitionNames', doc: 'What the kind is called.' })

const conversion = s.object(
  {
    strategy: field(1, s.string(), { zero: 'write', published: 'required', doc: 'None: only the apiVersion changes.' }),
    webhook: field(2, s.any({ name: 'WebhookConversion', doc: 'Who converts.' }), { doc: 'Who converts.' }),
  },
  { name: 'CustomResourceConversion', doc: 'How objects get from one version to another.' },
)

const spec = s.object(
  {
    group: field(1, s.string(), { zero: 'write', published: 'required', doc: 'The group of the kind.' }),
    names: field(3, names, { zero: 'write', published: 'required', doc: 'What the kind is called.' }),
    scope: field(4, s.string(), { zero: 'write', published: 'required', doc: 'Namespaced or Cluster.' }),
    versions: field(7, s.list(version), { zero: 'write', published: 'required', doc: 'Its versions; one is stored.' }),
    conversion: field(9, conversion, { doc: 'How objects get from one version to another.' }),
    preserveUnknownFields: field(10, s.boolean(), { doc: 'Must be false: what the schema does not know is dropped.' }),
  },
  { name: 'CustomResourceDefinitionSpec', doc: 'What the kind is.' },
)

const condition = s.object(
  {
    type: field(1, s.string(), { zero: 'write', published: 'required', doc: 'What is told about it.' }),
    status: field(2, s.string(), { zero: 'write', published: 'required', doc: 'True, False or Unknown.' }),
    lastTransitionTime: field(3, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
    reason: field(4, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(5, s.string(), { doc: 'Why, for people.' }),
  },
  { name: 'CustomResourceDefinitionCondition', doc: 'Something that is known of a definition.' },
)

const status = s.object(
  {
    conditions: field(1, s.list(condition, { list: 'map', keys: ['type'] }), {
      zero: 'write',
      doc: 'Whether it is served, and why not.',
    }),
    acceptedNames: field(2, names, { zero: 'write', doc: 'The names that are in use.' }),
    storedVersions: field(3, s.list(s.string()), {
      zero: 'write',
      doc: 'All versions that objects were ever stored in.',
    }),
  },
  { name: 'CustomResourceDefinitionStatus', doc: 'Whether the kind is served.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', published: 'required', doc: 'What the kind is.' }),
  status: field(3, status, { zero: 'write', doc: 'Whether it is served. Set by the server.' }),
}

export type CustomResourceDefinition = ObjectOf<typeof fields>

export const customResourceDefinition = defineKind({
  group: 'apiextensions',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  doc: 'A kind that is added to those that the server has: its names, its versions, what its objects look like.',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  scope: 'Cluster',
  deleteAnswers: 'object',
  needsVersion: true,
  fields,
  columns: [
    nameColumn,
    {
      ...column(
        'Created At',
        'When it was created.',
        ({ metadata }: CustomResourceDefinition) => metadata.creationTimestamp ?? null,
      ),
      type: 'date',
    },
  ],
  readOnly: ['status'],
  subresources: { status: plainStatus },
  fillDefaults: fillNames,
  prepareForCreate: (object) => {
    object.metadata.generation = 1
    const stored = (object.spec?.versions ?? []).filter(({ storage }) => storage).map(({ name }) => name ?? '')
    object.status = { acceptedNames: { plural: '', kind: '' }, storedVersions: stored }
  },
  prepareForUpdate: (next, previous) => {
    keep(next, previous, 'status')
    const { generation = 1 } = previous.metadata
    next.metadata.generation = sameJson(next.spec as Json, previous.spec as Json) ? generation : generation + 1
  },
  validate: checkDefinition,
  beginDeletion: (next, previous, { vendor, now }) => {
    const { deletionGracePeriodSeconds: _, ...metadata } = next.metadata
    const { generation = 1 } = previous.metadata
    const finalizers = [...new Set([...(metadata.finalizers ?? []), cleanupFinalizer(vendor)])]
    next.metadata = { ...metadata, generation, finalizers }
    next.status = withCondition(next.status ?? {}, terminating, now)
  },
})

/** While it is there the objects of the kind are being deleted. */
export function cleanupFinalizer(vendor: Vendor): string {
  return `customresourcecleanup.apiextensions.${vendor.groupDomain}`
}

type Status = NonNullable<CustomResourceDefinition['status']>
export type Condition = NonNullable<Status['conditions']>[number]

const terminating: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
}

/** The status with this condition in it, which keeps its time while it says the same. */
export function withCondition(status: Status, condition: Condition, now: number): Status {
  const { conditions = [] } = status
  const before = conditions.find(({ type }) => type === condition.type)
  const since = before?.status === condition.status ? before?.lastTransitionTime : undefined
  const dated = { ...condition, lastTransitionTime: since ?? timestamp(now) }
  const others = conditions.map((one) => (one === before ? dated : one))
  return { ...status, conditions: before === undefined ? [...others, dated] : others }
}

export function isTrue({ status }: CustomResourceDefinition, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')
}

function fillNames({ spec }: CustomResourceDefinition): void {
  if (spec === undefined) return
  spec.conversion ??= { strategy: 'None' }
  const { names } = spec
  if (names?.kind === undefined || names.kind === '') return
  names.singular ||= names.kind.toLowerCase()
  names.listKind ||= `${names.kind}List`
}

const scopes = ['Cluster', 'Namespaced']

function checkDefinition({ metadata, spec = {} }: CustomResourceDefinition): FieldError[] {
  const { group = '', scope = '', names = {}, versions = [] } = spec
  const wanted = `${names.plural ?? ''}.${group}`
  return [
    ...(metadata.name === wanted
      ? []
      : [invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group')]),
    ...checkText('spec.group', group, checkDnsSubdomain),
    ...(group === '' || group.includes('.')
      ? []
      : [invalid('spec.group', group, 'should be a domain with at least one dot')]),
    ...(scope === ''
      ? [required('spec.scope')]
      : scopes.includes(scope)
        ? []
        : [notSupported('spec.scope', scope, scopes)]),
    ...checkNames(names),
    ...checkVersions(versions),
    ...(spec.preserveUnknownFields
      ? [
          invalid(
            'spec.preserveUnknownFields',
            true,
            'must be false: set x-preserve-unknown-fields in the schema instead',
          ),
        ]
      : []),
    ...(spec.conversion?.strategy === 'None'
      ? []
      : [notSupported('spec.conversion.strategy', spec.conversion?.strategy ?? '', ['None'])]),
  ]
}

function checkNames({
  plural = '',
  singular = '',
  kind = '',
  listKind = '',
  shortNames = [],
  categories = [],
}: Names): FieldError[] {
  const path = 'spec.names'
  const word = (name: string) => checkDnsLabel(name.toLowerCase())
  return [
    ...checkText(`${path}.plural`, plural, checkDnsLabel),
    ...checkText(`${path}.singular`, singular, checkDnsLabel),
    ...checkText(`${path}.kind`, kind, word),
    ...checkText(`${path}.listKind`, listKind, word),
    ...(kind !== '' && kind === listKind
      ? [invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same')]
      : []),
    ...shortNames.flatMap((name, i) => checkText(at(`${path}.shortNames`, i), name, checkDnsLabel)),
    ...categories.flatMap((name, i) => checkText(at(`${path}.categories`, i), name, checkDnsLabel)),
  ]
}

type Names = NonNullable<NonNullable<CustomResourceDefinition['spec']>['names']>
type Version = NonNullable<NonNullable<CustomResourceDefinition['spec']>['versions']>[number]

function checkText(path: FieldPath, value: string, check: NameCheck): FieldError[] {
  return value === '' ? [required(path)] : check(value).map((text) => invalid(path, value, text))
}

function checkVersions(versions: readonly Version[]): FieldError[] {
  const path = 'spec.versions'
  const stored = versions.filter(({ storage }) => storage).length
  const names = versions.map(({ name = '' }) => name)
  return [
    ...(stored === 1
      ? []
      : [invalid(path, versions as Json, 'must have exactly one version marked as storage version')]),
    ...(new Set(names).size === names.length
      ? []
      : [invalid(path, versions as Json, 'must contain unique version names')]),
    ...versions.flatMap(({ name = '', schema }, i) => [
      ...checkText(`${at(path, i)}.name`, name, checkDnsLabel),
      ...(schema?.openAPIV3Schema === undefined
        ? [required(`${at(path, i)}.schema.openAPIV3Schema`, 'schemas are required')]
        : []),
    ]),
  ]
}

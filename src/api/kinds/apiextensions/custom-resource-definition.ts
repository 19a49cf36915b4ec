/**
 * CustomResourceDefinition: a kind that a user adds to the server. What its schema says is read in `custom/`, where the
 * kind is made and served; here is the definition itself. Its fields and its rules are in files of their own.
 */

import { isObject, type Json, type JsonObject, own } from '../../json/json.ts'
import { defaultGates } from '../../model/feature-gates.ts'
import type { Vendor } from '../../model/vendor.ts'
import { column, nameColumn } from '../../schema/columns.ts'
import type { PrepareContext, RuleContext } from '../../schema/context.ts'
import { defineKind, type Subresource } from '../../schema/kind.ts'
import { keep, plainStatus, specAndStatus } from '../spec-and-status.ts'
import { approvalCondition } from './approval.ts'
import { isTrue, withCondition, withServerConditions } from './definition-conditions.ts'
import { type CustomResourceDefinition, type DefinitionVersion, fields } from './definition-fields.ts'
import { definitionReservations } from './definition-names.ts'
import { checkAcceptedNames, checkDefinition, checkDefinitionUpdate, checkNewDefinition } from './definition-rules.ts'

/**
 * A client may add to the status. What the server has granted, and the conditions that say so, only the server changes;
 * names that are none are left for validation to refuse. The report on the approval comes with the first status that is
 * written, and with each one after it.
 */
const status: Subresource<CustomResourceDefinition> = {
  ...plainStatus,
  prepareForUpdate: (next, previous, context) => {
    keep(next, previous, 'spec')
    if (!context.own) keepGranted(next, previous)
    reportApproval(next, context)
  },
}

function keepGranted(next: CustomResourceDefinition, previous: CustomResourceDefinition): void {
  const { acceptedNames = {}, conditions = [] } = next.status ?? {}
  const present = previous.status ?? {}
  next.status = { ...next.status, conditions: withServerConditions(conditions, present.conditions ?? []) }
  if (checkAcceptedNames(acceptedNames).length > 0) return
  if (present.acceptedNames === undefined) delete next.status.acceptedNames
  else next.status.acceptedNames = present.acceptedNames
}

export const customResourceDefinition = defineKind({
  names: {
    group: 'apiextensions',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    scope: 'Cluster',
  },
  doc: 'A kind that is added to those that the server has: its names, its versions, what its objects look like.',
  fields,
  rules: specAndStatus<CustomResourceDefinition>({
    fillDefaults,
    generation: ({ spec }) => spec,
    newStatus: (object) => ({
      conditions: [],
      acceptedNames: { plural: '', kind: '' },
      storedVersions: storageVersions(object).slice(0, 1),
    }),
    prepareForUpdate: (next, _, context) => {
      addStoredVersion(next)
      reportApproval(next, context)
    },
    validate: checkDefinition,
    validateCreate: checkNewDefinition,
    validateUpdate: checkDefinitionUpdate,
    warnings: ({ spec }, _, context) => warnOfRules(spec?.versions ?? [], context),
  }),
  reservations: definitionReservations,
  life: {
    deleteAnswers: 'object',
    needsVersion: true,
    plainFinalizers: true,
    contents: typeNamed,
    beginDeletion: (next, previous, { vendor, now }) => {
      const { deletionGracePeriodSeconds: _, ...metadata } = next.metadata
      const { generation = 1 } = previous.metadata
      const finalizers = [...new Set([...(metadata.finalizers ?? []), cleanupFinalizer(vendor)])]
      next.metadata = { ...metadata, generation, finalizers }
      next.status = withCondition(next.status ?? {}, terminating, now)
    },
  },
  views: {
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
    subresources: { status },
  },
})

/** While it is there the objects of the kind are being deleted. */
export function cleanupFinalizer(vendor: Vendor): string {
  return `customresourcecleanup.apiextensions.${vendor.groupDomain}`
}

/** Whether the server has taken it into use. */
export function isEstablished(definition: CustomResourceDefinition): boolean {
  return isTrue(definition, 'Established')
}

const terminating = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'the definition is marked for deletion; its objects are deleted next',
}

function fillDefaults(object: CustomResourceDefinition): void {
  const { spec, status } = object
  if (spec === undefined) return
  spec.conversion ??= { strategy: 'None' }
  const service = spec.conversion.webhook?.clientConfig?.service
  if (service !== undefined) service.port ??= 443
  const { names } = spec
  if (names?.kind) {
    names.singular ||= names.kind.toLowerCase()
    names.listKind ||= `${names.kind}List`
  }
  if (status !== undefined && (status.storedVersions ?? []).length === 0)
    status.storedVersions = storageVersions(object).slice(0, 1)
}

function storageVersions({ spec }: CustomResourceDefinition): string[] {
  return (spec?.versions ?? []).filter(({ storage }) => storage).map(({ name }) => name ?? '')
}

/** The versions that objects may be stored in, of those that a status names: the others are not there (any more). */
export function soundStoredVersions({ spec, status }: CustomResourceDefinition): string[] {
  const known = (spec?.versions ?? []).map(({ name = '' }) => name)
  const storage = storageVersions({ spec } as CustomResourceDefinition)
  const named = (status?.storedVersions ?? []).filter((name) => known.includes(name))
  return [...new Set([...named, ...storage])]
}

function reportApproval(object: CustomResourceDefinition, { vendor, now }: PrepareContext): void {
  const condition = approvalCondition(object, vendor)
  if (condition !== undefined) object.status = withCondition(object.status ?? {}, condition, now)
}

/** Objects are stored in the storage version from now on, and in all those before it. */
function addStoredVersion(object: CustomResourceDefinition): void {
  const { status } = object
  const known = status?.storedVersions ?? []
  const [storage] = storageVersions(object)
  if (storage !== undefined && !known.includes(storage))
    object.status = { ...status, storedVersions: [...known, storage] }
}

/** What rules in CEL say is kept whole. Parts that are not enforced are named: whoever relies on them must know. */
function warnOfRules(versions: readonly DefinitionVersion[], context: RuleContext): string[] {
  const { vendor, gates = defaultGates } = context
  const keyword = `${vendor.extensionPrefix}validations`
  const isEnforced = gates.has('CustomResourceValidationExpressions')
  return versions.flatMap(({ name, schema }) => {
    const rules = rulesIn(schema?.openAPIV3Schema, keyword)
    const ignored = [...new Set(rules.flatMap((rule) => Object.keys(rule)))].filter((part) => !enforced.includes(part))
    const parts = isEnforced ? ignored.slice(0, maxNamed).map((part) => `${part} in ${keyword}`) : [keyword]
    return rules.length === 0
      ? []
      : parts.map((part) => `version ${name}: ${part} is kept in the schema, but not enforced`)
  })
}

const enforced = ['rule', 'message']
const maxNamed = 5

/** All rules of a schema, wherever they stand. */
function rulesIn(schema: Json | undefined, keyword: string): JsonObject[] {
  if (typeof schema !== 'object' || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap((inner) => rulesIn(inner, keyword))
  const here = own(schema, keyword)
  const below = Object.values(schema).flatMap((inner) => rulesIn(inner, keyword))
  return Array.isArray(here) ? [...here.filter(isObject), ...below] : below
}

/** The type that `widgets.stable.example.com` defines: a whole group name ends in a dot (see `groupName`). */
function typeNamed(name: string): { group: string; plural: string } | undefined {
  const dot = name.indexOf('.')
  return dot < 0 ? undefined : { group: `${name.slice(dot + 1)}.`, plural: name.slice(0, dot) }
}

/**
 * A CustomResourceDefinition adds a resource type to the server. This file defines the kind and its defaults. Separate
 * files define its fields and its validation. `apiserver/custom/` parses the schemas and serves the custom resources.
 */

import { isObject, type Json, type JsonObject, own } from '../../json/json.ts'
import type { Vendor } from '../../model/vendor.ts'
import { column, nameColumn } from '../../schema/columns.ts'
import { isSince, type PrepareContext, type RuleContext } from '../../schema/context.ts'
import { defineKind, type Subresource } from '../../schema/kind.ts'
import { defaultGates } from '../../versions/feature-gates.ts'
import { keep, plainStatus, specAndStatus } from '../spec-and-status.ts'
import { approvalCondition } from './approval.ts'
import { isTrue, withCondition, withServerConditions } from './definition-conditions.ts'
import { type CustomResourceDefinition, type DefinitionVersion, fields } from './definition-fields.ts'
import { definitionReservations } from './definition-names.ts'
import { checkAcceptedNames, checkDefinition, checkDefinitionUpdate, checkNewDefinition } from './definition-rules.ts'

/**
 * The status subresource. Clients cannot change the accepted names or the server's own conditions. Malformed accepted
 * names are kept, so that validation can reject them. Every write also updates the approval condition.
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
  doc: 'Defines a resource type that extends the API, including its names, versions and schemas.',
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
  lifecycle: {
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
          'Time when the CustomResourceDefinition was created.',
          ({ metadata }: CustomResourceDefinition) => metadata.creationTimestamp ?? null,
        ),
        type: 'date',
      },
    ],
    subresources: { status },
  },
})

/** Returns the finalizer that prevents the removal of a definition until all of its custom resources are deleted. */
export function cleanupFinalizer(vendor: Vendor): string {
  return `customresourcecleanup.apiextensions.${vendor.groupDomain}`
}

/** Whether the server serves the custom resources of a definition. */
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

/**
 * Returns the versions in which objects may be stored: the storage version, and every stored version in the status that
 * the spec still lists.
 */
export function soundStoredVersions({ spec, status }: CustomResourceDefinition): string[] {
  const specVersions = (spec?.versions ?? []).map(({ name = '' }) => name)
  const storage = storageVersions({ spec } as CustomResourceDefinition)
  const named = (status?.storedVersions ?? []).filter((name) => specVersions.includes(name))
  return [...new Set([...named, ...storage])]
}

function reportApproval(object: CustomResourceDefinition, { vendor, now }: PrepareContext): void {
  const condition = approvalCondition(object, vendor)
  if (condition !== undefined) object.status = withCondition(object.status ?? {}, condition, now)
}

/** Adds the storage version to the stored versions of the status. Existing objects are not converted to it. */
function addStoredVersion(object: CustomResourceDefinition): void {
  const { status } = object
  const versionsBefore = status?.storedVersions ?? []
  const [storage] = storageVersions(object)
  if (storage !== undefined && !versionsBefore.includes(storage))
    object.status = { ...status, storedVersions: [...versionsBefore, storage] }
}

/**
 * Returns warnings about the parts of CEL rules that the server stores but does not enforce. Without the warnings,
 * users might rely on these parts.
 */
function warnOfRules(versions: readonly DefinitionVersion[], context: RuleContext): string[] {
  const { vendor, gates = defaultGates() } = context
  const keyword = `${vendor.extensionPrefix}validations`
  // Since Kubernetes 1.25, the server enforces CEL rules and drops fields that it does not support.
  if (isSince('1.25', context)) return []
  const isEnforced = gates.has('CustomResourceValidationExpressions')
  return versions.flatMap(({ name, schema }) => {
    const rules = rulesIn(schema?.openAPIV3Schema, keyword)
    const ignored = [...new Set(rules.flatMap((rule) => Object.keys(rule)))].filter((part) => !enforced.includes(part))
    const parts = isEnforced ? ignored.slice(0, maxNamed).map((part) => `${part} in ${keyword}`) : [keyword]
    return rules.length === 0
      ? []
      : parts.map((part) => `version ${name}: ${part} is stored in the schema but not enforced`)
  })
}

const enforced = ['rule', 'message']
const maxNamed = 5

/** Finds all CEL rules in a schema and its nested schemas. */
function rulesIn(schema: Json | undefined, keyword: string): JsonObject[] {
  if (typeof schema !== 'object' || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap((inner) => rulesIn(inner, keyword))
  const here = own(schema, keyword)
  const below = Object.values(schema).flatMap((inner) => rulesIn(inner, keyword))
  return Array.isArray(here) ? [...here.filter(isObject), ...below] : below
}

/**
 * Returns the type defined by the definition with the given name, such as `widgets.stable.example.com`. The trailing
 * dot in the result marks a complete group name (see `groupName`).
 */
function typeNamed(name: string): { group: string; plural: string } | undefined {
  const dot = name.indexOf('.')
  return dot < 0 ? undefined : { group: `${name.slice(dot + 1)}.`, plural: name.slice(0, dot) }
}

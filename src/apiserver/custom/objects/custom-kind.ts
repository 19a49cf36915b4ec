/**
 * Creates a custom kind at runtime from names and a schema. The result has the same type as a built-in kind.
 *
 * All custom kinds have these properties in common: the generation counts changes outside of metadata and status,
 * updates must contain a resourceVersion, strategic merge is not supported, and only the status subresource, if
 * enabled, changes the status.
 */

import { defined, type Json, type JsonObject, setKey } from '../../../api/json/json.ts'
import { beginGeneration, countGeneration } from '../../../api/kinds/generation.ts'
import { metadataOfClients } from '../../../api/kinds/spec-and-status.ts'
import type { FieldError } from '../../../api/model/field-error.ts'
import { checkDnsSubdomain } from '../../../api/model/names.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { apiVersionOf, type Vendor } from '../../../api/model/vendor.ts'
import type { Verb } from '../../../api/model/verb.ts'
import { isSince } from '../../../api/schema/context.ts'
import type { Evolution, Kind, KindNames, Scope, Subresource } from '../../../api/schema/kind.ts'
import type { ObjectSchema } from '../../../api/schema/schema.ts'
import { shorten } from '../../../base/text/shorten.ts'
import { type Judge, ruleJudge } from '../rules/object-validations.ts'
import { schemaIdOf } from '../schema/schema-id.ts'
import {
  type ReadSchema,
  readStructuralSchema,
  type SchemaReading,
  type StructuralSchema,
} from '../schema/structural-schema.ts'
import { customScale, type ScalePaths } from './custom-scale.ts'
import { type ObjectRules, objectRules } from './object-rules.ts'
import { columnsOf, type PrinterColumn } from './printer-columns.ts'
import { selectableFields } from './selectable-fields.ts'
import { type Convert, evolutionOf } from './upgrade-stored-objects.ts'

export interface CustomKindDefinition {
  /** The full name of the API group, such as `stable.example.com`. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular?: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: Scope
  /** The OpenAPI v3 schema as written by the user. */
  readonly schema: Json
  /** Whether the status subresource is enabled. */
  readonly status?: boolean
  /** Paths of the replica fields. Undefined if the scale subresource is disabled. */
  readonly scale?: ScalePaths | undefined
  readonly columns?: readonly PrinterColumn[]
  /** Paths of the fields that field selectors of this version can use, such as `spec.color`. */
  readonly selectable?: readonly string[]
  /**
   * Field paths that selectors can use in any version. Each object is stored with the values of these fields. Defaults
   * to `selectableFields`.
   */
  readonly indexedFields?: readonly string[]
  /** Deprecation warning for users of this version. */
  readonly warning?: string | undefined
  /** The kind of the storage version. Undefined for the storage version itself. */
  readonly storage?: Kind | undefined
  /** Readers of stored objects, by the version in which the objects are stored. Each version adds its own reader. */
  readonly versions?: Map<string, Evolution>
  /** The webhook conversion between versions. Undefined if it is not configured. */
  readonly convert?: Convert | undefined
  /** Identifier of the definition's state, which changes whenever the definition changes. */
  readonly id?: string
}

export type CustomKind =
  | { readonly outcome: 'kind'; readonly kind: Kind }
  | Extract<StructuralSchema, { readonly outcome: 'invalid' }>

export async function customKind(
  definition: CustomKindDefinition,
  vendor: Vendor,
  reading: SchemaReading,
): Promise<CustomKind> {
  const read = await readStructuralSchema(definition.schema, vendor, { ...reading, selectable: definition.selectable })
  if (read.outcome === 'invalid') return read
  return { outcome: 'kind', kind: makeKind(definition, read, vendor) }
}

/**
 * Creates the kind. The kind references only the parts of `definition` that it uses, because a parsed schema takes ten
 * times as much memory as its text.
 */
function makeKind(definition: CustomKindDefinition, read: ReadSchema, vendor: Vendor): Kind {
  const { group, status = false, scale, warning, columns = [], storage, versions, convert, id = '' } = definition
  const { selectable = [], indexedFields = selectable } = definition
  const { schema: described, text, unenforced } = read
  const names = namesOf(definition)
  const doc = typeof described.doc === 'string' ? described.doc : `A custom resource of ${group}.`
  const schema = { ...described, name: names.kind }
  const prepareForUpdate = (next: ApiObject, previous: ApiObject) => {
    if (status) restore(next, previous, (name) => name === 'status')
    countGeneration(next, previous, (object) => askedFor(object, { status }))
  }
  const apiVersion = apiVersionOf(vendor, names.group, names.version)
  const schemaId = schemaIdOf({ apiVersion, prefix: vendor.extensionPrefix, text })
  const evolution = evolutionOf({ names, schema, vendor, id, schemaId, storage: storage?.evolution, versions, convert })
  versions?.set(apiVersion, evolution)
  return {
    ...names,
    origin: 'custom',
    doc,
    nameFormat: checkDnsSubdomain,
    schema,
    rules: {
      ...(status && { readOnly: ['status'] }),
      prepareForCreate: (object) => {
        beginGeneration(object)
        if (status) delete object.status
      },
      prepareForUpdate,
      ...defined({ judge: judgeOf(objectRules(schema, scale), ruleJudge(text, vendor.extensionPrefix)) }),
      ...(unenforced.length > 0 && { warnings: () => unenforced.map(unenforcedWarning) }),
    },
    lifecycle: { verbs, needsVersion: true, plainFinalizers: true, strategicPatch: false },
    views: {
      columns: columnsOf(columns),
      selectable: selectableFields(indexedFields),
      typedItems: true,
      subresources: {
        ...(status && { status: statusOf(schema) }),
        ...(scale && { scale: customScale(scale, { group, kind: names.kind }, prepareForUpdate) }),
      },
    },
    ...(warning !== undefined && { deprecated: { warning } }),
    selectorNames: Object.fromEntries(selectable.map((path) => [path, path])),
    evolution,
  }
}

/**
 * Whether an error reports a duplicate list element. An update tolerates duplicates if the stored object already has
 * some.
 */
function isRepetition({ fault }: FieldError): boolean {
  return fault === 'FieldValueDuplicate'
}

/**
 * Combines the structural rules of a kind with its CEL rules. The CEL rules run last because they work only on
 * well-formed objects.
 */
function judgeOf(rules: ObjectRules | undefined, judge: Judge | undefined): Judge | undefined {
  if (rules === undefined) return judge
  return async (object, previous, context) => {
    const { timeSlice } = context
    const allFaults = await timeSlice.run(rules(object))
    const hadRepetitions = async () => (await timeSlice.run(rules(previous!))).some(isRepetition)
    const isForgiven = allFaults.some(isRepetition) && previous !== undefined && isSince('1.24', context)
    const faults =
      isForgiven && (await hadRepetitions()) ? allFaults.filter((fault) => !isRepetition(fault)) : allFaults
    if (judge === undefined) return faults
    return [...faults, ...(await judge(object, previous, { ...context, faults: [...context.faults, ...faults] }))]
  }
}

function unenforcedWarning(pattern: string): string {
  return `the pattern ${JSON.stringify(shorten(pattern, 100))} in its schema is too large and is not enforced`
}

/** The verbs, in the order that Kubernetes uses. */
const verbs: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']

/** Returns the names of the kind. The internal ID of its group is the group's full name with a dot appended. */
function namesOf(definition: CustomKindDefinition): KindNames {
  const { group, version, kind, plural, singular, listKind, shortNames, categories, scope } = definition
  const lists = defined({
    shortNames: shortNames?.length ? shortNames : undefined,
    categories: categories?.length ? categories : undefined,
  })
  return { group: `${group}.`, version, kind, plural, scope, ...defined({ singular, listKind }), ...lists }
}

const common = ['apiVersion', 'kind', 'metadata']

/**
 * Returns the status subresource, through which clients can change only the status. Since Kubernetes 1.36, writers of
 * the status do not become owners of metadata fields.
 */
function statusOf({ fields }: ObjectSchema): Subresource<ApiObject> {
  const isOther = (name: string) => name !== 'status' && !common.includes(name)
  const readOnly = Object.keys(fields).filter(isOther)
  return {
    verbs: ['get', 'update', 'patch'],
    readOnly,
    laterReadOnly: { since: '1.36', paths: [...metadataOfClients, ...readOnly] },
    prepareForUpdate: (next, previous) => {
      restore(next, previous, isOther)
      const { managedFields } = next.metadata
      next.metadata = { ...previous.metadata, ...defined({ managedFields }) }
    },
  }
}

/** Restores the previous values of the top-level fields whose names match `isMeant`. */
function restore(next: ApiObject, previous: ApiObject, isMeant: (name: string) => boolean): void {
  for (const name of Object.keys(next)) if (isMeant(name)) delete next[name]
  for (const [name, value] of Object.entries(asJson(previous))) if (isMeant(name)) setKey(asJson(next), name, value!)
}

/** Whether the status subresource is enabled. */
interface StatusOption {
  readonly status: boolean
}

/**
 * Returns the fields whose changes increment the generation: all except the metadata and, if there is a status
 * subresource, the status.
 */
function askedFor(object: ApiObject, { status }: StatusOption): JsonObject {
  const isAsked = (name: string) => !common.includes(name) && !(status && name === 'status')
  return Object.fromEntries(Object.entries(asJson(object)).filter(([name]) => isAsked(name)))
}

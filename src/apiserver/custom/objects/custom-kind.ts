/**
 * A kind that a user defined: the same value as a built-in one, made at run time from names and a schema.
 *
 * What all custom resources share is here: the generation counts changes of what is asked for, an update must name the
 * version it is based on, there is no strategic merge, and with a status subresource the status is its alone.
 */

import { defined, type Json, type JsonObject, setKey } from '../../../api/json/json.ts'
import { beginGeneration, countGeneration } from '../../../api/kinds/generation.ts'
import { checkDnsSubdomain } from '../../../api/model/names.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { apiVersionOf, type Vendor } from '../../../api/model/vendor.ts'
import type { Verb } from '../../../api/model/verb.ts'
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
import { type Convert, evolutionOf } from './evolution.ts'
import { type ObjectRules, objectRules } from './object-rules.ts'
import { columnsOf, type PrinterColumn } from './printer-columns.ts'

export interface CustomKindDefinition {
  /** The whole name of the group, as on the wire: `stable.example.com`. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular?: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: Scope
  /** In OpenAPI v3, as a user wrote it. */
  readonly schema: Json
  /** Whether the status is a subresource. */
  readonly status?: boolean
  /** Where its numbers of replicas are, if it can be scaled. */
  readonly scale?: ScalePaths | undefined
  readonly columns?: readonly PrinterColumn[]
  /** What its users are warned of. */
  readonly warning?: string | undefined
  /** The version that objects are stored in, where that is another one. */
  readonly storage?: Kind | undefined
  /** How the objects of all versions are read, by their `apiVersion`: each adds its own when it is made. */
  readonly versions?: Map<string, Evolution>
  /** How one version is made from another, where that takes a webhook. */
  readonly convert?: Convert | undefined
  /** Differs wherever the definition does. */
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
  const read = await readStructuralSchema(definition.schema, vendor, reading)
  if (read.outcome === 'invalid') return read
  return { outcome: 'kind', kind: makeKind(definition, read, vendor) }
}

/** What is made keeps nothing of `definition` but what it uses: its schema as a value is ten times its text. */
function makeKind(definition: CustomKindDefinition, read: ReadSchema, vendor: Vendor): Kind {
  const { group, status = false, scale, warning, columns = [], storage, versions, convert, id = '' } = definition
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
    form: checkDnsSubdomain,
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
    life: { verbs, needsVersion: true, plainFinalizers: true, strategicPatch: false },
    views: {
      columns: columnsOf(columns),
      // None beside the name, and the namespace where it has one.
      selectable: () => ({}),
      typedItems: true,
      subresources: {
        ...(status && { status: statusOf(schema) }),
        ...(scale && { scale: customScale(scale, { group, kind: names.kind }, prepareForUpdate) }),
      },
    },
    ...(warning !== undefined && { deprecated: { warning } }),
    evolution,
  }
}

/** First the rules that an object is held against as a whole, then those in CEL, which are asked of sound ones alone. */
function judgeOf(rules: ObjectRules | undefined, judge: Judge | undefined): Judge | undefined {
  if (rules === undefined) return judge
  return async (object, previous, context) => {
    const faults = await context.pace.run(rules(object))
    if (judge === undefined) return faults
    const isSound = context.isSound && faults.length === 0
    return [...faults, ...(await judge(object, previous, { ...context, isSound }))]
  }
}

function unenforcedWarning(pattern: string): string {
  return `the pattern ${JSON.stringify(shorten(pattern, 100))} of its schema is too large, and is not enforced`
}

/** In the order in which clients know them. */
const verbs: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']

/** The id of a group that belongs to somebody else is its whole name, with a dot after it. */
function namesOf(definition: CustomKindDefinition): KindNames {
  const { group, version, kind, plural, singular, listKind, shortNames, categories, scope } = definition
  const lists = defined({
    shortNames: shortNames?.length ? shortNames : undefined,
    categories: categories?.length ? categories : undefined,
  })
  return { group: `${group}.`, version, kind, plural, scope, ...defined({ singular, listKind }), ...lists }
}

const common = ['apiVersion', 'kind', 'metadata']

/** Writes of the status leave all else as it is, the metadata included, but for who owns what. */
function statusOf({ fields }: ObjectSchema): Subresource<ApiObject> {
  const isOther = (name: string) => name !== 'status' && !common.includes(name)
  return {
    verbs: ['get', 'update', 'patch'],
    readOnly: Object.keys(fields).filter(isOther),
    prepareForUpdate: (next, previous) => {
      restore(next, previous, isOther)
      const { managedFields } = next.metadata
      next.metadata = { ...previous.metadata, ...defined({ managedFields }) }
    },
  }
}

/** Gives `next` the top-level fields of `previous` that are meant. */
function restore(next: ApiObject, previous: ApiObject, isMeant: (name: string) => boolean): void {
  for (const name of Object.keys(next)) if (isMeant(name)) delete next[name]
  for (const [name, value] of Object.entries(asJson(previous))) if (isMeant(name)) setKey(asJson(next), name, value!)
}

/** Whether the status has a sub-resource of its own. */
interface StatusOption {
  readonly status: boolean
}

/** Everything but the metadata and a status of its own. */
function askedFor(object: ApiObject, { status }: StatusOption): JsonObject {
  const isAsked = (name: string) => !common.includes(name) && !(status && name === 'status')
  return Object.fromEntries(Object.entries(asJson(object)).filter(([name]) => isAsked(name)))
}

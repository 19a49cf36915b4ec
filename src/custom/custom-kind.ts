/**
 * A kind that a user defined: the same value as a built-in one, made at run time from names and a schema.
 *
 * What all custom resources share is here: the generation counts changes of what is asked for, an update must name the
 * version it is based on, there is no strategic merge, and with a status subresource the status is its alone.
 */
import { beginGeneration, countGeneration } from '../kinds/generation.ts'
import { defined, type Json, type JsonObject, setKey } from '../model/json.ts'
import { checkDnsSubdomain } from '../model/names.ts'
import { type ApiObject, asJson } from '../model/object.ts'
import type { Vendor } from '../model/vendor.ts'
import { ageColumn, nameColumn } from '../schema/columns.ts'
import type { Kind, Scope, Subresource } from '../schema/kind.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { readStructuralSchema, type StructuralSchema } from './structural-schema.ts'

export interface CustomKindDefinition {
  /** The whole name of the group, as on the wire: `stable.example.com`. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: Scope
  /** In OpenAPI v3, as a user wrote it. */
  readonly schema: Json
  /** Whether the status is a subresource. */
  readonly status?: boolean
  /** What the kind is for. */
  readonly doc?: string
}

export type CustomKind =
  | { readonly outcome: 'kind'; readonly kind: Kind }
  | Extract<StructuralSchema, { readonly outcome: 'invalid' }>

/** `path` is where the schema stands, for the faults. */
export async function customKind(definition: CustomKindDefinition, vendor: Vendor, path: string): Promise<CustomKind> {
  const read = await readStructuralSchema(definition.schema, vendor, path)
  return read.outcome === 'invalid' ? read : { outcome: 'kind', kind: makeKind(definition, read.schema) }
}

function makeKind(
  { schema: _, status = false, group, doc = `A custom resource of ${group}.`, ...names }: CustomKindDefinition,
  schema: ObjectSchema,
): Kind {
  return {
    ...names,
    doc,
    group: `${group}.`,
    form: checkDnsSubdomain,
    schema: { ...schema, name: names.kind, doc },
    rules: {
      ...(status && { readOnly: ['status'] }),
      prepareForCreate: (object) => {
        beginGeneration(object)
        if (status) delete object.status
      },
      prepareForUpdate: (next, previous) => {
        if (status) restore(next, previous, (name) => name === 'status')
        countGeneration(next, previous, (object) => askedFor(object, { status }))
      },
    },
    life: { needsVersion: true, strategicPatch: false },
    views: {
      columns: [nameColumn, ageColumn],
      // None beside the name, and the namespace where it has one.
      selectable: () => ({}),
      ...(status && { subresources: { status: statusOf(schema) } }),
    },
  }
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

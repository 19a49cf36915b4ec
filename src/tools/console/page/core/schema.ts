/**
 * Reads the OpenAPI schemas of kinds, which contain the types and descriptions of fields. Documents are fetched once
 * per version.
 */

import { isObject, type JsonObject, own } from '../../../../api/json/json.ts'
import type { Client } from '../../../../client/library/client-browser.ts'
import type { Type } from './kinds.ts'

/** An OpenAPI schema whose references are resolved on access. */
export interface Schema {
  readonly description: string
  /** `object`, `array`, `string`, `integer`, `number`, `boolean`, or '' if the schema specifies no type. */
  readonly type: string
  readonly format: string
  readonly enum: readonly string[]
  readonly required: readonly string[]
  readonly properties: readonly string[]
  /** Returns the schema of a member, or undefined if the member has none. */
  member(name: string): Schema | undefined
  /** Schema of the elements, for a list. */
  readonly items: Schema | undefined
  /** Schema of the values, for a map. */
  readonly values: Schema | undefined
  /** How lists are merged: `map`, `set` or `atomic`. */
  readonly listType: string
  readonly listKeys: readonly string[]
  /** Whether the object has the merge strategy `atomic`. */
  readonly isAtomic: boolean
}

const documents = new WeakMap<Client, Map<string, Promise<JsonObject | undefined>>>()

/** Returns the schema of a type, or undefined if the server does not publish it. */
export async function schemaOf(client: Client, type: Type): Promise<Schema | undefined> {
  const place = type.group === '' ? `api/${type.version}` : `apis/${type.group}/${type.version}`
  const documentsOfClient = documents.get(client) ?? new Map<string, Promise<JsonObject | undefined>>()
  documents.set(client, documentsOfClient)
  const document =
    documentsOfClient.get(place) ?? client.read<JsonObject>(`/openapi/v3/${place}`).catch(() => undefined)
  documentsOfClient.set(place, document)
  const schemas = memberAt(memberAt(await document, 'components'), 'schemas')
  if (!isObject(schemas)) return undefined
  const matchingSchema = Object.values(schemas).find((each) => isObject(each) && isOfKind(each, type))
  return isObject(matchingSchema) ? readSchema(matchingSchema, schemas) : undefined
}

/** Discards cached documents, because schemas change when the definitions of kinds change. */
export function forgetSchemas(client: Client): void {
  documents.delete(client)
}

function isOfKind(schema: JsonObject, { group, version, kind }: Type): boolean {
  const marks = marked(schema, 'group-version-kind')
  return (
    Array.isArray(marks) &&
    marks.some((mark) => isObject(mark) && mark.group === group && mark.version === version && mark.kind === kind)
  )
}

/** Returns the value of an `x-` extension with either vendor's prefix. */
function marked(schema: JsonObject, word: string) {
  return own(schema, `x-orch-${word}`) ?? own(schema, `x-kubernetes-${word}`)
}

function memberAt(value: unknown, name: string): unknown {
  return isObject(value) ? own(value, name) : undefined
}

function readSchema(written: JsonObject, schemas: JsonObject): Schema {
  const { schema, description } = resolved(written, schemas)
  const properties = memberAt(schema, 'properties')
  const read = (value: unknown) => (isObject(value) ? readSchema(value, schemas) : undefined)
  const listType = marked(written, 'list-type') ?? marked(schema, 'list-type')
  return {
    description,
    type: textAt(schema, 'type'),
    format: textAt(schema, 'format'),
    enum: textsAt(schema, 'enum'),
    required: textsAt(schema, 'required'),
    properties: isObject(properties) ? Object.keys(properties) : [],
    member: (name) => read(memberAt(properties, name)) ?? read(own(schema, 'additionalProperties')),
    get items() {
      return read(own(schema, 'items'))
    },
    get values() {
      return read(own(schema, 'additionalProperties'))
    },
    listType: typeof listType === 'string' ? listType : 'atomic',
    listKeys: textsIn(marked(written, 'list-map-keys') ?? marked(schema, 'list-map-keys')),
    isAtomic: marked(written, 'map-type') === 'atomic' || marked(schema, 'map-type') === 'atomic',
  }
}

/** Returns the referenced schema, with the description from the referring field. */
function resolved(written: JsonObject, schemas: JsonObject): { schema: JsonObject; description: string } {
  const [only] = Array.isArray(written.allOf) ? written.allOf : []
  const reference = textAt(isObject(only) ? only : written, '$ref')
  const target = reference === '' ? undefined : own(schemas, reference.slice(reference.lastIndexOf('/') + 1))
  const schema = isObject(target) ? target : isObject(only) ? only : written
  return { schema, description: textAt(written, 'description') || textAt(schema, 'description') }
}

function textAt(schema: JsonObject, name: string): string {
  const value = own(schema, name)
  return typeof value === 'string' ? value : ''
}

function textsAt(schema: JsonObject, name: string): readonly string[] {
  return textsIn(own(schema, name))
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/**
 * The CEL types of kinds, read from the OpenAPI documents of the server. A document is read again only if its hash has
 * changed.
 */
import type { DeclaredType } from '../../../api/cel/declared-type.ts'
import { declaredTypeOf } from '../../../api/cel/schema-types.ts'
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import type { Client } from '../../../client/requests/client.ts'
import type { KindName } from './matched-kinds.ts'

interface Index {
  readonly paths: { readonly [path: string]: { readonly serverRelativeURL: string } }
}

interface Document {
  readonly components?: { readonly schemas?: JsonObject }
}

/** Maximum number of cached types. */
const maxTypes = 100

export class PublishedTypes {
  readonly #client: Client
  readonly #vendor: Vendor
  /** Cached types, by kind and by the address of the document, which contains a hash of the document. */
  readonly #known = new BoundedMap<string, DeclaredType | undefined>(maxTypes)

  constructor(client: Client, vendor: Vendor) {
    this.#client = client
    this.#vendor = vendor
  }

  /** Returns the type of a kind, or undefined if the server does not describe the kind. */
  async typeOf({ group, version, kind }: KindName, signal: AbortSignal): Promise<DeclaredType | undefined> {
    const { paths } = await this.#client.read<Index>('/openapi/v3', { signal })
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`
    const url = Object.hasOwn(paths, path) ? paths[path]!.serverRelativeURL : undefined
    if (url === undefined) return undefined
    const key = `${url} ${kind}`
    if (this.#known.has(key)) return this.#known.get(key)
    const { components: { schemas = {} } = {} } = await this.#client.read<Document>(url, { signal })
    const type = this.#readType(schemas, { group, version, kind })
    this.#known.set(key, type)
    return type
  }

  #readType(schemas: JsonObject, name: KindName): DeclaredType | undefined {
    const prefix = this.#vendor.extensionPrefix
    const definition = Object.keys(schemas).find((each) => isDefinitionOf(schemas[each], name, prefix))
    if (definition === undefined) return undefined
    const schema = new Definitions(schemas, prefix).expand(definition)
    return declaredTypeOf(schema, { prefix, isResource: true })
  }
}

function isDefinitionOf(schema: Json | undefined, { group, version, kind }: KindName, prefix: string): boolean {
  const kinds = isObject(schema) ? schema[`${prefix}group-version-kind`] : undefined
  return (
    Array.isArray(kinds) &&
    kinds.some((each) => isObject(each) && each.group === group && each.version === version && each.kind === kind)
  )
}

const reference = '#/components/schemas/'

/** Replaces references with the definitions that they refer to. Each definition is expanded once. */
class Definitions {
  readonly #schemas: JsonObject
  readonly #prefix: string
  readonly #expanded = new Map<string, JsonObject>()

  constructor(schemas: JsonObject, prefix: string) {
    this.#schemas = schemas
    this.#prefix = prefix
  }

  /** A definition that contains itself is expanded once. At the inner level, it is an object with unknown content. */
  expand(name: string): JsonObject {
    const known = this.#expanded.get(name)
    if (known !== undefined) return known
    this.#expanded.set(name, { type: 'object' })
    const schema = own(this.#schemas, name)
    const expanded = isObject(schema) ? this.#schema(schema) : {}
    this.#expanded.set(name, expanded)
    return expanded
  }

  #schema(schema: JsonObject): JsonObject {
    const target = referenceOf(schema)
    if (target !== undefined) return this.expand(target)
    // Built-in kinds mark an int-or-string field with `oneOf` or a format instead of the `x-kubernetes-int-or-string`
    // extension.
    const isUnion = schema.type === undefined && Array.isArray(schema.oneOf)
    if (isUnion || schema.format === 'int-or-string') return { [`${this.#prefix}int-or-string`]: true }
    const { properties, items, additionalProperties } = schema
    return {
      ...schema,
      ...(isObject(properties) && { properties: this.#all(properties) }),
      ...(isObject(items) && { items: this.#schema(items) }),
      ...(isObject(additionalProperties) && { additionalProperties: this.#schema(additionalProperties) }),
    }
  }

  #all(schemas: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(schemas).map(([name, each]) => [name, isObject(each) ? this.#schema(each) : each]),
    )
  }
}

/** A reference with a default value is the only element of `allOf`. */
function referenceOf({ $ref, allOf }: JsonObject): string | undefined {
  if (typeof $ref === 'string' && $ref.startsWith(reference)) return $ref.slice(reference.length)
  const only = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined
  return isObject(only) ? referenceOf(only) : undefined
}

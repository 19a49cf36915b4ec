/**
 * Writes schemas as OpenAPI schema objects.
 *
 * A named type becomes a definition and is written as a reference, and an unnamed type is written inline. Merge markers
 * of lists and maps have the vendor's prefix. Versions 2 and 3 differ only in the location of definitions, in the
 * keywords allowed next to a reference, and in the description of values with two types.
 */
import { compareUtf8 } from '../../base/collections/utf8-order.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { definitionName, type Vendor, vendorOf } from '../model/vendor.ts'
import { type EmulatedVersion, isAtLeast, oldestVersion } from '../versions/emulated-version.ts'
import type { AnySchema, Field, ListSchema, ObjectSchema, Schema, StringSchema } from './schema.ts'

export type OpenApiVersion = 2 | 3

/** Collects the definitions of one document. */
export class Definitions {
  readonly vendor: Vendor
  readonly version: OpenApiVersion
  readonly #definitions = new Map<string, JsonObject>()
  readonly #names: Vendor
  readonly #emulated: EmulatedVersion
  /**
   * Whether fields that are always written are published with their zero value as the default, as in OpenAPI version 3
   * since Kubernetes 1.24.
   */
  readonly #hasZeroDefaults: boolean

  constructor(vendor: Vendor, version: OpenApiVersion, emulated: EmulatedVersion = oldestVersion) {
    this.vendor = vendor
    this.version = version
    this.#emulated = emulated
    const isPublic = isAtLeast(emulated, '1.24')
    this.#names = isPublic ? vendorOf('kubernetes') : vendor
    this.#hasZeroDefaults = isPublic && version === 3
  }

  /**
   * Returns the OpenAPI schema, or a reference to it for a named type. `home` is the package to which short type names
   * belong, such as `core.v1`.
   */
  write(schema: Schema, home: string): JsonObject {
    const named = publishedType(schema)
    return named === undefined ? this.#inline(schema, home) : this.#refer(schema, named, home)
  }

  /**
   * Adds the group, version and kind of objects to the definition of their type, if the document contains this
   * definition.
   */
  mark(schema: ObjectSchema, home: string, kinds: readonly JsonObject[]): void {
    const definition = this.#definitions.get(this.#fullName(schema.name!, home))
    if (definition !== undefined) definition[this.marker('group-version-kind')] = [...kinds]
  }

  /** Returns the name of a vendor extension, including its prefix. */
  marker(name: string): string {
    return `${this.vendor.extensionPrefix}${name}`
  }

  /** Returns the names and definitions, sorted by name. */
  entries(): [string, JsonObject][] {
    return [...this.#definitions].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  #refer(schema: Schema, { name, doc }: PublishedType, home: string): JsonObject {
    const full = this.#fullName(name, home)
    if (!this.#definitions.has(full)) {
      const definition: JsonObject = doc === undefined ? {} : { description: doc }
      // A type may contain itself, so register it before writing its content.
      this.#definitions.set(full, definition)
      Object.assign(definition, this.#inline(schema, packageOf(name) ?? home))
    }
    return { $ref: `${this.version === 2 ? '#/definitions/' : '#/components/schemas/'}${full}` }
  }

  #fullName(name: string, home: string): string {
    return definitionName(this.#names, packageOf(name) === undefined ? `${home}.${name}` : name)
  }

  #inline(schema: Schema, home: string): JsonObject {
    switch (schema.type) {
      case 'string':
        return { type: 'string', ...this.#enum(schema) }
      case 'boolean':
        return { type: 'boolean' }
      case 'integer':
        return { type: 'integer', format: `int${schema.bits}` }
      case 'number':
        return { type: 'number', format: 'double' }
      case 'bytes':
        return { type: 'string', format: 'byte', ...(schema.atomic ? { [this.marker('list-type')]: 'atomic' } : {}) }
      case 'time':
        return { type: 'string', format: 'date-time' }
      case 'quantity':
        return this.version === 2 ? { type: 'string' } : eitherOf('string', 'number')
      case 'intOrString':
        return { ...(this.version === 2 ? { type: 'string' } : eitherOf('integer', 'string')), format: 'int-or-string' }
      case 'any':
        return this.#any(schema, home)
      case 'map':
        return {
          type: 'object',
          additionalProperties: this.#element(schema.values, home),
          ...(schema.atomic ? { [this.marker('map-type')]: 'atomic' } : {}),
        }
      case 'list':
        return { type: 'array', items: this.#element(schema.items, home), ...this.#listMarkers(schema) }
      case 'object':
        return this.#object(schema, home)
      default:
        return schema satisfies never
    }
  }

  #enum({ values, listed }: StringSchema): JsonObject {
    if (!this.#hasZeroDefaults) return values === undefined ? {} : { enum: [...values] }
    const published = listed ?? values
    return published === undefined ? {} : { enum: published.toSorted(compareUtf8) }
  }

  /** Writes the type of list elements or map values, which are never absent. */
  #element(schema: Schema, home: string): JsonObject {
    const written = this.write(schema, home)
    const zero = this.#hasZeroDefaults ? this.#zeroOf(schema) : undefined
    if (zero === undefined) return written
    return written.$ref === undefined ? { ...written, default: zero } : { default: zero, allOf: [written] }
  }

  /** Returns the zero value of types that cannot be null. */
  #zeroOf(schema: Schema): Json | undefined {
    switch (schema.type) {
      case 'string':
        return ''
      case 'boolean':
        return false
      case 'integer':
      case 'number':
        return 0
      case 'object':
        return schema.publish === undefined ? {} : undefined
      case 'time':
      case 'quantity':
      case 'intOrString':
        return isAtLeast(this.#emulated, '1.31') ? undefined : {}
      default:
        return undefined
    }
  }

  #any({ name, untyped, described }: AnySchema, home: string): JsonObject {
    if (name === undefined) return { [this.marker('preserve-unknown-fields')]: true }
    if (described !== undefined) return this.#object(described(this.vendor), home)
    return untyped ? {} : { type: 'object' }
  }

  #object(schema: ObjectSchema, home: string): JsonObject {
    const { publish } = schema
    if (publish !== undefined)
      return publish({
        version: this.version,
        emulated: this.#emulated,
        writeField: (field) => this.#field(field, home),
      })
    const fields = Object.entries(schema.fields)
    const required = fields.filter(([, field]) => isRequired(field, this.#emulated)).map(([name]) => name)
    // OpenAPI encodes properties as a map, and maps are sorted by key.
    const sorted = fields.toSorted(([a], [b]) => compareUtf8(a, b))
    const properties = sorted.map(([name, field]) => [name, this.#field(field, home)] as const)
    return {
      type: 'object',
      ...(required.length === 0 ? {} : { required }),
      ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      ...(schema.atomic ? { [this.marker('map-type')]: 'atomic' } : {}),
      ...(schema.open ? { [this.marker('preserve-unknown-fields')]: true } : {}),
    }
  }

  /**
   * Returns the published default of a field. Since 1.24, OpenAPI version 3 has only the defaults that Kubernetes
   * declares on the field, and the zero values of fields that are never absent. Other defaults depend on the object.
   */
  #defaultOf({ schema, default: given, required, zeroValue, publishDefaultSince }: Field): Json | undefined {
    if (!this.#hasZeroDefaults) return given
    if (publishDefaultSince !== undefined && isAtLeast(this.#emulated, publishDefaultSince)) return given
    return zeroValue === 'write' || (required && schema.type !== 'object') ? this.#zeroOf(schema) : undefined
  }

  #field(field: Field, home: string): JsonObject {
    const { schema, doc, patch } = field
    const preset = this.#defaultOf(field)
    const written = this.write(schema, home)
    const beside = {
      ...(doc === undefined ? {} : { description: doc }),
      ...(preset === undefined ? {} : { default: preset }),
      ...(patch === undefined ? {} : { [this.marker('patch-strategy')]: patch }),
    }
    if (this.version === 2 || written.$ref === undefined || Object.keys(beside).length === 0)
      return { ...beside, ...written }
    // OpenAPI version 3 does not allow other keywords next to a reference.
    return { ...beside, allOf: [written] }
  }

  #listMarkers({ list, keys, patch, mergeKey, retainKeys, unmarked }: ListSchema): JsonObject {
    return {
      ...(unmarked && this.#hasZeroDefaults ? {} : { [this.marker('list-type')]: list }),
      ...(keys === undefined ? {} : { [this.marker('list-map-keys')]: [...keys] }),
      ...(patch === undefined ? {} : { [this.marker('patch-strategy')]: retainKeys ? `${patch},retainKeys` : patch }),
      ...(mergeKey === undefined ? {} : { [this.marker('patch-merge-key')]: mergeKey }),
    }
  }
}

interface PublishedType {
  readonly name: string
  readonly doc: string | undefined
}

/** Returns the published name of a type, or undefined if the type is not published. */
function publishedType(schema: Schema): PublishedType | undefined {
  switch (schema.type) {
    case 'time':
      return schema.micro
        ? { name: 'meta.v1.MicroTime', doc: 'An RFC 3339 timestamp with microseconds.' }
        : { name: 'meta.v1.Time', doc: 'An RFC 3339 timestamp with seconds.' }
    case 'quantity':
      return {
        name: 'api.resource.Quantity',
        doc: 'A number with an optional unit or exponent, such as `100m`, `1.5`, `2Gi` or `5e3`. Parsed exactly.',
      }
    case 'intOrString':
      return { name: 'util.intstr.IntOrString', doc: 'An integer, or a string such as a name or a percentage.' }
    case 'any':
    case 'object':
      return schema.name === undefined ? undefined : { name: schema.name, doc: schema.doc }
    case 'string':
    case 'boolean':
    case 'integer':
    case 'number':
    case 'bytes':
    case 'map':
    case 'list':
      return undefined
    default:
      return schema satisfies never
  }
}

/**
 * Returns the package of a type name, for example `meta.v1` for `meta.v1.ObjectMeta`. Returns undefined for a short
 * name.
 */
function packageOf(name: string): string | undefined {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? undefined : name.slice(0, dot)
}

/**
 * Whether a field is published as required. True if validation requires the field, or if the field is always written.
 * However, objects and times that are always written may be empty, so they are optional for clients. An explicit
 * `published` takes precedence.
 */
function isRequired(
  { required, zeroValue, schema, published, optionalSince }: Field,
  emulated: EmulatedVersion,
): boolean {
  if (optionalSince !== undefined && isAtLeast(emulated, optionalSince)) return false
  if (published !== undefined) return published === 'required'
  return required || (zeroValue === 'write' && schema.type !== 'object' && schema.type !== 'time')
}

function eitherOf(...types: string[]): JsonObject {
  return { oneOf: types.map((type) => ({ type })) }
}

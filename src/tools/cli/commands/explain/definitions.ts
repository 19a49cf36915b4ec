/** The definitions in an OpenAPI document. Finds the definition of a type, its fields and their types. */

import { isObject, type Json, type JsonObject, own } from '../../../../api/json/json.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'

const refPrefix = '#/components/schemas/'

export class Definitions {
  readonly #schemas: JsonObject

  constructor(document: JsonObject) {
    const components = own(document, 'components')
    const schemas = isObject(components) ? own(components, 'schemas') : undefined
    this.#schemas = isObject(schemas) ? schemas : {}
  }

  /** Returns the definition of a type, or undefined if the document has none. */
  ofType({ group, version, kind }: DiscoveredType): JsonObject | undefined {
    for (const schema of Object.values(this.#schemas)) {
      if (!isObject(schema)) continue
      const marks = Object.entries(schema).find(([key]) => key.endsWith('-group-version-kind'))?.[1]
      const fits = (mark: Json) =>
        isObject(mark) && mark.group === group && mark.version === version && mark.kind === kind
      if (Array.isArray(marks) && marks.some(fits)) return schema
    }
    return undefined
  }

  /** Resolves references. Attributes next to a reference override those of the referenced schema. */
  resolved(schema: JsonObject): JsonObject {
    const parts = own(schema, 'allOf')
    const inner = Array.isArray(parts) && parts.length === 1 && isObject(parts[0]!) ? parts[0] : schema
    const ref = own(inner, '$ref')
    const target =
      typeof ref === 'string' && ref.startsWith(refPrefix) ? own(this.#schemas, ref.slice(refPrefix.length)) : undefined
    if (!isObject(target)) return inner === schema ? schema : { ...inner, ...schema }
    return { ...target, ...schema, outer: own(schema, 'description') ?? '', inner: own(target, 'description') ?? '' }
  }

  /** Returns the innermost element schema of a list or map, or the schema itself if it is neither. */
  element(schema: JsonObject): JsonObject {
    const whole = this.resolved(schema)
    for (const key of ['items', 'additionalProperties']) {
      const inner = own(whole, key)
      if (isObject(inner)) return this.element(inner)
    }
    return whole
  }

  fieldsOf(schema: JsonObject): [string, JsonObject][] {
    const properties = own(this.element(schema), 'properties')
    if (!isObject(properties)) return []
    return Object.entries(properties)
      .flatMap(([name, field]) => (isObject(field) ? [[name, field] as [string, JsonObject]] : []))
      .sort(([a], [b]) => (a < b ? -1 : 1))
  }

  isRequired(schema: JsonObject, field: string): boolean {
    const required = own(this.element(schema), 'required')
    return Array.isArray(required) && required.includes(field)
  }

  /**
   * Returns `string`, `Object`, `[]Object`, `map[string]string` or `map[string]`. Returns '' if the schema allows any
   * type.
   */
  typeName(schema: JsonObject): string {
    const whole = this.resolved(schema)
    const type = own(whole, 'type')
    const items = own(whole, 'items')
    if (type === 'array' && isObject(items)) return `[]${this.typeName(items)}`
    const values = own(whole, 'additionalProperties')
    if (isObject(values)) return `map[string]${this.typeName(values)}`
    if (own(whole, 'properties') !== undefined) return 'Object'
    // Show an object without specified fields as a map, as kubectl does.
    if (type === 'object') return 'map[string]'
    return typeof type === 'string' ? type : own(whole, 'anyOf') || own(whole, 'oneOf') ? 'string' : ''
  }
}

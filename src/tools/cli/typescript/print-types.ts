/**
 * Prints OpenAPI schemas as TypeScript types, with descriptions as comments. A named definition with fields becomes an
 * interface. All other schemas are printed inline.
 */
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'

/** A kind to print: its TypeScript name, its schema, and the type data that clients need to access it. */
export interface PrintedKind {
  /** Name of the TypeScript interface. */
  readonly name: string
  readonly schema: JsonObject
  readonly type: {
    readonly group: string
    readonly version: string
    readonly kind: string
    readonly plural: string
    readonly namespaced: boolean
  }
}

/** OpenAPI definitions by name, as they occur in `$ref`. */
export type Definitions = { readonly [name: string]: Json | undefined }

/**
 * Prints the types of kinds and of all definitions to which they refer. `names` contains fixed names for some
 * definitions. The printer chooses all other names.
 */
export class TypePrinter {
  readonly #definitions: Definitions
  readonly #names: Map<string, string>
  readonly #usedNames: Set<string>
  readonly #waiting: string[] = []

  constructor(
    definitions: Definitions,
    names: ReadonlyMap<string, string> = new Map(),
    usedNames: Iterable<string> = [],
  ) {
    this.#definitions = definitions
    this.#names = new Map(names)
    this.#usedNames = new Set([...usedNames, ...names.values()])
  }

  /** Prints the interface of a whole object. apiVersion, kind and metadata are required. */
  kind({ name, schema }: PrintedKind): string {
    const whole = this.#resolved(schema)
    const base = { apiVersion: 'string', kind: 'string', metadata: 'ObjectMeta' }
    const fixed = Object.entries(base).map(([field, type]) => `  ${field}: ${type}\n`)
    const others = this.#fields(whole, '  ', (field) => !Object.hasOwn(base, field))
    return `${comment(own(whole, 'description'), '')}export interface ${name} {\n${fixed.join('')}${others}}\n`
  }

  /** Prints the interfaces that were referenced but have not been printed yet. */
  referred(): string {
    let text = ''
    for (let name = this.#waiting.shift(); name !== undefined; name = this.#waiting.shift()) {
      const schema = this.#definitions[name] as JsonObject
      const head = `${comment(own(schema, 'description'), '')}export interface ${this.#names.get(name)}`
      text += `${head} {\n${this.#fields(schema, '  ')}}\n`
    }
    return text
  }

  #fields(schema: JsonObject, indent: string, isIncluded: (name: string) => boolean = () => true): string {
    const properties = own(schema, 'properties')
    const required = own(schema, 'required')
    const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
    const fields = isObject(properties) ? Object.entries(properties).filter(([name]) => isIncluded(name)) : []
    const lines = fields.map(([name, field]) => {
      const inner = isObject(field) ? field : {}
      const optional = isRequired(name) ? '' : '?'
      return `${comment(own(inner, 'description'), indent)}${indent}${keyOf(name)}${optional}: ${this.#type(inner, indent)}\n`
    })
    return lines.join('') + (keepsUnknown(schema) ? `${indent}[field: string]: unknown\n` : '')
  }

  #type(schema: JsonObject, indent: string): string {
    const type = this.#bareType(schema, indent)
    return own(schema, 'nullable') === true ? `${type} | null` : type
  }

  #bareType(schema: JsonObject, indent: string): string {
    const [only, ...more] = listOf(schema, 'allOf')
    if (only !== undefined && more.length === 0 && own(schema, 'properties') === undefined)
      return this.#type(only, indent)
    const ref = own(schema, '$ref')
    if (typeof ref === 'string') return this.#reference(ref.slice(ref.lastIndexOf('/') + 1), indent)
    if (isIntOrString(schema)) return 'number | string'
    const values = own(schema, 'enum')
    if (Array.isArray(values) && values.length > 0) return values.map((value) => JSON.stringify(value)).join(' | ')
    const choices = [...listOf(schema, 'oneOf'), ...listOf(schema, 'anyOf')]
    if (own(schema, 'type') === undefined && choices.some((choice) => own(choice, 'type') !== undefined))
      return [...new Set(choices.map((choice) => this.#type(choice, indent)))].join(' | ')
    return this.#plainType(schema, indent)
  }

  #plainType(schema: JsonObject, indent: string): string {
    switch (own(schema, 'type')) {
      case 'string':
      case 'boolean':
        return String(schema.type)
      case 'integer':
      case 'number':
        return 'number'
      case 'array': {
        const items = this.#type(objectIn(schema, 'items'), indent)
        return /[ {]/.test(items) && !items.startsWith('{') ? `(${items})[]` : `${items}[]`
      }
      case 'object':
        return this.#objectType(schema, indent)
      default:
        return own(schema, 'properties') === undefined ? 'unknown' : this.#objectType(schema, indent)
    }
  }

  #objectType(schema: JsonObject, indent: string): string {
    if (own(schema, 'properties') !== undefined) return `{\n${this.#fields(schema, `${indent}  `)}${indent}}`
    const values = own(schema, 'additionalProperties')
    return `{ [key: string]: ${isObject(values) ? this.#type(values, indent) : 'unknown'} }`
  }

  /** Prints a definition without fields, such as a time, inline. */
  #reference(name: string, indent: string): string {
    if (name.endsWith('.ObjectMeta')) return 'ObjectMeta'
    const schema = this.#definitions[name]
    if (!isObject(schema)) return 'unknown'
    if (own(schema, 'properties') === undefined) return this.#bareType(schema, indent)
    const existingName = this.#names.get(name)
    if (existingName !== undefined) return existingName
    const newName = this.#choose(name)
    this.#names.set(name, newName)
    this.#usedNames.add(newName)
    this.#waiting.push(name)
    return newName
  }

  /**
   * Chooses the name of a definition. For example, shortens `io.orch.api.core.v1.PodSpec` to `PodSpec`. If that name is
   * taken, tries `CorePodSpec`, then `CorePodSpecV1`, and then adds a number.
   */
  #choose(definition: string): string {
    const [last = '', version = '', group = ''] = definition.split('.').reverse()
    const plain = pascal(last)
    const inGroup = `${pascal(group)}${plain}`
    const candidates = [plain, inGroup, `${inGroup}${pascal(version)}`]
    for (let number = 2; ; number++) {
      const free = candidates.find((name) => !this.#usedNames.has(name))
      if (free !== undefined) return free
      candidates.push(`${inGroup}${number}`)
    }
  }

  #resolved(schema: JsonObject): JsonObject {
    const ref = own(schema, '$ref')
    if (typeof ref !== 'string') return schema
    const target = this.#definitions[ref.slice(ref.lastIndexOf('/') + 1)]
    return isObject(target) ? target : {}
  }
}

/** Prints a constant with the group, version and plural name of a kind, which clients need to access its objects. */
export function printResourceType({ name, type }: PrintedKind): string {
  const { group, version, kind, plural, namespaced } = type
  const names = Object.entries({ group, version, kind, plural }).map(([key, text]) => `  ${key}: ${quoted(text)},\n`)
  return `export const ${name}: ResourceType<${name}> = {\n${names.join('')}  namespaced: ${namespaced},\n}\n`
}

/** Converts the name of a kind to an identifier. */
export function pascal(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const joined = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(joined) ? joined : `Type${joined}`
}

function comment(text: Json | undefined, indent: string): string {
  if (typeof text !== 'string' || text.trim() === '') return ''
  const lines = text
    .trim()
    .replaceAll('*/', '*\\/')
    .split(/\r\n|[\n\r\u2028\u2029]/)
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}

function quoted(text: string): string {
  return /^[\w./:-]*$/.test(text) ? `'${text}'` : JSON.stringify(text)
}

function isIntOrString(schema: JsonObject): boolean {
  return own(schema, 'format') === 'int-or-string' || hasMark(schema, 'int-or-string')
}

function keepsUnknown(schema: JsonObject): boolean {
  return hasMark(schema, 'preserve-unknown-fields')
}

/** Whether the schema has an extension with this name, with any vendor's prefix. */
function hasMark(schema: JsonObject, mark: string): boolean {
  return Object.entries(schema).some(
    ([key, value]) => key.startsWith('x-') && key.endsWith(`-${mark}`) && value === true,
  )
}

function listOf(schema: JsonObject, key: string): JsonObject[] {
  const list = own(schema, key)
  return Array.isArray(list) ? list.filter(isObject) : []
}

function objectIn(schema: JsonObject, key: string): JsonObject {
  const inner = own(schema, key)
  return isObject(inner) ? inner : {}
}

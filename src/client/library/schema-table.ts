/**
 * Schemas of kinds as plain data: everything that Protobuf encoding needs, without validation. The bundle of
 * `orch/client` contains this table instead of the kinds (scripts/bundle.mjs). Parts used by multiple schemas are
 * shared in the table and in the result.
 */
import { isObject, type Json, type JsonObject } from '../../api/json/json.ts'
import { profileNames, type Vendor, vendorOf } from '../../api/model/vendor.ts'
import type { Kind } from '../../api/schema/kind.ts'
import type { ObjectSchema } from '../../api/schema/schema.ts'

/** The parts of a kind's definition that determine its Protobuf encoding. */
export type WireKind = Pick<Kind, 'group' | 'version' | 'kind' | 'schema'>

/** All parts of all schemas, without duplicates. Parts refer to other parts by index, as `{ $: index }`. */
export interface SchemaTable {
  readonly parts: readonly JsonObject[]
  readonly kinds: readonly { readonly [K in Exclude<keyof WireKind, 'schema'>]: string }[]
  /** Index of the root part of each kind's schema. */
  readonly schemas: readonly number[]
}

/** Schema members that are not needed for encoding, such as documentation. */
const leftOut = new Set([
  'doc',
  'default',
  'published',
  'list',
  'keys',
  'patch',
  'mergeKey',
  'unique',
  'required',
  'noun',
])

export function toTable(kinds: readonly WireKind[]): SchemaTable {
  const writer = new TableWriter()
  const schemas = kinds.map(({ schema }) => writer.indexOf(schema))
  const names = kinds.map(({ group, version, kind }) => ({ group, version, kind }))
  return { parts: writer.parts, kinds: names, schemas }
}

class TableWriter {
  readonly parts: JsonObject[] = []
  readonly #indexes = new Map<object, number>()

  indexOf(part: object, membersOf = membersOfPart): number {
    const knownIndex = this.#indexes.get(part)
    if (knownIndex !== undefined) return knownIndex
    const index = this.parts.push({}) - 1
    // Register the part before writing its members, because a recursive schema contains itself.
    this.#indexes.set(part, index)
    const members = membersOf(part).map(([name, value]) => [name, this.#write(name, value)])
    this.parts[index] = Object.fromEntries(members)
    return index
  }

  #write(name: string, value: unknown): Json {
    if (Array.isArray(value)) return value.map((item) => this.#write('', item))
    if (name === described) return this.#writeDescribed(value as Described)
    // The keys in `fields` are names of API fields, so they must not be mistaken for schema members to omit.
    if (name === 'fields') return { $: this.indexOf(value as object, Object.entries) }
    return typeof value === 'object' && value !== null ? { $: this.indexOf(value) } : (value as Json)
  }

  #writeDescribed(describedFor: Described): JsonObject {
    const entries = profileNames.map((profile) => [profile, { $: this.indexOf(describedFor(vendorOf(profile))) }])
    return Object.fromEntries(entries)
  }
}

type Described = (vendor: Vendor) => ObjectSchema
/** Marks a value that depends on the vendor. No field has this name. */
const described = '$described'

function membersOfPart(part: object): [string, unknown][] {
  return Object.entries(part).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'described') return [[described, value]]
    return typeof value === 'function' || leftOut.has(name) ? [] : [[name, value]]
  })
}

export function fromTable({ parts, kinds, schemas }: SchemaTable): WireKind[] {
  const restoredParts: { [name: string]: unknown }[] = parts.map(() => ({}))
  const read = (value: Json): unknown => {
    if (Array.isArray(value)) return value.map(read)
    return isObject(value) ? restoredParts[value.$ as number] : value
  }
  for (const [index, part] of parts.entries())
    for (const [name, value = null] of Object.entries(part))
      if (name === described)
        restoredParts[index]!.described = ({ profile }: Vendor) => read((value as JsonObject)[profile]!)
      else restoredParts[index]![name] = read(value)
  return kinds.map((names, index) => ({ ...names, schema: restoredParts[schemas[index]!] as unknown as ObjectSchema }))
}

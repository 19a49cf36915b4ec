/**
 * Schemas of kinds as plain data: all that reading and writing Protobuf needs of them, and nothing that judges objects.
 * The bundle of `orch/client` holds such a table in the place of the kinds themselves (scripts/bundle.mjs). Parts that
 * schemas share are shared in the table and afterwards.
 */
import { isObject, type Json, type JsonObject } from '../../api/json/json.ts'
import { profileNames, type Vendor, vendorOf } from '../../api/model/vendor.ts'
import type { Kind } from '../../api/schema/kind.ts'
import type { ObjectSchema } from '../../api/schema/schema.ts'

/** What Protobuf needs of a kind. */
export type WireKind = Pick<Kind, 'group' | 'version' | 'kind' | 'schema'>

/** Every part once; a part within another is `{ $: index }`. */
export interface SchemaTable {
  readonly parts: readonly JsonObject[]
  readonly kinds: readonly { readonly [K in Exclude<keyof WireKind, 'schema'>]: string }[]
  /** The index of each kind's schema. */
  readonly schemas: readonly number[]
}

/** What is said to people, or decides nothing on the wire. */
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
    const known = this.#indexes.get(part)
    if (known !== undefined) return known
    const index = this.parts.push({}) - 1
    // Known before it is written, so that a part may contain itself.
    this.#indexes.set(part, index)
    const members = membersOf(part).map(([name, value]) => [name, this.#write(name, value)])
    this.parts[index] = Object.fromEntries(members)
    return index
  }

  #write(name: string, value: unknown): Json {
    if (Array.isArray(value)) return value.map((item) => this.#write('', item))
    if (name === described) return this.#writeDescribed(value as Described)
    // The names of fields are users' words: none is left out.
    if (name === 'fields') return { $: this.indexOf(value as object, Object.entries) }
    return typeof value === 'object' && value !== null ? { $: this.indexOf(value) } : (value as Json)
  }

  #writeDescribed(describedFor: Described): JsonObject {
    const entries = profileNames.map((profile) => [profile, { $: this.indexOf(describedFor(vendorOf(profile))) }])
    return Object.fromEntries(entries)
  }
}

type Described = (vendor: Vendor) => ObjectSchema
/** No field has this name: the member of a schema that depends on the vendor. */
const described = '$described'

function membersOfPart(part: object): [string, unknown][] {
  return Object.entries(part).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'described') return [[described, value]]
    return typeof value === 'function' || leftOut.has(name) ? [] : [[name, value]]
  })
}

export function fromTable({ parts, kinds, schemas }: SchemaTable): WireKind[] {
  const made: { [name: string]: unknown }[] = parts.map(() => ({}))
  const read = (value: Json): unknown => {
    if (Array.isArray(value)) return value.map(read)
    return isObject(value) ? made[value.$ as number] : value
  }
  for (const [index, part] of parts.entries())
    for (const [name, value = null] of Object.entries(part))
      if (name === described) made[index]!.described = ({ profile }: Vendor) => read((value as JsonObject)[profile]!)
      else made[index]![name] = read(value)
  return kinds.map((names, index) => ({ ...names, schema: made[schemas[index]!] as unknown as ObjectSchema }))
}

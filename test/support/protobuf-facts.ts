/**
 * The recorded facts of every type as Protobuf messages: field numbers and wire types. A codec and a `.proto` text that
 * are derived from these facts check the server independently. The only import from `src/` is the definitions of this
 * project's own kinds, which are not recorded (`own-facts.ts`).
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownFacts } from './own-facts.ts'

interface FieldFacts {
  readonly type: string
  readonly tag?: number
}

interface TypeFacts {
  readonly scalar?: string
  /** Messages whose fields are inlined in JSON. For a scalar, these are the fields of its message. */
  readonly inlined?: { readonly [name: string]: { readonly type: string; readonly tag: number } }
  /** A message that exists only in Protobuf. */
  readonly wireOnly?: boolean
  readonly fields?: { readonly [name: string]: FieldFacts }
}

export const facts: { readonly [name: string]: TypeFacts } = {
  ...JSON.parse(readFileSync(join(import.meta.dirname, '../data/fields.json'), 'utf8')),
  ...ownFacts(),
}

/** Type of a field: a plain value, a type with a special encoding, or the full name of a message. */
export interface FieldType {
  readonly kind: 'string' | 'bool' | 'int32' | 'int64' | 'double' | 'bytes' | 'message'
  /** Full name of a message, such as `core.v1.PodSpec` or `meta.v1.Time`. */
  readonly message?: string
  readonly shape: 'one' | 'list' | 'map'
  /** Whether the list is encoded as a separate message. */
  readonly wrapped?: boolean
}

export interface MessageField {
  readonly name: string
  readonly number: number
  readonly type: FieldType
  /** Whether the message contains fields that are inlined in JSON. */
  readonly inlined: boolean
}

const plain: { readonly [type: string]: FieldType['kind'] } = {
  string: 'string',
  boolean: 'bool',
  bool: 'bool',
  'integer:int32': 'int32',
  int32: 'int32',
  'integer:int64': 'int64',
  int64: 'int64',
  'number:double': 'double',
  'string:byte': 'bytes',
  bytes: 'bytes',
}

/** Lists encoded as separate messages although they are not in a map. */
const wrapped = new Set(['meta.v1.APIResource.verbs'])

/** List fields of types that are not objects in JSON. */
const repeated = new Set([
  'apiextensions.v1.JSONSchemaPropsOrArray.jSONSchemas',
  'apiextensions.v1.JSONSchemaPropsOrStringArray.property',
])

/** The type whose vendor extensions are recorded under their Go names. */
const schemaType = 'apiextensions.v1.JSONSchemaProps'

/** Returns the JSON name of a vendor extension, such as `x-orch-list-type` for `xKubernetesListType`. */
function keywordOf(name: string): string {
  return name.replace(/^xKubernetes/, 'x-orch').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Returns the fields of the message with this full name. */
export function fieldsOf(name: string): MessageField[] {
  const type = facts[name] ?? missing(name)
  const { fields = {}, inlined = {}, scalar } = name === schemaType ? withNumbers(type) : type
  const own = Object.entries(fields)
    .filter(([, { tag }]) => tag !== undefined)
    .map(([field, { type, tag }]) => ({
      name: field,
      number: tag!,
      type: { ...typeOf(type, name), ...(wrapped.has(`${name}.${field}`) ? { wrapped: true } : {}) },
      inlined: false,
    }))
  const within = Object.entries(inlined).map(([field, { type, tag }]) => ({
    name: field,
    number: tag,
    type: { ...typeOf(type, name), ...(repeated.has(`${name}.${field}`) ? { shape: 'list' as const } : {}) },
    inlined: scalar === undefined,
  }))
  return [...own, ...within].sort((a, b) => a.number - b.number)
}

function withNumbers({ fields = {}, inlined = {} }: TypeFacts): TypeFacts {
  const numbers = new Map(Object.entries(inlined).map(([name, { tag }]) => [keywordOf(name), tag]))
  const numbered = Object.entries(fields).map(([name, field]) => {
    const tag = field.tag ?? numbers.get(name)
    return [name, tag === undefined ? field : { ...field, tag }] as const
  })
  return { fields: Object.fromEntries(numbered) }
}

function missing(name: string): never {
  throw new Error(`there are no facts of ${name}`)
}

function typeOf(text: string, within: string): FieldType {
  const map = /^map<string, ?(.+)>$/.exec(text)?.[1]
  if (map !== undefined) {
    const value = typeOf(map, within)
    return { ...value, shape: 'map', wrapped: value.shape === 'list' }
  }
  if (text.endsWith('[]')) return { ...typeOf(text.slice(0, -2), within), shape: 'list' }
  const kind = plain[text]
  return kind === undefined
    ? { kind: 'message', message: fullName(text, within), shape: 'one' }
    : { kind, shape: 'one' }
}

/**
 * Returns the full name of a type. Some facts contain only the last word of a type in the same package or in a shared
 * package.
 */
function fullName(type: string, within: string): string {
  if (facts[type] !== undefined) return type
  const near = `${within.slice(0, within.lastIndexOf('.'))}.${type}`
  if (facts[near] !== undefined) return near
  const shared = ['meta.v1', 'runtime', 'authentication.v1'].map((home) => `${home}.${type}`)
  return shared.find((name) => facts[name] !== undefined) ?? missing(`${type} in ${within}`)
}

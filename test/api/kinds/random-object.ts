/**
 * Generates random objects for a schema from a seed. The same seed generates the same object. `valid-values.ts` adds
 * rules that a schema cannot express, such as the format of a name or mutually exclusive fields. These rules follow the
 * published API rather than this repository's code, and Kubernetes 1.23 accepts every generated object.
 */
import { type Json, type JsonObject, setKey } from '../../../src/api/json/json.ts'
import type { Field, ListSchema, ObjectSchema, Schema } from '../../../src/api/schema/schema.ts'
import { type RandomSource, seeded } from '../../storage/store/random-source.ts'
import { typeName } from './fields-of.ts'

export interface Making extends RandomSource {
  /** Returns a different number on each call. */
  count(): number
}

/** Generates the value of a field, or undefined to omit the field. */
export type MakeField = (making: Making) => Json | undefined

export interface ValidValues {
  /**
   * Generators keyed by type and field, for example `Container.name`. These fields are always set. If API versions
   * differ, the key starts with the group and version of the kind, for example `autoscaling.v2beta1.MetricSpec.type`.
   */
  readonly fields: { readonly [typeAndField: string]: MakeField }
  /** Fields that are always set because validation requires them, although the schema does not. */
  readonly needed: readonly string[]
  /** Maximum number of elements for lists that need more than two elements for good coverage. */
  readonly longest: { readonly [typeAndField: string]: number }
  /** Functions, keyed by type, that modify a generated object to make its fields consistent. */
  readonly agree: { readonly [type: string]: (object: JsonObject, making: Making) => void }
}

export function makingFrom(seed: number): Making {
  let counted = 0
  return { ...seeded(seed), count: () => ++counted }
}

/** Strings that an encoder or decoder might misinterpret or corrupt. */
const texts = [
  'a',
  'word',
  'two words',
  '__proto__',
  'null',
  'true',
  '0',
  '1e3',
  '{}',
  "it's",
  'é\u0301',
  '😀',
  'a\nb\t"\\',
]

export function freeText(making: Making): string {
  return making.pick(texts)
}

/** Generates an object. `home` is the group and version of the kind. */
export function makeObject(schema: ObjectSchema, making: Making, values: ValidValues, home = ''): JsonObject {
  return makeOne(schema, { making, values, home, depth: 0, longest: 2 }) as JsonObject
}

interface Place {
  readonly making: Making
  readonly values: ValidValues
  readonly home: string
  readonly depth: number
  /** Maximum number of elements of a list or map. */
  readonly longest: number
}

function makeOne(schema: Schema, place: Place): Json {
  const { making } = place
  switch (schema.type) {
    case 'string':
      return schema.values ? making.pick(schema.values) : freeText(making)
    case 'boolean':
      return making.chance(0.5)
    case 'integer':
      return 1 + making.below(schema.bits === 32 ? 1000 : 100_000)
    case 'number':
      return making.pick([0.5, 2, 1000])
    case 'bytes':
      return Buffer.from(freeText(making)).toString('base64')
    case 'time':
      return `20${10 + making.below(80)}-02-03T04:05:0${making.below(10)}${schema.micro ? '.012340' : ''}Z`
    case 'quantity':
      return making.pick(['1', '2', '100m', '1500m', '1k', '1Mi', '5Gi', '0'])
    case 'intOrString':
      return making.pick<Json>([1, 8080, 'web'])
    case 'any':
      return { 'f:a': {} }
    case 'map':
      return Object.fromEntries(several(place).map(() => [`k${making.count()}`, makeOne(schema.values, place)]))
    case 'list':
      return makeList(schema, place)
    case 'object':
      return makeFields(schema, place)
    default:
      return schema satisfies never
  }
}

function several({ making, longest }: Place): undefined[] {
  return Array(1 + making.below(longest)).fill(undefined)
}

/** Generates a list without duplicate elements or keys. */
function makeList(schema: ListSchema, place: Place): Json {
  const items = several(place).map(() => makeOne(schema.items, { ...place, longest: 2 }))
  if (schema.list === 'atomic') return items
  const identity = (item: Json) =>
    JSON.stringify(schema.keys ? schema.keys.map((key) => (item as JsonObject)[key]) : item)
  return [...new Map(items.map((item) => [identity(item), item])).values()]
}

function makeFields(schema: ObjectSchema, place: Place): Json {
  const type = typeName(schema)
  const { making, values } = place
  const chosen = schema.choice && making.pick(schema.choice.among)
  const object: JsonObject = {}
  for (const name of Object.keys(schema.fields)) {
    if (schema.choice?.among.includes(name) && name !== chosen) continue
    const full = `${type}.${name}`
    const needed = name === chosen || values.needed.includes(full)
    const longest = values.longest[full] ?? 2
    const value = makeField(schema.fields[name]!, {
      ...place,
      given: values.fields[`${place.home}.${full}`] ?? values.fields[full],
      needed,
      longest,
    })
    if (value !== undefined) setKey(object, name, value)
  }
  values.agree[type]?.(object, making)
  return object
}

function makeField(
  { schema, required, zeroValue: zero }: Field,
  { given, needed, ...place }: Place & { given: MakeField | undefined; needed: boolean },
): Json | undefined {
  if (given !== undefined) return given(place.making)
  const nothing = zero === 'keep' && place.making.chance(0.1) ? zeroOf(schema) : undefined
  if (nothing !== undefined) return nothing
  const made = required || needed || place.making.chance(likely[place.depth] ?? 0.45)
  return made ? makeOne(schema, { ...place, depth: place.depth + 1 }) : undefined
}

/**
 * Returns the zero value of a type. A field that distinguishes zero from unset must preserve a zero that a client
 * sends.
 */
function zeroOf(schema: Schema): Json | undefined {
  if (schema.type === 'string' && schema.values === undefined) return ''
  if (schema.type === 'boolean') return false
  return schema.type === 'integer' ? 0 : undefined
}

/** Probability that an optional field is set, by depth. */
const likely = [1, 0.5, 0.5, 0.4, 0.4]

/**
 * The rules of a schema, compiled, in the form of the schema: only the parts that lead to a rule are there. The same walk
 * is made when a definition is judged (rule-faults.ts) and when its kind is served (object-validations.ts).
 */
import type { DeclaredType } from '../../../api/cel/declared-type.ts'
import { type Compiled, compileRule } from '../../../api/cel/program.ts'
import type { ReadPattern } from '../../../api/cel/regex.ts'
import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import { at, child, type FieldPath } from '../../../api/model/field-error.ts'
import { declaredBelow, declaredTypeOf, limitOf } from './rule-types.ts'

export interface Rule {
  readonly rule: string
  readonly message: string
}

export interface CompiledRule extends Rule {
  readonly compiled: Compiled
}

export interface RuleNode {
  readonly rules: readonly CompiledRule[]
  /** Of the values; undefined where rules see nothing of them. */
  readonly declared: DeclaredType | undefined
  /** The type that the schema names, for messages. */
  readonly type: string
  /** The most elements or members that the schema allows. */
  readonly limit: number | undefined
  /** Where the schema stands. */
  readonly path: FieldPath
  readonly members: ReadonlyMap<string, RuleNode>
  readonly values?: RuleNode | undefined
  readonly items?: RuleNode | undefined
  /** Whether the parts of a stored value can be told apart from those of its successor. */
  readonly correlation: 'members' | 'keyed items' | 'none'
  readonly keys: readonly string[]
  /** The default, where the schema has one. */
  readonly default?: Json | undefined
}

export interface RuleReader {
  readonly prefix: string
  readonly readPattern: ReadPattern
}

/** Undefined: the schema has no rules. In steps: there may be many. */
export function* readRules(schema: JsonObject, reader: RuleReader, path: FieldPath): Walk {
  if (!hasRules(schema, reader.prefix)) return undefined
  const declared = declaredTypeOf(schema, { prefix: reader.prefix, isResource: true })
  return yield* readNode(schema, reader, { path, declared })
}

type Walk = Generator<void, RuleNode | undefined>

interface Place {
  readonly path: FieldPath
  readonly declared: DeclaredType | undefined
}

function* readNode(schema: JsonObject, reader: RuleReader, place: Place): Walk {
  if (!hasRules(schema, reader.prefix)) return undefined
  const { prefix } = reader
  const { path, declared } = place
  const { properties, items, additionalProperties } = schema
  const compiled: CompiledRule[] = []
  for (const rule of rulesOf(schema, prefix)) {
    yield
    compiled.push({ ...rule, compiled: yield* compileIn(rule, declared, reader) })
  }
  const members = new Map<string, RuleNode>()
  for (const [name, inner] of isObject(properties) ? Object.entries(properties) : []) {
    const read = yield* readBelow(inner, reader, at(child(path, 'properties'), name))
    if (read !== undefined) members.set(name, read)
  }
  const values = yield* readBelow(additionalProperties, reader, child(path, 'additionalProperties'))
  const elements = yield* readBelow(items, reader, child(path, 'items'))
  const type = typeof schema.type === 'string' ? schema.type : ''
  const keys = (schema[`${prefix}list-map-keys`] ?? []) as string[]
  const correlation = correlationOf(schema, prefix)
  const limit = limitOf(schema.type === 'array' ? schema.maxItems : schema.maxProperties)
  return {
    rules: compiled,
    declared,
    type,
    limit,
    path,
    members,
    values,
    items: elements,
    correlation,
    keys,
    default: schema.default,
  }
}

function* readBelow(schema: Json | undefined, reader: RuleReader, path: FieldPath): Walk {
  if (!isObject(schema) || !hasRules(schema, reader.prefix)) return undefined
  return yield* readNode(schema, reader, { path, declared: declaredBelow(schema, reader.prefix) })
}

function correlationOf(schema: JsonObject, prefix: string): RuleNode['correlation'] {
  if (schema.type === 'array') return schema[`${prefix}list-type`] === 'map' ? 'keyed items' : 'none'
  return schema[`${prefix}map-type`] === 'atomic' ? 'none' : 'members'
}

function* compileIn(
  { rule }: Rule,
  declared: DeclaredType | undefined,
  { readPattern }: RuleReader,
): Generator<void, Compiled> {
  if (declared === undefined) return { outcome: 'invalid', why: unseen }
  const variables = new Map([
    ['self', declared],
    ['oldSelf', declared],
  ])
  return yield* compileRule(rule, { variables, readPattern })
}

const unseen = 'rule declared on schema that does not support validation rules'

/** The rules that stand in a schema itself; their form has been judged. */
function rulesOf(schema: JsonObject, prefix: string): Rule[] {
  const rules = schema[`${prefix}validations`]
  if (!Array.isArray(rules)) return []
  return rules.filter(isObject).map(({ rule, message }) => ({ rule: textOf(rule), message: textOf(message) }))
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Whether there are rules in a schema or below. */
export function hasRules(schema: JsonObject, prefix: string): boolean {
  const known = withRules.get(schema)
  if (known !== undefined) return known
  const { properties, items, additionalProperties } = schema
  const below = [items, additionalProperties, ...(isObject(properties) ? Object.values(properties) : [])]
  const found = rulesOf(schema, prefix).length > 0 || below.some((inner) => isObject(inner) && hasRules(inner, prefix))
  withRules.set(schema, found)
  return found
}

/** Whether a schema has rules is asked at each level of it. */
const withRules = new WeakMap<JsonObject, boolean>()

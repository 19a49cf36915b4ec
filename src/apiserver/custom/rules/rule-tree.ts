/**
 * The compiled rules of a schema, as a tree. The tree contains only nodes with rules at or below them. The tree is used
 * to validate definitions (rule-faults.ts) and their objects (object-validations.ts).
 */
import type { DeclaredType } from '../../../api/cel/declared-type.ts'
import { type Compiled, compileRule } from '../../../api/cel/program.ts'
import type { ReadPattern } from '../../../api/cel/regex.ts'
import { declaredBelow, declaredTypeOf, limitOf } from '../../../api/cel/schema-types.ts'
import { optionalOf } from '../../../api/cel/types.ts'
import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import { at, child, type FieldPath } from '../../../api/model/field-error.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { minorOf } from '../../../api/versions/emulated-version.ts'
import { type PathStep, type Rule, resolveFieldPath, rulesOf } from './rule-form.ts'

/** A rule together with its compiled expressions. */
export interface CompiledRule extends Rule {
  readonly compiled: Compiled
  /** The program of `messageExpression`. Undefined if the rule has no message expression. */
  readonly messageProgram: Compiled | undefined
  /** The steps of `fieldPath`. Undefined if the rule has no field path. */
  readonly steps: readonly PathStep[]
}

export interface RuleNode {
  readonly rules: readonly CompiledRule[]
  readonly schema: JsonObject
  /** The CEL type of the values. Undefined if CEL cannot represent them. */
  readonly declared: DeclaredType | undefined
  /** The type in the schema, for messages. */
  readonly type: string
  /** Maximum number of elements or members that the schema allows. Undefined if it sets no limit. */
  readonly limit: number | undefined
  /** Path of the schema node in the definition. */
  readonly path: FieldPath
  readonly members: ReadonlyMap<string, RuleNode>
  readonly values?: RuleNode | undefined
  readonly items?: RuleNode | undefined
  /** How the parts of a value are matched with those of its old value, for transition rules. */
  readonly correlation: 'members' | 'keyed items' | 'none'
  readonly keys: readonly string[]
  /** The default in the schema. Undefined if there is none. */
  readonly default?: Json | undefined
}

export interface RuleReader {
  readonly prefix: string
  /** The emulated version, which determines the known fields of a rule. */
  readonly emulation: Emulation
  /** Returns the minor Kubernetes version whose functions an expression may use. Undefined allows all functions. */
  readonly versionFor?: ((expression: string) => number | undefined) | undefined
  readonly readPattern: ReadPattern
}

/** Compiles all rules of a schema, in steps because there may be many. Returns undefined if there are none. */
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
  for (const rule of rulesOf(schema, prefix, reader.emulation)) {
    yield
    const program = yield* compileIn(rule, { text: rule.rule, result: 'bool' }, { declared, reader })
    const { messageExpression: text } = rule
    const messageProgram =
      text === '' ? undefined : yield* compileIn(rule, { text, result: 'string' }, { declared, reader })
    const steps = resolveFieldPath(rule.fieldPath, schema) ?? []
    compiled.push({ ...rule, compiled: program, messageProgram, steps })
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
    schema,
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
  { optionalOldSelf }: Rule,
  { text, result }: { readonly text: string; readonly result: 'bool' | 'string' },
  { declared, reader }: { readonly declared: DeclaredType | undefined; readonly reader: RuleReader },
): Generator<void, Compiled> {
  if (declared === undefined) return { outcome: 'invalid', why: unseen }
  const variables = new Map([
    ['self', declared],
    ['oldSelf', optionalOldSelf ? { ...declared, type: optionalOf(declared.type) } : declared],
  ])
  return yield* compileRule(text, {
    variables,
    readPattern: reader.readPattern,
    version: reader.versionFor?.(text),
    costVersion: minorOf(reader.emulation.version),
    result,
  })
}

const unseen = 'rule declared on schema that does not support validation rules'

function hasOwnRules(schema: JsonObject, prefix: string): boolean {
  const rules = schema[`${prefix}validations`]
  return Array.isArray(rules) && rules.some(isObject)
}

/** Whether a schema contains rules at any depth. */
export function hasRules(schema: JsonObject, prefix: string): boolean {
  const cachedResult = withRules.get(schema)
  if (cachedResult !== undefined) return cachedResult
  const { properties, items, additionalProperties } = schema
  const below = [items, additionalProperties, ...(isObject(properties) ? Object.values(properties) : [])]
  const isRuled = hasOwnRules(schema, prefix) || below.some((inner) => isObject(inner) && hasRules(inner, prefix))
  withRules.set(schema, isRuled)
  return isRuled
}

/** Caches the results of `hasRules`, because each level of a schema needs them. */
const withRules = new WeakMap<JsonObject, boolean>()

/** Generates random schemas and matching objects, reproducible from a seed. */
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { type Fields, field, type ObjectSchema, type Schema, s } from '../../../src/api/schema/schema.ts'
import { kindOf } from './world.ts'

export type Random = (below: number) => number

/** Returns a small random number generator (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const names = ['a', 'b', 'c', 'd', '__proto__', 'constructor']
const fieldNames = ['f1', 'f2', 'f3', 'f4', 'f5']

/**
 * Whether a schema is within an atomic value. Atomic values have no inner defaults, because such a default would change
 * the whole value.
 */
type Within = 'whole' | 'parts'

export function randomKind(random: Random): ObjectSchema {
  return kindOf(randomFields(random, 3, 'parts'))
}

function randomFields(random: Random, depth: number, within: Within): Fields {
  const chosen = fieldNames.slice(0, 1 + random(fieldNames.length))
  return Object.fromEntries(chosen.map((name, i) => [name, field(i + 1, randomSchema(random, depth, within))]))
}

function randomSchema(random: Random, depth: number, within: Within): Schema {
  const atomic = random(3) === 0 ? { atomic: true } : {}
  const inside = atomic.atomic ? 'whole' : within
  switch (depth === 0 ? random(2) : random(8)) {
    case 0:
      return s.string()
    case 1:
      return s.int32()
    case 2:
      return s.map(randomSchema(random, depth - 1, inside), atomic)
    case 3:
      return s.object(randomFields(random, depth - 1, inside), atomic)
    case 4:
      return s.list(randomSchema(random, depth - 1, 'whole'))
    case 5:
      return s.list(s.string(), { list: 'set' })
    case 6:
      return s.any({ granular: random(2) === 0 })
    default:
      return s.list(s.object(randomElement(random, depth - 1, inside), atomic), { list: 'map', keys: ['id', 'part'] })
  }
}

function randomElement(random: Random, depth: number, within: Within): Fields {
  const part = field(9, s.string(), within === 'parts' ? { default: 'main' } : {})
  return { ...randomFields(random, depth, within), id: field(8, s.string()), part }
}

/** Returns some fields of a kind. No value is zero, because zero values are not preserved. */
export function randomConfig(random: Random, schema: ObjectSchema): JsonObject {
  const { apiVersion: _a, kind: _k, metadata: _m, ...fields } = schema.fields
  return randomValue(random, s.object(fields)) as JsonObject
}

function randomValue(random: Random, schema: Schema): Json {
  switch (schema.type) {
    case 'object':
      return randomMembers(
        random,
        Object.entries(schema.fields).map(([name, { schema }]) => [name, schema] as const),
      )
    case 'map':
      return randomMembers(
        random,
        names.map((name) => [name, schema.values] as const),
      )
    case 'list':
      return randomList(random, schema.items, schema.list)
    case 'any':
      return randomMembers(
        random,
        names.map((name) => [name, random(2) === 0 ? s.string() : s.list(s.int32())] as const),
      )
    case 'integer':
      return 1 + random(3)
    default:
      return names[random(3)]!
  }
}

/** Returns at least one of the members, and usually about half of them. */
function randomMembers(random: Random, members: readonly (readonly [string, Schema])[]): JsonObject {
  const forced = random(members.length)
  const chosen = members.filter((_, i) => i === forced || random(2) === 0)
  return Object.fromEntries(chosen.map(([name, schema]) => [name, randomValue(random, schema)]))
}

function randomList(random: Random, items: Schema, list: 'atomic' | 'set' | 'map'): Json[] {
  if (list === 'atomic') return Array.from({ length: 1 + random(3) }, () => randomValue(random, items))
  const ids = shuffled(random, names).slice(0, 1 + random(3))
  if (list === 'set') return ids
  return ids.map((id) => {
    const { part: _, ...item } = randomValue(random, items) as JsonObject
    const part = !hasDefault(items, 'part') || random(2) === 0 ? { part: random(2) === 0 ? 'main' : 'side' } : {}
    return { ...item, id, ...part }
  })
}

function hasDefault(schema: Schema, name: string): boolean {
  return schema.type === 'object' && schema.fields[name]?.default !== undefined
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => [random(1000), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)
}

/** Freezes a value and all its parts, so that any attempt to modify them throws an error. */
export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const item of Object.values(value)) freeze(item)
  }
  return value
}

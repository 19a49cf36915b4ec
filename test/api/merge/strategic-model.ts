/**
 * A deliberately simple reference implementation of strategic merge patch for typed fields. The model copies whole
 * values and searches linearly for elements. Lists are compared regardless of order (`sorted`), because separate tests
 * cover the order. The module imports nothing from src.
 */
import { canonical, pick, type Random, type Value } from './models.ts'

type Members = { [name: string]: Value }

/** The type of a field: a text, typed members, uniform members, or one of three types of list. */
export type Type =
  | { readonly is: 'text' }
  | { readonly is: 'object'; readonly fields: { readonly [name: string]: Type } }
  | { readonly is: 'map'; readonly values: Type }
  | { readonly is: 'replaced' }
  | { readonly is: 'set' }
  | { readonly is: 'keyed'; readonly key: string; readonly items: Type }

export function modelStrategic(type: Type, before: Value | undefined, patch: Members): Members {
  if (patch.$patch === 'delete') return {}
  const { $patch: mode, ...whole } = patch
  if (mode === 'replace') return whole
  const start = isMap(before) ? structuredClone(before) : {}
  const retained = patch.$retainKeys as string[] | undefined
  const result = new Map(Object.entries(start).filter(([name]) => retained === undefined || retained.includes(name)))
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$')) continue
    if (value === null) result.delete(name)
    else result.set(name, modelValue(memberType(type, name), result.get(name), value))
  }
  for (const [name, value] of Object.entries(patch)) {
    const list = result.get(name.slice(name.indexOf('/') + 1))
    if (!name.startsWith('$deleteFromPrimitiveList/') || !Array.isArray(list)) continue
    const gone = (value as Value[]).map(canonical)
    const kept = list.filter((one) => !gone.includes(canonical(one)))
    result.set(name.slice(name.indexOf('/') + 1), kept)
  }
  return Object.fromEntries(result)
}

function memberType(type: Type, name: string): Type {
  if (type.is === 'map') return type.values
  return (type.is === 'object' ? type.fields[name] : undefined) ?? { is: 'text' }
}

/**
 * Merges a patch value into the existing value. If there is no existing value, or only an empty list, returns the patch
 * value unchanged.
 */
function modelValue(type: Type, before: Value | undefined, value: Value): Value {
  if (isMap(value) && isMap(before)) return modelStrategic(type, before, value)
  if (!Array.isArray(value) || !Array.isArray(before) || before.length === 0) return value
  if (type.is === 'set') return union(before, value)
  return type.is === 'keyed' ? modelList(type, before, value as Members[]) : value
}

function union(before: readonly Value[], more: readonly Value[]): Value[] {
  const texts = new Set(before.map(canonical))
  return [...before, ...more.filter((one) => !texts.has(canonical(one)))]
}

function modelList(type: Extract<Type, { is: 'keyed' }>, before: readonly Value[], patch: readonly Members[]): Value[] {
  const elements = patch.filter(({ $patch }) => $patch === undefined)
  if (patch.some(({ $patch }) => $patch === 'replace')) return elements
  const isSame = (a: Value, b: Value) => (a as Members)[type.key] === (b as Members)[type.key]
  const gone = patch.filter(({ $patch }) => $patch === 'delete')
  const result = before.filter((one) => !gone.some((other) => isSame(one, other)))
  for (const element of elements) {
    const at = result.findIndex((one) => isSame(one, element))
    if (at < 0) result.push(element)
    else result[at] = modelStrategic(type.items, result[at], element)
  }
  return result
}

function isMap(value: Value | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value with every mergeable list sorted. */
export function sorted(type: Type, value: Value): Value {
  if (isMap(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, sorted(memberType(type, name), one)]))
  if (!Array.isArray(value) || (type.is !== 'set' && type.is !== 'keyed')) return value
  const items = type.is === 'keyed' ? value.map((one) => sorted(type.items, one)) : value
  return [...items].sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1))
}

const keys = ['a', 'b', 'c', 'constructor', '__proto__']

const some = <T>(random: Random, items: readonly T[]) => items.filter(() => random() < 0.5)

/** Returns a random object of the type. A patch also contains nulls and directives. */
export function randomOf(random: Random, type: Type, patch: boolean): Value {
  switch (type.is) {
    case 'object':
      return randomMembers(random, type, { names: some(random, Object.keys(type.fields)), patch })
    case 'map':
      return randomMembers(random, type, { names: some(random, keys), patch })
    case 'replaced':
      return some(random, keys)
    case 'set':
      return some(random, keys)
    case 'keyed':
      return some(random, keys).map((key) => randomElement(random, type, { key, patch }))
    case 'text':
      return pick(random, ['x', 'y'])
  }
}

interface Making {
  readonly names: readonly string[]
  readonly patch: boolean
}

function randomMembers(random: Random, type: Type, { names, patch }: Making): Members {
  const members = names.map((name): [string, Value] => [
    name,
    patch && random() < 0.15 ? null : randomOf(random, memberType(type, name), patch),
  ])
  const sets = names.filter((name) => patch && memberType(type, name).is === 'set' && random() < 0.3)
  return Object.fromEntries([
    ...members,
    ...sets.map((name): [string, Value] => [`$deleteFromPrimitiveList/${name}`, some(random, keys)]),
    ...(patch && random() < 0.1 ? directive(random, names) : []),
  ])
}

function directive(random: Random, names: readonly string[]): [string, Value][] {
  if (random() < 0.5) return [['$retainKeys', [...names, ...some(random, keys)]]]
  return [['$patch', pick(random, ['replace', 'delete'])]]
}

function randomElement(
  random: Random,
  { key: keyName, items }: Extract<Type, { is: 'keyed' }>,
  { key, patch }: { readonly key: string; readonly patch: boolean },
): Members {
  const { $patch: _, ...members } = randomOf(random, items, patch) as Members
  const mode = patch && random() < 0.2 ? { $patch: pick(random, ['delete', 'delete', 'replace']) } : {}
  const retained =
    members.$retainKeys === undefined ? {} : { $retainKeys: [...(members.$retainKeys as Value[]), keyName] }
  return { ...members, ...retained, [keyName]: key, ...mode }
}

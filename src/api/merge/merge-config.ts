/**
 * Merges a configuration into an object. Fields in the configuration replace the fields of the object. All other fields
 * of the object are preserved.
 *
 * Unchanged parts, possibly the whole object, remain the same values in memory. The order of lists is determined as
 * follows. Elements that both lists contain have the order of the configuration. An element that only the object
 * contains stays directly before its successor in the object. An element that only the configuration contains keeps its
 * position in the configuration, after the object's elements at that position.
 *
 * object [a b c], configuration [z b]: [a z b c]
 */
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { isObject, type Json, type JsonObject, own, sameJson, setKey } from '../json/json.ts'
import { isLarge, partsPerSlice, sameJsonSliced } from '../json/large-json.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { copySliced } from './merge-patch.ts'
import { itemElement, itemsByElement, itemsByElementSliced } from './path-elements.ts'
import { hasElements, hasMembers, type Membered, memberSchema } from './shape.ts'

export function mergeConfig(schema: Schema, live: Json | undefined, config: Json | undefined): Json | undefined {
  if (config === undefined || live === config) return live
  if (live === undefined) return config
  if (hasMembers(schema) && isObject(live)) {
    if (isObject(config)) return mergeMembers(schema, live, config)
    if (config === null && Object.keys(live).length > 0) return live
  }
  if (hasElements(schema) && Array.isArray(live)) {
    if (Array.isArray(config)) return mergeElements(schema, live, config)
    if (config === null && live.length > 0) return live
  }
  return sameJson(live, config) ? live : config
}

/** Like `mergeConfig`, but yields periodically so that other work can run. */
export function* mergeConfigSliced(
  schema: Schema,
  live: Json | undefined,
  config: Json | undefined,
): Generator<void, Json | undefined> {
  if (!isLarge(live) && !isLarge(config)) return mergeConfig(schema, live, config)
  yield
  if (hasMembers(schema) && isObject(live) && isObject(config)) return yield* mergeMembersSliced(schema, live, config)
  if (hasElements(schema) && Array.isArray(live) && Array.isArray(config))
    return yield* mergeElementsSliced(schema, live, config)
  if (live === undefined || config === undefined || hasMembers(schema) || hasElements(schema))
    return mergeConfig(schema, live, config)
  return (yield* sameJsonSliced(live, config)) ? live : config
}

function* mergeMembersSliced(schema: Membered, live: JsonObject, config: JsonObject): Generator<void, JsonObject> {
  let merged: JsonObject | undefined
  let members = 0
  for (const name of Object.keys(config)) {
    if (++members % partsPerSlice === 0) yield
    const before = own(live, name)
    const after = yield* mergeConfigSliced(memberSchema(schema, name), before, config[name])
    if (after === before || after === undefined) continue
    merged ??= yield* copySliced(live)
    setKey(merged, name, after)
  }
  return merged ?? live
}

function* mergeElementsSliced(schema: ListSchema, live: Json[], config: Json[]): Generator<void, Json[]> {
  const configItems = yield* itemsByElementSliced(schema, config)
  const steps: string[] = []
  for (let i = 0; i < live.length; i++) {
    if (i % partsPerSlice === 0) yield
    steps.push(itemElement(schema, live[i]!))
  }
  yield
  const merged: Json[] = []
  const configKeys = [...configItems.keys()]
  for (const [i, { step, index }] of (
    placesIfOrdered(steps, configKeys) ?? (yield* placesSliced(steps, configKeys))
  ).entries()) {
    if (i % partsPerSlice === 0) yield
    merged.push((yield* mergeConfigSliced(schema.items, index < 0 ? undefined : live[index], configItems.get(step)))!)
  }
  yield
  return isSameList(merged, live) ? live : merged
}

function mergeMembers(schema: Membered, live: JsonObject, config: JsonObject): JsonObject {
  let merged: JsonObject | undefined
  for (const name of Object.keys(config)) {
    const before = own(live, name)
    const after = mergeConfig(memberSchema(schema, name), before, config[name])
    if (after === before || after === undefined) continue
    merged ??= { ...live }
    setKey(merged, name, after)
  }
  return merged ?? live
}

function mergeElements(schema: ListSchema, live: Json[], config: Json[]): Json[] {
  const configItems = itemsByElement(schema, config)
  const steps = live.map((item) => itemElement(schema, item))
  const merged = placesOf(steps, [...configItems.keys()]).map(
    ({ step, index }) => mergeConfig(schema.items, index < 0 ? undefined : live[index], configItems.get(step))!,
  )
  return isSameList(merged, live) ? live : merged
}

/** Whether both lists contain the same values in memory. */
function isSameList(a: readonly Json[], b: readonly Json[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i])
}

/**
 * An element of the merged list: its path element, and its index in the object's list (-1 if the object does not
 * contain it).
 */
interface Place {
  readonly step: string
  readonly index: number
}

function placesOf(live: readonly string[], config: readonly string[]): Place[] {
  return placesIfOrdered(live, config) ?? runToCompletion(placesSliced(live, config))
}

/** A fast path for the most common case: both lists have the same elements in the same order. */
function placesIfOrdered(live: readonly string[], config: readonly string[]): Place[] | undefined {
  if (live.length !== config.length || !live.every((step, i) => step === config[i])) return undefined
  return live.map((step, index) => ({ step, index }))
}

function* placesSliced(live: readonly string[], config: readonly string[]): Generator<void, Place[]> {
  const indexes = new Map<string, number>()
  for (const [i, step] of live.entries()) {
    if (i % partsPerSlice === 0) yield
    if (!indexes.has(step)) indexes.set(step, i)
  }
  const configItems = new Set(config)
  yield
  const shared = config.filter((step) => indexes.has(step))
  yield
  const places: Place[] = []
  let index = 0
  const passLive = (until: string | undefined) => {
    for (; index < live.length && live[index] !== until; index++)
      if (!configItems.has(live[index]!)) places.push({ step: live[index]!, index })
  }
  let next = 0
  for (const [i, step] of config.entries()) {
    if (i % partsPerSlice === 0) yield
    passLive(shared[next])
    places.push({ step, index: indexes.get(step) ?? -1 })
    if (step === shared[next]) next++
  }
  passLive(undefined)
  return places
}

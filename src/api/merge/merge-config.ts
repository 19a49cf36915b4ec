/**
 * Merges a configuration into an object: fields in the configuration win, all others are kept.
 *
 * Unchanged parts are the same value in memory, up to the whole object. List order: elements that both have follow the
 * configuration. Elements of the object alone stay before the next such element. Elements of the configuration alone
 * come at their position in it, after those of the object at that position.
 *   object [a b c], configuration [z b]: [a z b c]
 */
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { isObject, type Json, type JsonObject, own, sameJson, setKey } from '../json/json.ts'
import { isLarge, partsPerStep, sameJsonSteps } from '../json/large-json.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { copySteps } from './merge-patch.ts'
import { hasElements, hasMembers, type Membered, memberSchema } from './shape.ts'
import { byStep, byStepSteps, elementStep } from './steps.ts'

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
export function* mergeConfigSteps(
  schema: Schema,
  live: Json | undefined,
  config: Json | undefined,
): Generator<void, Json | undefined> {
  if (!isLarge(live) && !isLarge(config)) return mergeConfig(schema, live, config)
  yield
  if (hasMembers(schema) && isObject(live) && isObject(config)) return yield* memberSteps(schema, live, config)
  if (hasElements(schema) && Array.isArray(live) && Array.isArray(config))
    return yield* elementSteps(schema, live, config)
  if (live === undefined || config === undefined || hasMembers(schema) || hasElements(schema))
    return mergeConfig(schema, live, config)
  return (yield* sameJsonSteps(live, config)) ? live : config
}

function* memberSteps(schema: Membered, live: JsonObject, config: JsonObject): Generator<void, JsonObject> {
  let merged: JsonObject | undefined
  let members = 0
  for (const name of Object.keys(config)) {
    if (++members % partsPerStep === 0) yield
    const before = own(live, name)
    const after = yield* mergeConfigSteps(memberSchema(schema, name), before, config[name])
    if (after === before || after === undefined) continue
    merged ??= yield* copySteps(live)
    setKey(merged, name, after)
  }
  return merged ?? live
}

function* elementSteps(schema: ListSchema, live: Json[], config: Json[]): Generator<void, Json[]> {
  const asked = yield* byStepSteps(schema, config)
  const steps: string[] = []
  for (let i = 0; i < live.length; i++) {
    if (i % partsPerStep === 0) yield
    steps.push(elementStep(schema, live[i]!))
  }
  yield
  const merged: Json[] = []
  const wanted = [...asked.keys()]
  for (const [i, { step, index }] of (inOrder(steps, wanted) ?? (yield* placeSteps(steps, wanted))).entries()) {
    if (i % partsPerStep === 0) yield
    merged.push((yield* mergeConfigSteps(schema.items, index < 0 ? undefined : live[index], asked.get(step)))!)
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
  const asked = byStep(schema, config)
  const steps = live.map((item) => elementStep(schema, item))
  const merged = placesOf(steps, [...asked.keys()]).map(
    ({ step, index }) => mergeConfig(schema.items, index < 0 ? undefined : live[index], asked.get(step))!,
  )
  return isSameList(merged, live) ? live : merged
}

/** Whether all elements are the same values in memory. */
function isSameList(a: readonly Json[], b: readonly Json[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i])
}

/** A position in the merged list: its path element, and the index of that element in the object (-1 if absent). */
interface Place {
  readonly step: string
  readonly index: number
}

function placesOf(live: readonly string[], config: readonly string[]): Place[] {
  return inOrder(live, config) ?? runToCompletion(placeSteps(live, config))
}

/** Fast path for lists with the same elements in the same order, the most common case. */
function inOrder(live: readonly string[], config: readonly string[]): Place[] | undefined {
  if (live.length !== config.length || !live.every((step, i) => step === config[i])) return undefined
  return live.map((step, index) => ({ step, index }))
}

function* placeSteps(live: readonly string[], config: readonly string[]): Generator<void, Place[]> {
  const indexes = new Map<string, number>()
  for (const [i, step] of live.entries()) {
    if (i % partsPerStep === 0) yield
    if (!indexes.has(step)) indexes.set(step, i)
  }
  const asked = new Set(config)
  yield
  const shared = config.filter((step) => indexes.has(step))
  yield
  const places: Place[] = []
  let index = 0
  const passLive = (until: string | undefined) => {
    for (; index < live.length && live[index] !== until; index++)
      if (!asked.has(live[index]!)) places.push({ step: live[index]!, index })
  }
  let next = 0
  for (const [i, step] of config.entries()) {
    if (i % partsPerStep === 0) yield
    passLive(shared[next])
    places.push({ step, index: indexes.get(step) ?? -1 })
    if (step === shared[next]) next++
  }
  passLive(undefined)
  return places
}

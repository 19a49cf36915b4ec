/**
 * Annotations for data that has no fields in HorizontalPodAutoscaler v1 and v2beta1. The formats are the same as in
 * kube-apiserver: metrics and conditions as in v2beta1, and the behavior with capitalized field names.
 */

import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { parseNative } from '../../json/native-json.ts'
import { ApiError } from '../../model/api-error.ts'
import type { ObjectMeta } from '../../model/object.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { decode } from '../../schema/decode.ts'
import type { Infer, Schema } from '../../schema/schema.ts'
import { type EmulatedVersion, isAtLeast, oldestVersion } from '../../versions/emulated-version.ts'
import type { Behavior, ScalingRules } from './behavior.ts'

const parts = ['metrics', 'behavior', 'current-metrics', 'conditions'] as const

export type CarriedPart = (typeof parts)[number]

function annotationOf(vendor: Vendor, part: CarriedPart): string {
  return vendorKey(vendor, part, 'autoscaling.alpha')
}

/** Returns the metadata with annotations for the given parts, and without annotations for all others. */
export function withCarried(
  metadata: ObjectMeta,
  carried: { readonly [P in CarriedPart]?: string | undefined },
  vendor: Vendor,
): ObjectMeta {
  const result = { ...metadata, annotations: { ...metadata.annotations } }
  for (const part of parts) {
    const text = carried[part]
    if (text === undefined) delete result.annotations[annotationOf(vendor, part)]
    else result.annotations[annotationOf(vendor, part)] = text
  }
  if (Object.keys(result.annotations).length > 0) return result
  const { annotations: _, ...bare } = result
  return bare
}

/**
 * Removes the annotations for data that has no fields in other versions. Modifies the metadata, which must not be
 * shared.
 */
export function dropCarried(metadata: ObjectMeta, vendor: Vendor): void {
  const { annotations } = metadata
  if (annotations === undefined) return
  for (const part of parts) delete annotations[annotationOf(vendor, part)]
  if (Object.keys(annotations).length === 0) delete metadata.annotations
}

/** Returns the decoded value of an annotation, or undefined if the annotation is missing or malformed. */
export function readCarried<S extends Schema>(
  { annotations = {} }: ObjectMeta,
  { part, schema, vendor }: { part: CarriedPart; schema: S; vendor: Vendor },
): Infer<S> | undefined {
  const text = annotations[annotationOf(vendor, part)]
  if (text === undefined) return undefined
  try {
    return decode(schema, part === 'behavior' ? lowerKeys(parseNative(text)) : parseNative(text)).value as Infer<S>
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ApiError) return undefined
    throw error
  }
}

/** Encodes the behavior for its annotation, with the fields of the emulated Kubernetes version. */
export function writeBehavior(
  behavior: Behavior | undefined,
  emulated: EmulatedVersion = oldestVersion,
): string | undefined {
  if (behavior === undefined) return undefined
  const { scaleUp, scaleDown } = behavior
  const hasTolerance = isAtLeast(emulated, '1.33')
  const write = (rules: ScalingRules | undefined) =>
    rules === undefined ? null : { ...writeRules(rules), ...(hasTolerance && { tolerance: rules.tolerance ?? null }) }
  return JSON.stringify(upperKeys({ scaleUp: write(scaleUp), scaleDown: write(scaleDown) }))
}

function writeRules(rules: ScalingRules): JsonObject {
  const { stabilizationWindowSeconds = null, selectPolicy = null, policies = [] } = rules
  return {
    stabilizationWindowSeconds,
    selectPolicy,
    policies: policies.map(({ type, value, periodSeconds }) => ({ type, value, periodSeconds })),
  }
}

function upperKeys(value: Json): Json {
  return renameKeys(value, (key) => `${key.slice(0, 1).toUpperCase()}${key.slice(1)}`)
}

function lowerKeys(value: Json): Json {
  return renameKeys(value, (key) => `${key.slice(0, 1).toLowerCase()}${key.slice(1)}`)
}

function renameKeys(value: Json, rename: (key: string) => string): Json {
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, rename))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), renameKeys(item!, rename)]))
}

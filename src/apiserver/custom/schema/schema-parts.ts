/**
 * Helpers for the validation of schemas: a reader for keywords, and an iterator over nested schemas with their paths.
 */

import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import { at, child, type FieldError, type FieldPath, maxFaults } from '../../../api/model/field-error.ts'
import type { EmulatedVersion } from '../../../api/versions/emulated-version.ts'
import type { CompilePattern } from './patterns.ts'

export interface SchemaReader {
  readonly compile: CompilePattern
  /** The prefix of vendor extensions, `x-orch-`. */
  readonly prefix: string
  /** Whether the schema is new or changed. A stored schema is checked only as far as the code that uses it requires. */
  readonly isNew: boolean
  /** Whether the status subresource is enabled. */
  readonly hasStatus: boolean
  /** The emulated version, which determines which new schemas are allowed. */
  readonly version: EmulatedVersion
}

/** The errors found by a validation that runs in steps. */
export type Faults = Generator<void, FieldError[]>

export const logic = ['allOf', 'anyOf', 'oneOf'] as const

export interface SchemaPart {
  readonly keyword: string
  /** Name of the property that the schema describes. Undefined for any other nested schema. */
  readonly name?: string
  readonly schema: Json
  readonly path: FieldPath
}

/** Returns the nested schemas. Ignores malformed keywords. */
export function partsOf(schema: JsonObject, path: FieldPath): SchemaPart[] {
  const one = (keyword: string) => {
    const part = schema[keyword]
    return isObject(part) ? [{ keyword, schema: part, path: child(path, keyword) }] : []
  }
  return [
    ...one('additionalProperties'),
    ...membersOf(schema.properties).map(([name, part]) => {
      return { keyword: 'properties', name, schema: part, path: at(child(path, 'properties'), name) }
    }),
    ...one('not'),
    ...logic.flatMap((keyword) =>
      listOf(schema[keyword]).map((part, i) => ({ keyword, schema: part, path: at(child(path, keyword), i) })),
    ),
    ...one('items'),
  ]
}

export function membersOf(value: Json | undefined): [string, Json][] {
  return isObject(value) ? (Object.entries(value) as [string, Json][]) : []
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

/** Appends errors up to the maximum number, because a schema could otherwise cause an error for every keyword. */
export function addFaults(faults: FieldError[], more: readonly FieldError[]): void {
  for (const fault of more.slice(0, Math.max(0, maxFaults - faults.length))) faults.push(fault)
}

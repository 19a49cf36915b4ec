/** What those share who judge a schema that a user wrote: how it is read, and the schemas inside it with their places. */

import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import { at, child, type FieldError, type FieldPath, maxFaults } from '../../../api/model/field-error.ts'
import type { CompilePattern } from './patterns.ts'

export interface SchemaReader {
  readonly compile: CompilePattern
  /** Begins the vendor's own keywords: `x-orch-`. */
  readonly prefix: string
  /** Whether the schema is new: one that was accepted before is held to what its readers rely on, and no more. */
  readonly isNew: boolean
  /** Whether the status of the objects is a sub-resource. */
  readonly hasStatus: boolean
}

/** Work that can be interrupted, and gives the faults that it finds. */
export type Faults = Generator<void, FieldError[]>

export const logic = ['allOf', 'anyOf', 'oneOf'] as const

export interface SchemaPart {
  readonly keyword: string
  /** The name of a property. */
  readonly name?: string
  readonly schema: Json
  readonly path: FieldPath
}

/** What is not of the form that a keyword needs has none. */
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

/** Adds what was found below, as far as anybody is told of it: a schema may have as many faults as it has words. */
export function addFaults(faults: FieldError[], more: readonly FieldError[]): void {
  for (const fault of more.slice(0, Math.max(0, maxFaults - faults.length))) faults.push(fault)
}

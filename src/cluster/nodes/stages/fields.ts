/** Parses fields of KWOK objects. Errors are StageErrors that name the invalid field. */
import { isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import { StageError } from './stage-error.ts'

/** Returns the value as an object. Throws StageError for unknown fields. */
export function fields(value: Json | undefined, where: string, knownFields: readonly string[]): JsonObject {
  const content = object(value, where)
  const unknown = Object.keys(content).find((key) => !knownFields.includes(key))
  if (unknown !== undefined)
    throw new StageError(`${where}.${unknown} is not supported; supported fields are ${knownFields.join(', ')}`)
  return content
}

/** Requires the value to be a JSON object. */
export function object(value: Json | undefined, where: string): JsonObject {
  if (!isObject(value)) throw new StageError(`${where} is not an object`)
  return value
}

/** Returns the value as a list, or an empty list if the value is missing. */
export function array(value: Json | undefined, where: string): Json[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new StageError(`${where} is not a list`)
  return value
}

/** Requires the value to be a string. */
export function text(value: Json | undefined, where: string): string {
  if (typeof value !== 'string') throw new StageError(`${where} is not a string`)
  return value
}

/** Returns the value as a non-negative number, or undefined if it is missing. */
export function number(value: Json | undefined, where: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
    throw new StageError(`${where} is not a non-negative number`)
  return value
}

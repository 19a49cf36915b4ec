/**
 * Formats JSON in Go syntax with all types, for example as `map[string]interface {}{"a":1}`, for messages about custom
 * resources. Keys are sorted, so equal values have the same text.
 */
import { isObject, type Json } from './json.ts'

/** Formats a value in Go syntax, including its types. */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isObject(value)) return typeof value === 'bigint' ? value.toString() : JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${goSyntax(value[key]!)}`)
  return `map[string]interface {}{${members.join(', ')}}`
}

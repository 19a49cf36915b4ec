/**
 * Describes the JSON data that a rule reads: its CEL type, its encoding, and its maximum size, which determines the
 * estimated cost of the rule.
 */
import type { CelType } from './types.ts'

/** How a JSON value is converted to CEL. */
export type JsonForm =
  | 'object'
  | 'map'
  | 'list'
  | 'string'
  | 'bytes'
  | 'duration'
  | 'date'
  | 'date-time'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'int-or-string'
  /** Data without a schema: each value has the CEL type of its JSON type. */
  | 'dynamic'

/** A type declared by a schema, with its size limits. */
export interface DeclaredType {
  readonly type: CelType
  readonly form: JsonForm
  /** Maximum number of elements, members or characters. 0 for types that have none. */
  readonly maxElements: number
  /** Minimum size of such a value as JSON, in bytes. */
  readonly minBytes: number
  /** The type of a list's elements or a map's values. */
  readonly elem?: DeclaredType
  /** The fields of an object, by the names that rules use for them. */
  readonly fields?: ReadonlyMap<string, DeclaredType>
  /** The JSON names of fields, by the names that rules use for them. Contains only names that differ. */
  readonly properties?: ReadonlyMap<string, string>
  /** How a list is compared: element by element, or regardless of order. */
  readonly list?: 'atomic' | 'set' | 'map'
  /** The members whose values identify an element of a list of type map. */
  readonly keys?: readonly string[]
}

/** Words that the language reserves. A field with such a name is escaped in rules: `__namespace__`. */
export const reservedWords: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
])

/** First minor version of Kubernetes 1 in which `a.namespace` finds such a field without escaping. */
export const plainReservedSince = 30

/** Finds a field by its name in a rule. A reserved word may be written without escaping. */
export function fieldNamed<T>(fields: ReadonlyMap<string, T>, name: string): T | undefined {
  return fields.get(name) ?? (reservedWords.has(name) ? fields.get(`__${name}__`) : undefined)
}

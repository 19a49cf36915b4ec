/**
 * Describes the JSON data of a rule: its CEL type, its encoding, and its maximum size, which determines the estimated
 * cost of the rule.
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
  /** Data without a schema: each value has the type that JSON gives it. */
  | 'dynamic'

/** A type declared by a schema, with its size limits. */
export interface DeclaredType {
  readonly type: CelType
  readonly form: JsonForm
  /** Maximum number of elements, members or characters; 0 if there is nothing to count. */
  readonly maxElements: number
  /** Minimum size of such a value in JSON, in bytes. */
  readonly minBytes: number
  /** The type of a list's elements or a map's values. */
  readonly elem?: DeclaredType
  /** The fields of an object, by the names that rules use. */
  readonly fields?: ReadonlyMap<string, DeclaredType>
  /** The JSON names by the names that rules use, if they differ. */
  readonly properties?: ReadonlyMap<string, string>
  /** How a list is compared: element by element, or regardless of order. */
  readonly list?: 'atomic' | 'set' | 'map'
  /** The members that identify an element of a list of type map. */
  readonly keys?: readonly string[]
}

/** Words that the language reserves. A field of such a name is escaped: `__namespace__`. */
export const reservedWords: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
])

/** First minor version of Kubernetes 1 in which `a.namespace` also finds the field. */
export const plainReservedSince = 30

/** Finds a field by its name in a rule. A reserved word may be written without escaping. */
export function fieldNamed<T>(fields: ReadonlyMap<string, T>, name: string): T | undefined {
  return fields.get(name) ?? (reservedWords.has(name) ? fields.get(`__${name}__`) : undefined)
}

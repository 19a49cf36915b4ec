/** Describes JSON data that rules read: its CEL type, its encoding, and its maximum size for the cost estimate. */
import type { CelType } from './types.ts'

/** Determines how a JSON value becomes a CEL value. */
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
  /** Data without a schema, whose CEL type depends on its JSON type. */
  | 'dynamic'

/** The CEL type of declared data, with size limits for the cost estimate. */
export interface DeclaredType {
  readonly type: CelType
  readonly form: JsonForm
  /** Maximum number of list elements, map members or characters. 0 for types without a length. */
  readonly maxElements: number
  /** Minimum size in bytes of a value of this type when encoded as JSON. */
  readonly minBytes: number
  /** Type of the elements of a list, or of the values of a map. */
  readonly elem?: DeclaredType
  /** Maximum key length of a map. If undefined, the estimate treats the keys as empty, as Kubernetes does. */
  readonly maxKeyLength?: number
  /** Types of an object's fields, by the names used in rules. */
  readonly fields?: ReadonlyMap<string, DeclaredType>
  /**
   * Type of a map's values if a rule selects them by name, as in `self.a`. If undefined, the size of such values is
   * unknown.
   */
  readonly anyField?: DeclaredType
  /**
   * The JSON names of fields, by the field names used in rules. The map contains only fields whose two names differ.
   */
  readonly properties?: ReadonlyMap<string, string>
  /** The list type in the schema. `set` and `map` lists are compared without regard to the order of their elements. */
  readonly list?: 'atomic' | 'set' | 'map'
  /** Names of the members that serve as the keys of a `map` list. */
  readonly keys?: readonly string[]
}

/** Reserved words of the language. In rules, a field with such a name is escaped, as in `__namespace__`. */
export const reservedWords: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
])

/**
 * The first Kubernetes minor version that allows the selection of a field by an unescaped reserved word, as in
 * `a.namespace`.
 */
export const plainReservedSince = 30

/**
 * Finds a field by the name used in a rule. A field whose name is a reserved word is also found by its unescaped name.
 */
export function fieldNamed<T>(fields: ReadonlyMap<string, T>, name: string): T | undefined {
  return fields.get(name) ?? (reservedWords.has(name) ? fields.get(`__${name}__`) : undefined)
}

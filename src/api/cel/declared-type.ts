/**
 * What is known of JSON data that rules look at: its CEL type, how its values are read, and how large it may be. The
 * last is what the cost of a rule is estimated by.
 */
import type { CelType } from './types.ts'

/** How a JSON value becomes one of CEL. */
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

/** A type as a schema declares it, with what bounds its size. */
export interface DeclaredType {
  readonly type: CelType
  readonly form: JsonForm
  /** The largest number of elements, members or characters; 0 where there is nothing to count. */
  readonly maxElements: number
  /** The fewest bytes that such a value takes in JSON. */
  readonly minBytes: number
  /** Of the elements of a list, or of the values of a map. */
  readonly elem?: DeclaredType
  /** Of an object, by the names that rules use. */
  readonly fields?: ReadonlyMap<string, DeclaredType>
  /** The names that JSON uses, by those that rules use, where they differ. */
  readonly properties?: ReadonlyMap<string, string>
  /** How a list is compared: element by element, or whatever the order. */
  readonly list?: 'atomic' | 'set' | 'map'
  /** The members that identify an element of a list of type map. */
  readonly keys?: readonly string[]
}

/**
 * Sorts reports of unknown and duplicate fields by the position of the fields in the document, which is the order in
 * which a decoder reports them.
 */
import { isObject, type Json, type JsonObject, own } from '../../../api/json/json.ts'

/** An unknown or duplicate field with the message that reports it. */
export interface FieldFault {
  /** The path of the field, such as `spec.containers[0].name`. */
  readonly path: string
  readonly message: string
}

/**
 * Merges messages about unknown and duplicate fields in the order of the fields in the document. Omits duplicates
 * inside an unknown field, which a decoder skips as a whole.
 */
export function inDocumentOrder(
  document: Json,
  unknown: readonly FieldFault[],
  duplicates: readonly FieldFault[],
): string[] {
  const decoded = duplicates.filter(({ path }) => !unknown.some((fault) => contains(fault.path, path)))
  const placed = [...unknown, ...decoded].map(({ path, message }) => ({ message, place: placeOf(document, path) }))
  return placed.sort((a, b) => comparePlaces(a.place, b.place)).map(({ message }) => message)
}

function contains(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`)
}

/**
 * Locates a field in the document. For each element of the path, returns its index among its siblings, up to the first
 * element that does not exist.
 */
function placeOf(document: Json, path: string): number[] {
  const place: number[] = []
  let value: Json | undefined = document
  for (let rest = path; rest !== '' && value !== undefined; ) {
    const index: string | undefined = /^\[(\d+)\]\.?/.exec(rest)?.[0]
    if (Array.isArray(value) && index !== undefined) {
      const position = Number.parseInt(index.slice(1), 10)
      place.push(position)
      value = value[position]
      rest = rest.slice(index.length)
      continue
    }
    const key: string | undefined = isObject(value) ? firstKey(value, rest) : undefined
    if (!isObject(value) || key === undefined) break
    place.push(Object.keys(value).indexOf(key))
    value = own(value, key)
    rest = rest.slice(key.length).replace(/^\./, '')
  }
  return place
}

/**
 * Returns the shortest key of the object that can be the first element of the path. In the path, the key is followed by
 * a dot, a bracket or nothing. The key itself may also contain dots and brackets.
 */
function firstKey(object: JsonObject, path: string): string | undefined {
  for (let end = 1; end <= path.length; end++) {
    const isEnd = end === path.length || path[end] === '.' || path[end] === '['
    if (isEnd && Object.hasOwn(object, path.slice(0, end))) return path.slice(0, end)
  }
  return undefined
}

function comparePlaces(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((position, level) => position !== b[level])
  return i === -1 ? a.length - b.length : a[i]! - (b[i] ?? -1)
}

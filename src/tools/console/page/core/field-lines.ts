/** Splits an object into one line per field, for the YAML view that shows the owner of each field. */
import { stringifyYaml } from '../../../../api/codec/write-yaml.ts'
import { isObject, type Json, type JsonObject, own } from '../../../../api/json/json.ts'
import type { Path } from './fields.ts'
import type { Schema } from './schema.ts'

export interface FieldLine {
  readonly id: number
  readonly depth: number
  /** Label at the start of the line: `name:` or, for a list element, `-`. */
  readonly label: string
  /** The value as text. Empty if the value is on the following lines. */
  readonly value: string
  readonly path: Path
  readonly description: string
}

export const maxLines = 3_000

/** Maximum length of a text that may be quoted. Longer texts are always shown without quotes. */
const maxQuoted = 1_000

const firstKeys = ['apiVersion', 'kind', 'metadata', 'spec', 'data']

export function linesOf(object: JsonObject, schema: Schema | undefined): FieldLine[] {
  const lines: FieldLine[] = []
  addMembers(lines, object, { depth: 0, path: [], schema })
  return lines.slice(0, maxLines)
}

interface Place {
  readonly depth: number
  readonly path: Path
  readonly schema: Schema | undefined
}

function addMembers(lines: FieldLine[], object: JsonObject, { depth, path, schema }: Place): void {
  for (const key of path.length === 0 ? topKeys(object) : Object.keys(object)) {
    const value = own(object, key)
    if (value === undefined) continue
    const inner = schema?.member(key)
    addValue(lines, value, { label: `${key}:`, depth, path: [...path, { member: key }], schema: inner })
  }
}

function addValue(lines: FieldLine[], value: Json, { label, ...place }: Place & { readonly label: string }): void {
  if (lines.length >= maxLines) return
  const { depth, path, schema } = place
  const line = { id: lines.length, depth, label, path, description: schema?.description ?? '' }
  if (Array.isArray(value) && value.length > 0) {
    lines.push({ ...line, value: '' })
    for (const element of value)
      addValue(lines, element, {
        label: '-',
        depth: depth + 1,
        path: [...path, ...stepTo(element, schema)],
        schema: schema?.items,
      })
  } else if (isObject(value) && Object.keys(value).length > 0) {
    lines.push({ ...line, value: '' })
    addMembers(lines, value, { depth: depth + 1, path, schema })
  } else lines.push({ ...line, value: inline(value) })
}

/**
 * Returns the path of a list element. Only elements of keyed lists have their own paths. Other elements have the path
 * of their list.
 */
function stepTo(element: Json, schema: Schema | undefined): Path {
  if (schema?.listType !== 'map' || !isObject(element)) return []
  const keys = schema.listKeys.map((name) => [name, own(element, name)] as const).filter(([, key]) => key !== undefined)
  return keys.length === 0 ? [] : [{ keys: Object.fromEntries(keys) as JsonObject }]
}

/**
 * Formats a value on one line. Quotes a text that looks like another type (`"1"`, `"true"`). Multi-line text is shown
 * unchanged.
 */
function inline(value: Json): string {
  if (typeof value === 'string')
    return value.length > maxQuoted || value.includes('\n') ? value : stringifyYaml(value).trimEnd()
  if (Array.isArray(value)) return '[]'
  return isObject(value) ? '{}' : String(value)
}

/** Returns the names of an object's top-level fields, with the usual fields first. */
export function topKeys(object: JsonObject): string[] {
  const rank = (key: string) => (firstKeys.indexOf(key) + firstKeys.length + 1) % (firstKeys.length + 1)
  return Object.keys(object).sort((a, b) => rank(a) - rank(b))
}

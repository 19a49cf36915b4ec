/** An object as lines of fields, each with its path: what the view with owners shows. */
import { stringifyYaml } from '../../../../api/codec/write-yaml.ts'
import { isObject, type Json, type JsonObject, own } from '../../../../api/json/json.ts'
import type { Path } from './fields.ts'
import type { Schema } from './schema.ts'

export interface FieldLine {
  readonly id: number
  readonly depth: number
  /** `name:` or `-`. */
  readonly label: string
  /** '' where the value is on the lines below. */
  readonly value: string
  readonly path: Path
  readonly description: string
}

export const maxLines = 3_000

/** Above this a text is shown as it is. */
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

/** An element with keys has a path of its own; any other belongs to its list. */
function stepTo(element: Json, schema: Schema | undefined): Path {
  if (schema?.listType !== 'map' || !isObject(element)) return []
  const keys = schema.listKeys.map((name) => [name, own(element, name)] as const).filter(([, key]) => key !== undefined)
  return keys.length === 0 ? [] : [{ keys: Object.fromEntries(keys) as JsonObject }]
}

/** A text that reads like another type (`"1"`, `"true"`) has its quotes; one of several lines is shown as it is. */
function inline(value: Json): string {
  if (typeof value === 'string')
    return value.length > maxQuoted || value.includes('\n') ? value : stringifyYaml(value).trimEnd()
  if (Array.isArray(value)) return '[]'
  return isObject(value) ? '{}' : String(value)
}

/** The fields of an object, in the order in which people look for them. */
export function topKeys(object: JsonObject): string[] {
  const rank = (key: string) => (firstKeys.indexOf(key) + firstKeys.length + 1) % (firstKeys.length + 1)
  return Object.keys(object).sort((a, b) => rank(a) - rank(b))
}

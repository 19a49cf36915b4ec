/** Table columns of a custom kind: the name, followed by the definition's columns or, if it has none, the age. */
import { stringifyJson } from '../../../api/codec/json.ts'
import type { Json } from '../../../api/json/json.ts'
import { type ColumnPath, parseColumnPath } from '../../../api/jsonpath/columns.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { ago, type Column, nameColumn } from '../../../api/schema/columns.ts'

export interface PrinterColumn {
  readonly name?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
  readonly jsonPath?: string
}

const ageColumn: PrinterColumn = {
  name: 'Age',
  type: 'date',
  description: 'Age of the object.',
  jsonPath: '.metadata.creationTimestamp',
}

/** Returns the columns of a definition. If a path is invalid, returns the default columns. */
export function columnsOf(columns: readonly PrinterColumn[]): Column[] {
  const made = (columns.length === 0 ? [ageColumn] : columns).map(columnOf)
  return made.every((column) => column !== undefined) ? [nameColumn, ...made] : [nameColumn, columnOf(ageColumn)!]
}

function columnOf(column: PrinterColumn): Column | undefined {
  const { name = '', type = '', format = '', description = '', priority = 0, jsonPath = '' } = column
  const path = parseColumnPath(jsonPath)
  if (path === undefined) return undefined
  const show = shows[type] ?? asText
  return {
    name,
    type: type as Column['type'],
    format,
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority,
    cell: (object, now) => cellOf(path, object, (value) => show(value, now)),
  }
}

function cellOf(path: ColumnPath, object: ApiObject, show: (value: Json) => Json): Json {
  const value = path(asJson(object))
  return value === undefined || value === null ? null : show(value)
}

/** Functions that format a value, by column type. Values of other types are not shown. */
const shows: { readonly [type: string]: (value: Json, now: number) => Json } = {
  integer: (value) => (typeof value === 'bigint' ? value : typeof value === 'number' ? Math.trunc(value) : null),
  number: (value) => (typeof value === 'number' || typeof value === 'bigint' ? value : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  date: (value, now) => (typeof value === 'string' ? sinceDate(value, now) : null),
  string: asText,
}

function asText(value: Json): Json {
  return typeof value === 'string' ? value : stringifyJson(value)
}

function sinceDate(text: string, now: number): string {
  return Number.isNaN(Date.parse(text)) ? '<invalid>' : ago(text, now)
}

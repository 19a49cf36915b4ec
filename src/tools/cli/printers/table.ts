/** Converts a server-side table to rows for display: selects columns, headings and additional cells. */

import type { Json } from '../../../api/json/json.ts'
import type { Table, TableColumn, TableRow } from '../../../client/requests/table.ts'
import { escapeLine } from './escape.ts'

export interface TableStyle {
  /** Whether to show the columns that appear only in wide tables. */
  readonly wide: boolean
  readonly namespaces: boolean
  readonly labels: boolean
  /** Keys of the labels that are shown in columns of their own (`-L`). */
  readonly labelColumns?: readonly string[]
  /** Prefix of each name, such as `configmap`. '' means no prefix. */
  readonly kind: string
}

export function headings(columns: readonly TableColumn[], style: TableStyle): string[] {
  const names = visibleColumns(columns, style).map((i) => escapeLine(columns[i]!.name.toUpperCase()))
  const labels = (style.labelColumns ?? []).map((label) =>
    escapeLine(label.slice(label.lastIndexOf('/') + 1).toUpperCase()),
  )
  return [...(style.namespaces ? ['NAMESPACE'] : []), ...names, ...labels, ...(style.labels ? ['LABELS'] : [])]
}

/** Returns the cells of each row as text, including namespaces and labels if the style shows them. */
export function tableRows({ columns, rows }: Pick<Table, 'columns' | 'rows'>, style: TableStyle): string[][] {
  const places = visibleColumns(columns, style)
  return rows.map((row) => {
    const cells = places.map((i) => prefixed(cellText(row.cells[i]), columns[i]!, style.kind))
    const labels = (style.labelColumns ?? []).map((label) => escapeLine(row.object?.metadata.labels?.[label] ?? ''))
    return [
      ...(style.namespaces ? [namespaceOf(row)] : []),
      ...cells,
      ...labels,
      ...(style.labels ? [labelsOf(row)] : []),
    ]
  })
}

function visibleColumns(columns: readonly TableColumn[], { wide }: TableStyle): number[] {
  return columns.flatMap(({ priority }, i) => (wide || priority === 0 ? [i] : []))
}

function prefixed(cell: string, { format }: TableColumn, kind: string): string {
  return format === 'name' && kind !== '' ? `${kind}/${cell}` : cell
}

/** Returns the first line of a text. If the text has more lines, marks it as truncated. */
function cellText(cell: Json | undefined): string {
  if (cell === undefined || cell === null) return ''
  const text = typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
  const end = text.search(/[\n\r\f]/)
  return end < 0 ? escapeLine(text) : `${escapeLine(text.slice(0, end))}...`
}

function namespaceOf({ object }: TableRow): string {
  return escapeLine(object?.metadata.namespace ?? '')
}

function labelsOf({ object }: TableRow): string {
  const labels = Object.entries(object?.metadata.labels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return labels.length === 0 ? '<none>' : escapeLine(labels.map(([key, value]) => `${key}=${value}`).join(','))
}

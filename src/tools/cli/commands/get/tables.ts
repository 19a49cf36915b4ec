/**
 * Implements the table output of `orchctl get`. Consecutive objects of the same type share one table. Tables are
 * separated by empty lines.
 */

import { asJson } from '../../../../api/model/object.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import { isNotFound } from '../../../../client/requests/status-error.ts'
import { getTable, listTable, type Table } from '../../../../client/requests/table.ts'
import { selectionOf } from '../../arguments/subjects.ts'
import type { Target } from '../../arguments/targets.ts'
import { singularName } from '../../connection/find-type.ts'
import { objectNameIn } from '../../connection/session.ts'
import { withNameSuggestion } from '../../connection/suggest-name.ts'
import { cellMeaning, painterFor } from '../../printers/colours.ts'
import { Columns, type Paint } from '../../printers/columns.ts'
import { fitRows } from '../../printers/fit-table.ts'
import { headings, type TableStyle, tableRows } from '../../printers/table.ts'
import type { Context } from '../../program/command.ts'
import { SeveralErrors } from '../../program/explain-error.ts'
import type { Getting } from './get-flags.ts'
import { hasWideColumns, withWideColumns } from './wide-columns.ts'

interface Section {
  readonly type: DiscoveredType
  readonly tables: Table[]
}

/** Prints objects as tables, with one table per type. */
export async function getTables(getting: Getting, targets: readonly Target[]): Promise<void> {
  const { context, options } = getting
  const { sections, errors } = await fetchAll(getting, targets)
  const several = options.showKind || new Set(sections.map(({ type }) => type)).size > 1
  const ordered =
    options.sortBy === ''
      ? sections
      : await Promise.all(sections.map((section) => sortSection(section, options.sortBy)))
  const texts = ordered.map((section) => sectionText(section, several, getting)).filter((text) => text !== '')
  context.out(texts.join(options.noHeaders ? '' : '\n'))
  if (errors.length > 0) throw new SeveralErrors(errors)
  if (texts.length === 0 && !options.ignoreNotFound) context.err(nothingFound(getting, targets))
}

/** Sorts the rows of all tables for one type, and combines them into one table. */
async function sortSection({ type, tables }: Section, path: string): Promise<Section> {
  const { sortedBy } = await import('./sort.ts')
  const rows = sortedBy(
    tables.flatMap(({ rows }) => rows),
    path,
    ({ object }) => (object === null ? null : asJson(object)),
  )
  return { type, tables: [{ ...tables[0]!, rows }] }
}

async function fetchAll(getting: Getting, targets: readonly Target[]) {
  const sections: Section[] = []
  const errors: unknown[] = []
  for (const target of targets) {
    try {
      const table = await fetchTable(getting, target)
      const last = sections.at(-1)
      if (last?.type === target.type) last.tables.push(table)
      else sections.push({ type: target.type, tables: [table] })
    } catch (error) {
      getting.context.signal.throwIfAborted()
      if (!(getting.options.ignoreNotFound && isNotFound(error)))
        errors.push(await withNameSuggestion(getting, target, error))
    }
  }
  return { sections, errors }
}

/** Fetches the table for a single object or a list. Adds the columns that orchctl computes for `-o wide`. */
export async function fetchTable(getting: Getting, target: Target): Promise<Table> {
  const table = await fetchPrinted(getting, target)
  return hasWideColumns(target.type, getting.options) ? withWideColumns(table) : table
}

/** Fetches the table as formatted by the server. */
async function fetchPrinted(getting: Getting, { type, name, namespace = getting.namespace }: Target): Promise<Table> {
  const { client, context, options } = getting
  const labels = options.showLabels || options.labelColumns.length > 0
  const isWhole = options.sortBy !== '' || hasWideColumns(type, options)
  const metadata = isWhole ? 'all' : labels || (options.allNamespaces && type.namespaced)
  if (name !== undefined)
    return await getTable(client, type, objectNameIn({ namespace }, type, name), {
      metadata,
      plain: !options.serverPrint,
      subresource: options.subresource,
      signal: context.signal,
    })
  return await listTable(client, type, {
    ...selectionOf(getting, type, options),
    ...(options.serverSort !== '' && { sort: options.serverSort }),
    limit: options.chunkSize,
    metadata,
    plain: !options.serverPrint,
  })
}

/** Returns which columns a table shows, and whether its names include the type. */
export function styleOf(type: DiscoveredType, several: boolean, options: Getting['options']): TableStyle {
  return {
    wide: options.output.form === 'wide',
    namespaces: options.allNamespaces && type.namespaced,
    labels: options.showLabels,
    labelColumns: options.labelColumns,
    kind: several ? singularName(type) : '',
  }
}

/** Formats the tables for one type. If there are no rows, omits the headings and returns ''. */
function sectionText({ type, tables }: Section, several: boolean, { context, options }: Getting): string {
  const style = styleOf(type, several, options)
  const rows = tables.flatMap((table) => tableRows(table, style))
  if (rows.length === 0) return ''
  const head = headings(tables[0]!.columns, style)
  const fitted = withinTerminal(context, { head, rows, style })
  return new Columns(paintOf(context, head)).lines(options.noHeaders ? fitted : [head, ...fitted])
}

/** Fits the table into the terminal. Wide tables and tables with label columns are not shortened. */
function withinTerminal(
  { terminal }: Context,
  { head, rows, style }: { head: readonly string[]; rows: string[][]; style: TableStyle },
): string[][] {
  if (!terminal.out || !terminal.columns || style.wide || style.labels) return rows
  return fitRows(head, rows, terminal.columns)
}

/** Returns the cell colors for these headings, if the output supports colors. */
export function paintOf(context: Context, head: readonly string[]): Paint | undefined {
  const painted = painterFor(context, 'out')
  if (painted === undefined) return undefined
  return (cell, column) => painted(cell, cell === head[column] ? undefined : cellMeaning(head[column] ?? '', cell))
}

function nothingFound({ options, namespace }: Getting, targets: readonly Target[]): string {
  const inOne = !options.allNamespaces && targets.every(({ type }) => type.namespaced)
  return inOne ? `No resources found in ${namespace} namespace.\n` : 'No resources found\n'
}

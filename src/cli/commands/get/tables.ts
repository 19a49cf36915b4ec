/** `orchctl get` as tables: one for each run of objects of the same type, with an empty line in between. */
import type { DiscoveredType } from '../../../client/discovery.ts'
import { getTable, listTable, type Table } from '../../../client/table.ts'
import { SeveralErrors } from '../../explain-error.ts'
import { singularName } from '../../find-type.ts'
import { Columns } from '../../printers/columns.ts'
import { headings, type TableStyle, tableRows } from '../../printers/table.ts'
import type { Target } from '../../targets.ts'
import type { Getting } from './getting.ts'
import { placeOf, selectionOf } from './getting.ts'

interface Section {
  readonly type: DiscoveredType
  readonly tables: Table[]
}

/** Prints objects as tables, one per type. */
export async function getTables(getting: Getting, targets: readonly Target[]): Promise<void> {
  const { context, options } = getting
  const { sections, errors } = await fetchAll(getting, targets)
  const several = new Set(sections.map(({ type }) => type)).size > 1
  const texts = sections.map((section) => sectionText(section, several, options)).filter((text) => text !== '')
  context.out(texts.join(options.noHeaders ? '' : '\n'))
  if (errors.length > 0) throw new SeveralErrors(errors)
  if (texts.length === 0) context.err(nothingFound(getting, targets))
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
      errors.push(error)
    }
  }
  return { sections, errors }
}

/** The table of a target: one object, or all of a selection. */
export async function fetchTable(getting: Getting, { type, name }: Target): Promise<Table> {
  const { client, context, options } = getting
  const metadata = options.showLabels || (options.allNamespaces && type.namespaced)
  if (name !== undefined)
    return await getTable(client, type, placeOf(getting, type, name), { metadata, signal: context.signal })
  return await listTable(client, type, { ...selectionOf(getting, type), limit: options.chunkSize, metadata })
}

/** How a table looks: which columns, and whether names carry their type. */
export function styleOf(type: DiscoveredType, several: boolean, options: Getting['options']): TableStyle {
  return {
    wide: options.output === 'wide',
    namespaces: options.allNamespaces && type.namespaced,
    labels: options.showLabels,
    kind: several ? singularName(type) : '',
  }
}

/** '' when there is nothing in it: then it has no headings either. */
function sectionText({ type, tables }: Section, several: boolean, options: Getting['options']): string {
  const style = styleOf(type, several, options)
  const rows = tables.flatMap((table) => tableRows(table, style))
  if (rows.length === 0) return ''
  return new Columns().lines(options.noHeaders ? rows : [headings(tables[0]!.columns, style), ...rows])
}

function nothingFound({ options, namespace }: Getting, targets: readonly Target[]): string {
  const inOne = !options.allNamespaces && targets.every(({ type }) => type.namespaced)
  return inOne ? `No resources found in ${namespace} namespace.\n` : 'No resources found\n'
}

/** `orchctl get -w`: what there is, then a line or a document for every change, until the server or the user ends it. */
import { UsageError } from '../../../base/flags.ts'
import type { DiscoveredType } from '../../../client/discovery.ts'
import { type TableColumn, watchTable } from '../../../client/table.ts'
import { watch } from '../../../client/watch.ts'
import { type ApiObject, asJson } from '../../../model/object.ts'
import { Columns } from '../../printers/columns.ts'
import { printDocument } from '../../printers/objects.ts'
import { headings, tableRows } from '../../printers/table.ts'
import type { Target } from '../../targets.ts'
import type { Getting } from './getting.ts'
import { selectionOf } from './getting.ts'
import { fetchObjects, nameLine, type ObjectFormat, trimmed } from './objects.ts'
import { fetchTable, styleOf } from './tables.ts'

export async function watchTarget(getting: Getting, targets: readonly Target[]): Promise<void> {
  const [target, ...others] = targets
  if (others.some(({ type }) => type !== target!.type))
    throw new UsageError('you may only specify a single resource type')
  if (others.length > 0) throw new UsageError('you may only watch a single resource or type of resource at a time')
  const { output } = getting.options
  if (output === '' || output === 'wide') await watchTables(getting, target!)
  else await watchObjects(getting, target!, output)
}

/** A watch of one object is one of its collection, with its name as the selection. */
function watchOptions(getting: Getting, { type, name }: Target, resourceVersion: string) {
  const selection = selectionOf(getting, type)
  return { ...selection, resourceVersion, ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }) }
}

async function watchTables(getting: Getting, target: Target): Promise<void> {
  const { client, context, options } = getting
  const style = styleOf(target.type, false, options)
  const lines = new Columns()
  const first = await fetchTable(getting, target)
  let headed = options.noHeaders
  const print = (table: { columns: readonly TableColumn[]; rows: typeof first.rows }) => {
    const rows = tableRows(table, style)
    if (rows.length === 0) return
    context.out(lines.lines(headed ? rows : [headings(table.columns, style), ...rows]))
    headed = true
  }
  print(first)
  const changes = watchTable(client, target.type, {
    ...watchOptions(getting, target, first.resourceVersion),
    metadata: style.labels || style.namespaces,
  })
  for await (const { rows } of changes) print({ columns: first.columns, rows })
}

async function watchObjects(getting: Getting, target: Target, format: ObjectFormat): Promise<void> {
  const { client, context } = getting
  const print = documentPrinter(getting, target.type, format)
  const { items, resourceVersion } = await fetchObjects(getting, target)
  for (const object of items) context.out(await print(object))
  for await (const event of watch(client, target.type, watchOptions(getting, target, resourceVersion)))
    if (event.type !== 'BOOKMARK') context.out(await print(event.object))
}

/** Documents of YAML need a line between them; those of JSON do not. */
function documentPrinter(getting: Getting, type: DiscoveredType, format: ObjectFormat) {
  let separator = ''
  return async (object: ApiObject): Promise<string> => {
    if (format === 'name') return nameLine(type, object)
    const text = separator + (await printDocument(asJson(trimmed(getting, object)), format))
    if (format === 'yaml') separator = '---\n'
    return text
  }
}

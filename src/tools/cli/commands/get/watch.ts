/**
 * Implements `orchctl get -w`, which prints the current state and then a line or document for every change. The watch
 * ends when the user stops the command or --request-timeout expires.
 */

import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import { type Table, type TableColumn, watchTable } from '../../../../client/requests/table.ts'
import { selectionOf } from '../../arguments/subjects.ts'
import type { Target } from '../../arguments/targets.ts'
import { changesOf, type Feed, follow } from '../../changes/list-and-watch.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { printDocument } from '../../printers/objects.ts'
import { customRows, type Output } from '../../printers/output.ts'
import { headings, tableRows } from '../../printers/table.ts'
import { fillTemplate } from '../../printers/templates.ts'
import type { Getting } from './get-flags.ts'
import { fetchObjects, nameLine, trimmed } from './objects.ts'
import { fetchTable, paintOf, styleOf } from './tables.ts'
import { hasWideColumns, withWideColumns } from './wide-columns.ts'

export async function watchTarget(getting: Getting, targets: readonly Target[]): Promise<void> {
  const [target, ...others] = targets
  if (others.length > 0 && getting.options.filename.length > 0)
    throw new UsageError(
      `watch is only supported on individual resources and resource collections: the files contain ${targets.length}`,
    )
  if (others.some(({ type }) => type !== target!.type))
    throw new UsageError('you may only specify a single resource type')
  if (others.length > 0) throw new UsageError('you may only watch a single resource or type of resource at a time')
  const { requestTimeout, watchOnly } = getting.options
  if (requestTimeout > 0) await followFor(requestTimeout, getting, target!)
  else await follow(getting.context, feedOf(getting, target!), { watchOnly })
}

/** Lowest `-v` level that reports why a watch ended. */
const endingFrom = 5

/** Watches for a limited time. The time limit starts with the watch, and reaching it is not an error. */
async function followFor(ms: number, getting: Getting, target: Target): Promise<void> {
  const over = new AbortController()
  const context = { ...getting.context, signal: AbortSignal.any([getting.context.signal, over.signal]) }
  const feed = feedOf({ ...getting, context }, target)
  let timer: NodeJS.Timeout | undefined
  const watch: Feed['watch'] = async (version, reached) => {
    timer ??= setTimeout(() => over.abort(), ms)
    await feed.watch(version, reached)
  }
  try {
    await follow(context, { ...feed, watch }, getting.options)
  } catch (error) {
    if (!over.signal.aborted) throw error
  } finally {
    if (over.signal.aborted && getting.options.verbosity >= endingFrom)
      getting.context.err('Timeout exceeded: the watch ended after --request-timeout\n')
    clearTimeout(timer)
  }
}

function feedOf(getting: Getting, target: Target): Feed {
  const { output } = getting.options
  const isTable = output.form === '' || output.form === 'wide'
  return isTable ? tables(getting, target) : objects(getting, target, output)
}

/** Returns watch options for a target. A single object is watched through its collection with a field selector. */
function watchOptions(getting: Getting, { type, name }: Target) {
  const selection = selectionOf(getting, type, getting.options)
  const one = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }
  return { ...selection, ...one }
}

function tables(getting: Getting, target: Target): Feed {
  const { client, context, options } = getting
  const style = styleOf(target.type, options.showKind, options)
  let lines = new Columns()
  let columns: readonly TableColumn[] = []
  let headed = options.noHeaders
  const withEvent = (event: string, row: string[]) => (options.outputWatchEvents ? [event, ...row] : row)
  const print = ({ rows: changedRows, event = 'ADDED' }: Pick<Table, 'rows' | 'event'>) => {
    const rows = tableRows({ columns, rows: changedRows }, style).map((row) => withEvent(event, row))
    if (rows.length === 0) return
    context.out(lines.lines(headed ? rows : [withEvent('EVENT', headings(columns, style)), ...rows]))
    headed = true
  }
  return {
    list: async (silent) => {
      const table = await fetchTable(getting, target)
      columns = table.columns
      lines = new Columns(paintOf(context, withEvent('EVENT', headings(columns, style))))
      if (!silent) print(table)
      return table.resourceVersion
    },
    watch: async (version, reached) => {
      const isWider = hasWideColumns(target.type, options)
      const metadata = isWider ? 'all' : style.labels || style.namespaces || options.labelColumns.length > 0
      for await (const table of watchTable(client, target.type, {
        ...watchOptions(getting, target),
        resourceVersion: version,
        bookmarks: true,
        metadata,
        plain: !options.serverPrint,
      })) {
        print(isWider ? withWideColumns(table) : table)
        if (table.resourceVersion !== '') reached(table.resourceVersion)
      }
    },
  }
}

function objects(getting: Getting, target: Target, output: Output): Feed {
  const { client, context } = getting
  const print = documentPrinter(getting, target.type, output)
  return {
    list: async (silent) => {
      const { items, resourceVersion } = await fetchObjects(getting, target)
      if (!silent) for (const object of items) context.out(await print(object, 'ADDED'))
      return resourceVersion
    },
    watch: changesOf(client, target.type, {
      selection: watchOptions(getting, target),
      show: async ({ type, object }) => context.out(await print(object, type)),
    }),
  }
}

/**
 * Returns a function that prints documents. YAML documents are separated by a line with `---`, and JSON documents are
 * not separated.
 */
function documentPrinter(getting: Getting, type: DiscoveredType, output: Output) {
  let separator = ''
  const lines = new Columns()
  let headed = getting.options.noHeaders
  return async (object: ApiObject, event: string): Promise<string> => {
    const { outputWatchEvents } = getting.options
    if (output.form === 'name') return `${outputWatchEvents ? `${event} ` : ''}${nameLine(type, object)}`
    const printedObject = asJson(trimmed(getting, object))
    const document = outputWatchEvents && !isColumns(output) ? { type: event, object: printedObject } : printedObject
    if (output.form === 'template') return await fillTemplate(output, document, getting.options)
    if (output.form === 'custom-columns') {
      const rows = [
        ...(headed ? [] : [output.columns.map(({ heading }) => heading)]),
        ...(await customRows(output.columns, [document])),
      ]
      headed = true
      return lines.lines(rows.map((row) => row.map(escapeLine)))
    }
    const format = output.form === 'json' ? 'json' : 'yaml'
    const text = separator + (await printDocument(document, format))
    if (format === 'yaml') separator = '---\n'
    return text
  }
}

/** Whether the output consists of custom columns, which show the object regardless of the event type. */
function isColumns({ form }: Output): boolean {
  return form === 'custom-columns'
}

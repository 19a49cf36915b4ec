/**
 * `orchctl get -w`: what there is, then a line or a document for every change, until the user ends it. A watch that ends
 * goes on from the last version seen, and so does one whose server restarts. When what happened in between is no longer
 * known, what there is now is shown, after a word about it.
 */
import { pause } from '../../../base/abort.ts'
import { backoffMs } from '../../../base/backoff.ts'
import { UsageError } from '../../../base/flags.ts'
import type { DiscoveredType } from '../../../client/discovery.ts'
import { isExpired } from '../../../client/status-error.ts'
import { type Table, type TableColumn, watchTable } from '../../../client/table.ts'
import { watch } from '../../../client/watch.ts'
import { type ApiObject, asJson } from '../../../model/object.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { printDocument } from '../../printers/objects.ts'
import { customRows, fillJsonPath, type Output } from '../../printers/output.ts'
import { headings, tableRows } from '../../printers/table.ts'
import { selectionOf } from '../../subjects.ts'
import type { Target } from '../../targets.ts'
import { isPassing } from '../../wait-for.ts'
import type { Getting } from './getting.ts'
import { fetchObjects, nameLine, trimmed } from './objects.ts'
import { fetchTable, styleOf } from './tables.ts'

export async function watchTarget(getting: Getting, targets: readonly Target[]): Promise<void> {
  const [target, ...others] = targets
  if (others.some(({ type }) => type !== target!.type))
    throw new UsageError('you may only specify a single resource type')
  if (others.length > 0) throw new UsageError('you may only watch a single resource or type of resource at a time')
  const { output } = getting.options
  await follow(
    getting,
    output.form === '' || output.form === 'wide' ? tables(getting, target!) : objects(getting, target!, output),
  )
}

/** What is followed. */
interface Feed {
  /** Shows what there is; gives its version. `silent`: shows nothing. */
  readonly list: (silent: boolean) => Promise<string>
  /** Shows every change after a version, and says which version was reached. */
  readonly watch: (version: string, reached: (version: string) => void) => Promise<void>
}

const backoff = { firstMs: 200, longestMs: 5_000 }

async function follow({ context, options }: Getting, feed: Feed): Promise<void> {
  let version = await feed.list(options.watchOnly)
  for (let failures = 0; ; ) {
    try {
      if (version === '') version = await feed.list(false)
      await feed.watch(version, (reached) => {
        version = reached
        failures = 0
      })
    } catch (error) {
      context.signal.throwIfAborted()
      if (!isPassing(error)) throw error
      if (isExpired(error)) version = ''
      if (failures++ === 0) context.err(isExpired(error) ? expiredNote : lostNote(error))
    }
    await pause(failures === 0 ? 0 : backoffMs(backoff, failures), context.signal)
    context.signal.throwIfAborted()
  }
}

const expiredNote = 'orchctl: what changed in the meantime is not known any more; this is what there is now:\n'

function lostNote(error: unknown): string {
  return `orchctl: the watch broke off (${escapeLine(error instanceof Error ? error.message : String(error))}); it goes on when the server is back\n`
}

/** A watch of one object is one of its collection, with its name as the selection. */
function watchOptions(getting: Getting, { type, name }: Target, resourceVersion: string) {
  const selection = selectionOf(getting, type, getting.options)
  const one = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }
  return { ...selection, ...one, resourceVersion, bookmarks: true }
}

function tables(getting: Getting, target: Target): Feed {
  const { client, context, options } = getting
  const style = styleOf(target.type, options.showKind, options)
  const lines = new Columns()
  let columns: readonly TableColumn[] = []
  let headed = options.noHeaders
  const print = ({ rows: found }: Pick<Table, 'rows'>) => {
    const rows = tableRows({ columns, rows: found }, style)
    if (rows.length === 0) return
    context.out(lines.lines(headed ? rows : [headings(columns, style), ...rows]))
    headed = true
  }
  return {
    list: async (silent) => {
      const table = await fetchTable(getting, target)
      columns = table.columns
      if (!silent) print(table)
      return table.resourceVersion
    },
    watch: async (version, reached) => {
      const metadata = style.labels || style.namespaces || options.labelColumns.length > 0
      for await (const table of watchTable(client, target.type, {
        ...watchOptions(getting, target, version),
        metadata,
      })) {
        print(table)
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
      if (!silent) for (const object of items) context.out(await print(object))
      return resourceVersion
    },
    watch: async (version, reached) => {
      for await (const event of watch(client, target.type, watchOptions(getting, target, version))) {
        if (event.type !== 'BOOKMARK') context.out(await print(event.object))
        const seen = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion
        if (seen !== undefined) reached(seen)
      }
    },
  }
}

/** Documents of YAML need a line between them; those of JSON do not. */
function documentPrinter(getting: Getting, type: DiscoveredType, output: Output) {
  let separator = ''
  const lines = new Columns()
  let headed = getting.options.noHeaders
  return async (object: ApiObject): Promise<string> => {
    if (output.form === 'name') return nameLine(type, object)
    const document = asJson(trimmed(getting, object))
    if (output.form === 'jsonpath') return await fillJsonPath(output.template, document)
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

/**
 * Rows of a table that the server formats and a watch keeps up to date. The state of the table is one of the following:
 * loading, live, disconnected, reloading after the watch fell behind, forbidden, or kind removed. If possible, the
 * table recovers without user action.
 */

import type { Json } from '../../../../api/json/json.ts'
import type { ObjectMeta } from '../../../../api/model/object.ts'
import { pause } from '../../../../base/concurrency/abort.ts'
import { backoffMs } from '../../../../base/concurrency/backoff.ts'
import { type Client, isExpired, StatusError } from '../../../../client/library/client-browser.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import { collectionPath } from '../../../../client/requests/resource-type.ts'
import { type Body, readTable, type TableColumn, type TableRow, tableForms } from '../../../../client/requests/table.ts'
import { watch } from '../../../../client/requests/watch.ts'
import { Store } from './observable.ts'

export interface Row {
  readonly key: string
  readonly cells: readonly Json[]
  readonly metadata: ObjectMeta
  /** Arrival time of the row, in milliseconds since 1970. The ages in its cells are relative to this time. */
  readonly receivedMs: number
}

export type LiveState = 'loading' | 'live' | 'listed' | 'lost' | 'behind' | 'failed'

export interface LiveTable {
  readonly state: LiveState
  readonly columns: readonly TableColumn[]
  /** The rows. The map is modified in place, and `changes` counts the modifications. */
  readonly rows: ReadonlyMap<string, Row>
  /**
   * Number of objects on the server if the table contains only the first objects. Undefined if the table is complete.
   */
  readonly total: number | undefined
  readonly changes: number
  readonly error: unknown
}

export interface TableSelection {
  readonly namespace?: string
  readonly labelSelector?: string
}

/** Which rows to load: the sort field and the maximum number. */
export interface TableExtent {
  /** Field by which the server sorts the rows, such as `-metadata.creationTimestamp`. By default, sorts by name. */
  readonly sort?: SortField | `-${SortField}`
  /** Maximum number of objects to load completely. If there are more, only the first page is loaded. */
  readonly maxRows: number
}

/**
 * Fields by which the server can sort. The client checks the order of the rows to find out whether the server has
 * sorted them.
 */
export type SortField = 'metadata.name' | 'metadata.namespace' | 'metadata.creationTimestamp'

const pageSize = 500
const backoff = { firstMs: 300, longestMs: 5_000 }
/** Delay in milliseconds before a rejected request is repeated. */
export const refusalMs = 10_000

/** Keeps a table up to date by listing and watching until the signal aborts. */
export class TableFollower {
  readonly store = new Store<LiveTable>({
    state: 'loading',
    columns: [],
    rows: new Map(),
    total: undefined,
    changes: 0,
    error: undefined,
  })
  readonly #client: Client
  readonly #type: DiscoveredType
  readonly #selection: TableSelection
  #extent: TableExtent
  #total: number | undefined
  /** Whether the rows include all objects of the selection. */
  #isComplete = false
  #reload = new AbortController()
  #rows = new Map<string, Row>()
  #version = ''

  constructor(
    client: Client,
    type: DiscoveredType,
    { extent, ...selection }: TableSelection & { extent: TableExtent },
  ) {
    this.#client = client
    this.#type = type
    this.#selection = selection
    this.#extent = extent
  }

  /** Changes the sort field or the maximum number of rows. Reloads unless all rows are loaded. */
  load(extent: TableExtent): void {
    if (JSON.stringify(extent) === JSON.stringify(this.#extent)) return
    this.#extent = extent
    if (!this.#isComplete) this.#reload.abort()
  }

  async run(outer: AbortSignal): Promise<void> {
    for (let failures = 0; !outer.aborted; ) {
      if (this.#reload.signal.aborted) {
        this.#reload = new AbortController()
        this.#version = ''
      }
      const { signal: reloading } = this.#reload
      const signal = AbortSignal.any([outer, reloading])
      try {
        if (this.#version === '') await this.#list(signal)
        failures = 0
        if (this.#type.verbs.includes('watch')) await this.#watch(signal)
        else await this.#wait(signal)
      } catch (error) {
        if (outer.aborted) return
        if (reloading.aborted) continue
        failures++
        if (!this.#survive(error)) await pause(refusalMs, signal)
      }
      await pause(failures === 0 ? 0 : backoffMs(backoff, failures), signal)
    }
  }

  /**
   * Updates the table's state after an error. Returns true if a retry may succeed soon, and false if permissions must
   * change first.
   */
  #survive(error: unknown): boolean {
    if (isExpired(error)) {
      this.#version = ''
      this.#set({ state: 'behind', error })
      return true
    }
    const isFinal = error instanceof StatusError && error.code < 500 && error.code !== 429
    if (isFinal) this.#version = ''
    this.#set({ state: isFinal ? 'failed' : 'lost', error })
    return !isFinal
  }

  /**
   * Lists the rows page by page, or only the first page if there are too many objects. Rows of the previous list remain
   * until the new list is complete.
   */
  async #list(signal: AbortSignal): Promise<void> {
    const rows = new Map<string, Row>()
    const isFirst = this.#rows.size === 0
    const path = collectionPath(this.#type, this.#selection.namespace)
    const { labelSelector } = this.#selection
    const { sort, maxRows } = this.#extent
    let total: number | undefined
    let continued: string | undefined
    this.#isComplete = false
    do {
      const query = { labelSelector, sort, count: true, limit: pageSize, continue: continued }
      const body = await this.#client.read<Body>(path, { accept: tableForms, query, signal })
      const table = readTable(body)
      for (const row of table.rows) addRow(rows, row)
      continued = body.metadata?.continue || undefined
      const count = rows.size + (body.metadata?.remainingItemCount ?? 0)
      // A server that does not support `sort` ignores it, so its first page may not contain the first rows in that
      // order.
      if (continued !== undefined && count > maxRows && isSorted(rows.values(), sort)) {
        total = count
        continued = undefined
      }
      if (continued === undefined) {
        this.#version = table.resourceVersion
        this.#total = total
        this.#isComplete = total === undefined
      }
      if (isFirst || continued === undefined) this.#rows = rows
      this.#set(table.columns.length > 0 ? { columns: table.columns } : {})
    } while (continued !== undefined)
  }

  async #watch(signal: AbortSignal): Promise<void> {
    this.#set({ state: 'live', error: undefined })
    const options = { ...this.#selection, resourceVersion: this.#version, accept: tableForms, bookmarks: true, signal }
    for await (const event of watch(this.#client, this.#type, options)) {
      if (event.type === 'BOOKMARK') {
        this.#version = event.resourceVersion || this.#version
        continue
      }
      const { rows } = readTable(event.object as unknown as Body)
      for (const row of rows) {
        this.#apply(event.type, row)
        this.#version = row.object?.metadata.resourceVersion ?? this.#version
      }
      this.#set({ state: 'live' })
    }
  }

  /** Applies a change. Changes to objects beyond the first page affect only the total number. */
  #apply(event: 'ADDED' | 'MODIFIED' | 'DELETED', row: TableRow): void {
    const added = event === 'ADDED' ? 1 : event === 'DELETED' ? -1 : 0
    if (this.#total !== undefined) this.#total += added
    if (event === 'DELETED') this.#rows.delete(keyOf(row))
    else if (this.#total === undefined || event === 'ADDED' || this.#rows.has(keyOf(row))) addRow(this.#rows, row)
  }

  /** Waits for changes. Types that cannot be watched are listed again. */
  async #wait(signal: AbortSignal): Promise<void> {
    this.#set({ state: 'listed', error: undefined })
    await pause(5_000, signal)
    this.#version = ''
  }

  #set(changes: Partial<LiveTable>): void {
    const { value } = this.store
    this.store.set({ ...value, ...changes, rows: this.#rows, total: this.#total, changes: value.changes + 1 })
  }
}

function keyOf({ object }: TableRow): string {
  const { namespace = '', name = '' } = object?.metadata ?? {}
  return `${namespace}/${name}`
}

function addRow(rows: Map<string, Row>, row: TableRow): void {
  const key = keyOf(row)
  rows.set(key, { key, cells: row.cells, metadata: row.object?.metadata ?? {}, receivedMs: Date.now() })
}

/** Whether the server has returned the rows in the requested order. */
function isSorted(rows: Iterable<Row>, sort: TableExtent['sort']): boolean {
  if (sort === undefined) return true
  const isReversed = sort.startsWith('-')
  const field = sort.replace(/^-?metadata\./, '') as 'name' | 'namespace' | 'creationTimestamp'
  const values = [...rows].map(({ metadata }) => metadata[field] ?? '')
  return values.every((value, i) => i === 0 || (isReversed ? value <= values[i - 1]! : value >= values[i - 1]!))
}

/**
 * Rows of a server-printed table, which a watch keeps up to date. The state is one of: loading, live, disconnected,
 * reloading after the watch fell behind, forbidden, or kind removed. Recovers without user action if possible.
 */

import type { Json } from '../../../../api/json/json.ts'
import type { ObjectMeta } from '../../../../api/model/object.ts'
import { pause } from '../../../../base/concurrency/abort.ts'
import { backoffMs } from '../../../../base/concurrency/backoff.ts'
import { type Client, isExpired, StatusError } from '../../../../client/library/client-browser.ts'
import { collectionPath } from '../../../../client/requests/resource-type.ts'
import { type Body, readTable, type TableColumn, type TableRow, tableForms } from '../../../../client/requests/table.ts'
import { watch } from '../../../../client/requests/watch.ts'
import type { Type } from './kinds.ts'
import { Store } from './store.ts'

export interface Row {
  readonly key: string
  readonly cells: readonly Json[]
  readonly metadata: ObjectMeta
  /** Time at which the row arrived, in milliseconds since 1970. Ages in its cells refer to this time. */
  readonly receivedMs: number
}

export type LiveState = 'loading' | 'live' | 'listed' | 'lost' | 'behind' | 'failed'

export interface LiveTable {
  readonly state: LiveState
  readonly columns: readonly TableColumn[]
  /** The rows. The map is changed in place, and `changes` counts the changes. */
  readonly rows: ReadonlyMap<string, Row>
  readonly changes: number
  readonly error: unknown
}

export interface TableSelection {
  readonly namespace?: string
  readonly labelSelector?: string
}

const pageSize = 500
const backoff = { firstMs: 300, longestMs: 5_000 }
/** Delay in milliseconds before a rejected request is repeated. */
export const refusalMs = 10_000

/** Lists and watches a selection until the signal aborts. */
export class TableFollower {
  readonly store = new Store<LiveTable>({
    state: 'loading',
    columns: [],
    rows: new Map(),
    changes: 0,
    error: undefined,
  })
  readonly #client: Client
  readonly #type: Type
  readonly #selection: TableSelection
  #rows = new Map<string, Row>()
  #version = ''

  constructor(client: Client, type: Type, selection: TableSelection) {
    this.#client = client
    this.#type = type
    this.#selection = selection
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      try {
        if (this.#version === '') await this.#list(signal)
        failures = 0
        if (this.#type.verbs.includes('watch')) await this.#watch(signal)
        else await this.#wait(signal)
      } catch (error) {
        if (signal.aborted) return
        failures++
        if (!this.#survive(error)) await pause(refusalMs, signal)
      }
      await pause(failures === 0 ? 0 : backoffMs(backoff, failures), signal)
    }
  }

  /** Returns whether to retry soon. A rejected request is only accepted once permissions change. */
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

  /** Lists the rows page by page. Rows of the previous list remain until the new list is complete. */
  async #list(signal: AbortSignal): Promise<void> {
    const rows = new Map<string, Row>()
    const isFirst = this.#rows.size === 0
    const path = collectionPath(this.#type, this.#selection.namespace)
    const { labelSelector } = this.#selection
    let continued: string | undefined
    do {
      const query = { labelSelector, limit: pageSize, continue: continued }
      const body = await this.#client.read<Body>(path, { accept: tableForms, query, signal })
      const table = readTable(body)
      for (const row of table.rows) addRow(rows, row)
      continued = body.metadata?.continue || undefined
      if (continued === undefined) this.#version = table.resourceVersion
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
        if (event.type === 'DELETED') this.#rows.delete(keyOf(row))
        else addRow(this.#rows, row)
        this.#version = row.object?.metadata.resourceVersion ?? this.#version
      }
      this.#set({ state: 'live' })
    }
  }

  /** Waits for changes. Types that cannot be watched are listed again. */
  async #wait(signal: AbortSignal): Promise<void> {
    this.#set({ state: 'listed', error: undefined })
    await pause(5_000, signal)
    this.#version = ''
  }

  #set(changes: Partial<LiveTable>): void {
    const { value } = this.store
    this.store.set({ ...value, ...changes, rows: this.#rows, changes: value.changes + 1 })
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

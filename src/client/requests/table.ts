/**
 * Tables that the server formats for display. If a server returns the objects instead, the table contains their names
 * and ages. The client need not know the vendor of the server.
 */

import type { Json } from '../../api/json/json.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { groupName, profileNames, vendorOf } from '../../api/model/vendor.ts'
import { humanDuration } from '../../base/time/human-duration.ts'
import type { CallOptions, Client, ListOptions } from './client.ts'
import { collectionPath, type ObjectName, objectPath, type ResourceType } from './resource-type.ts'
import { isExpired } from './status-error.ts'
import { type WatchOptions, watch } from './watch.ts'

/** A column of a table. */
export interface TableColumn {
  readonly name: string
  readonly type: string
  /** The format of the values. `name` marks the column that contains the object's name. */
  readonly format: string
  /**
   * The priority of the column. 0 means that the column is always shown. Columns with a higher priority are shown only
   * in wide tables.
   */
  readonly priority: number
}

/** A row of a table. Each row shows one object. */
export interface TableRow {
  readonly cells: readonly Json[]
  /** The object of the row, or only its metadata. Null if the client did not request it. */
  readonly object: Pick<ApiObject, 'metadata'> | null
}

/** A list as a table that the server formatted. */
export interface Table {
  readonly columns: readonly TableColumn[]
  readonly rows: readonly TableRow[]
  /** Resource version of the list or object that the table shows. */
  readonly resourceVersion: string
  /** Type of the watch event: ADDED, MODIFIED or DELETED. */
  readonly event?: string
}

export interface TableOptions {
  /**
   * Whether rows contain the metadata of their objects. With `all`, rows contain the whole objects. Defaults to true.
   */
  readonly metadata?: boolean | 'all' | undefined
  /** Whether to request objects instead of a table. The resulting table contains their names and ages. */
  readonly plain?: boolean | undefined
}

/** Media types for the tables of all vendors, or else for the objects themselves. */
export const tableForms = [
  ...profileNames.map((name) => `application/json;as=Table;g=${groupName(vendorOf(name), 'meta')};v=v1`),
  'application/json',
].join(',')

/** Returns one object as a table with one row. */
export async function getTable(
  client: Client,
  type: ResourceType,
  name: ObjectName,
  { metadata, plain, subresource = '', signal }: TableOptions & CallOptions & { readonly subresource?: string } = {},
): Promise<Table> {
  const { accept, includeObject } = tableRequest({ metadata, plain })
  const path = subresource === '' ? objectPath(type, name) : objectPath(type, name, subresource)
  return readTable(await client.read<Body>(path, { accept, query: { includeObject }, signal }))
}

/** Lists a selection at one resource version, in as many requests as necessary. */
export async function listTable(
  client: Client,
  type: ResourceType,
  options: ListOptions & TableOptions = {},
): Promise<Table> {
  try {
    return await gather(client, type, options)
  } catch (error) {
    // The pages have expired. Request the table as a whole, because such a table cannot expire.
    if (!isExpired(error) || options.limit === 0) throw error
    return await gather(client, type, { ...options, limit: 0 })
  }
}

async function gather(client: Client, type: ResourceType, options: ListOptions & TableOptions): Promise<Table> {
  const { namespace, labelSelector, fieldSelector, sort, limit = 500, signal } = options
  const path = collectionPath(type, namespace)
  const { accept, includeObject } = tableRequest(options)
  const selection = { labelSelector, fieldSelector, sort, limit: limit || undefined, includeObject }
  const rows: TableRow[] = []
  let continueToken: string | undefined
  let table: Table
  do {
    const query = { ...selection, continue: continueToken }
    const body = await client.read<Body>(path, { accept, query, signal })
    table = readTable(body)
    for (const row of table.rows) rows.push(row)
    continueToken = body.metadata?.continue || undefined
  } while (continueToken !== undefined)
  return { ...table, rows }
}

/**
 * Yields each change as a table with one row, and a bookmark as a table without rows. Only the first table is
 * guaranteed to have columns.
 */
export async function* watchTable(
  client: Client,
  type: ResourceType,
  { metadata, plain, ...options }: WatchOptions & TableOptions = {},
): AsyncGenerator<Table> {
  for await (const event of watch(client, type, { ...options, ...tableRequest({ metadata, plain }) }))
    if (event.type === 'BOOKMARK') yield { columns: [], rows: [], resourceVersion: event.resourceVersion }
    else yield { ...readTable(event.object as unknown as Body), event: event.type }
}

/** Returns how to request a table: the Accept header and the `includeObject` parameter. */
function tableRequest({ metadata, plain = false }: TableOptions): {
  accept: string
  includeObject: ReturnType<typeof include>
} {
  return plain
    ? { accept: 'application/json', includeObject: undefined }
    : { accept: tableForms, includeObject: include(metadata) }
}

function include(metadata: boolean | 'all' = true): 'None' | 'Object' | undefined {
  if (metadata === 'all') return 'Object'
  return metadata ? undefined : 'None'
}

/** The body of a response to a table request. A server without tables returns a list or an object. */
export interface Body {
  readonly kind?: string
  readonly metadata?: {
    readonly resourceVersion?: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly columnDefinitions?: readonly TableColumn[]
  readonly rows?: readonly TableRow[] | null
  readonly items?: readonly ApiObject[] | null
}

/** Returns a response as a table. If the server did not format a table, the columns are name and age. */
export function readTable(body: Body, now = Date.now()): Table {
  const resourceVersion = body.metadata?.resourceVersion ?? ''
  if (body.kind === 'Table') return { columns: body.columnDefinitions ?? [], rows: body.rows ?? [], resourceVersion }
  const objects = 'items' in body ? (body.items ?? []) : [body as ApiObject]
  return { columns: plainColumns, rows: objects.map((object) => plainRow(object, now)), resourceVersion }
}

const plainColumns: readonly TableColumn[] = [
  { name: 'Name', type: 'string', format: 'name', priority: 0 },
  { name: 'Age', type: 'string', format: '', priority: 0 },
]

function plainRow(object: ApiObject, now: number): TableRow {
  const { name = '', creationTimestamp } = object.metadata
  const age = creationTimestamp === undefined ? '<unknown>' : humanDuration(now - Date.parse(creationTimestamp))
  return { cells: [name, age], object }
}

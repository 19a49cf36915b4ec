/**
 * Objects as the server shows them to people: tables of cells. The server makes them if it can; of one that answers
 * with the objects themselves, the table is name and age. Which vendor's names the server speaks need not be known.
 */

import type { Json } from '../../api/json/json.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { groupName, profileNames, vendorOf } from '../../api/model/vendor.ts'
import { humanDuration } from '../../base/time/human-duration.ts'
import type { CallOptions, Client, ListOptions } from './client.ts'
import { collectionPath, type ObjectName, objectPath, type ResourceType } from './resource-type.ts'
import { isExpired } from './status-error.ts'
import { type WatchOptions, watch } from './watch.ts'

/** One column of a table. */
export interface TableColumn {
  readonly name: string
  readonly type: string
  /** `name` marks the column with the object's name. */
  readonly format: string
  /** 0: always shown; above: only in wide tables. */
  readonly priority: number
}

/** One object of a table. */
export interface TableRow {
  readonly cells: readonly Json[]
  /** At least the metadata; null where it was not asked for. */
  readonly object: Pick<ApiObject, 'metadata'> | null
}

/** A list as the server prints it. */
export interface Table {
  readonly columns: readonly TableColumn[]
  readonly rows: readonly TableRow[]
  /** The version of what the table shows. */
  readonly resourceVersion: string
  /** Of one that came by a watch: ADDED, MODIFIED or DELETED. */
  readonly event?: string
}

export interface TableOptions {
  /** Whether rows carry the metadata of their objects, or `all` of them; true if left out. */
  readonly metadata?: boolean | 'all' | undefined
  /** Whether to ask for the objects themselves, and not for a table: of these there are names and ages. */
  readonly plain?: boolean | undefined
}

/** Whichever of the vendors' tables the server has, else the objects themselves. */
export const tableForms = [
  ...profileNames.map((name) => `application/json;as=Table;g=${groupName(vendorOf(name), 'meta')};v=v1`),
  'application/json',
].join(',')

/** One object as a table of one row. */
export async function getTable(
  client: Client,
  type: ResourceType,
  name: ObjectName,
  { metadata, plain, subresource = '', signal }: TableOptions & CallOptions & { readonly subresource?: string } = {},
): Promise<Table> {
  const { accept, includeObject } = asked({ metadata, plain })
  const path = subresource === '' ? objectPath(type, name) : objectPath(type, name, subresource)
  return readTable(await client.read<Body>(path, { accept, query: { includeObject }, signal }))
}

/** All of a selection, as of one version, in as many requests as it takes. */
export async function listTable(
  client: Client,
  type: ResourceType,
  options: ListOptions & TableOptions = {},
): Promise<Table> {
  try {
    return await gather(client, type, options)
  } catch (error) {
    // What expired is the snapshot that the pages are cut from. A list in one piece cannot expire.
    if (!isExpired(error) || options.limit === 0) throw error
    return await gather(client, type, { ...options, limit: 0 })
  }
}

async function gather(client: Client, type: ResourceType, options: ListOptions & TableOptions): Promise<Table> {
  const { namespace, labelSelector, fieldSelector, limit = 500, signal } = options
  const path = collectionPath(type, namespace)
  const { accept, includeObject } = asked(options)
  const selection = { labelSelector, fieldSelector, limit: limit || undefined, includeObject }
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

/** Each change as a table of one row, a bookmark as one without rows. Only the first is sure to have columns. */
export async function* watchTable(
  client: Client,
  type: ResourceType,
  { metadata, plain, ...options }: WatchOptions & TableOptions = {},
): AsyncGenerator<Table> {
  for await (const event of watch(client, type, { ...options, ...asked({ metadata, plain }) }))
    if (event.type === 'BOOKMARK') yield { columns: [], rows: [], resourceVersion: event.resourceVersion }
    else yield { ...readTable(event.object as unknown as Body), event: event.type }
}

/** The form of the answer, and how much of each object a table's rows carry. */
function asked({ metadata, plain = false }: TableOptions): {
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

/** A Table, a list or an object: what can come. */
export interface Body {
  readonly kind?: string
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly columnDefinitions?: readonly TableColumn[]
  readonly rows?: readonly TableRow[] | null
  readonly items?: readonly ApiObject[] | null
}

/** The table in an answer; an answer that is not a table becomes one of names and ages. */
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

/** The columns of a kind in a table: what people see of an object at a glance. */
import { humanDuration } from '../../base/time/human-duration.ts'
import type { Json } from '../json/json.ts'
import type { ApiObject } from '../model/object.ts'
import type { Vendor } from '../model/vendor.ts'

/** A column of the table in which clients print objects. */
export interface Column<T = ApiObject> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: string
  readonly description: string
  /** 0: always shown; above: only in wide tables. */
  readonly priority: number
  /** The cell of an object; `now` is the wall clock in milliseconds. */
  readonly cell: (object: T, now: number, vendor: Vendor) => Json
}

/** A word about a row as a whole, by which clients may leave it out or mark it. */
export interface RowCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** A column of text or numbers; with a priority above 0 only wide tables show it. */
export function column<T>(name: string, description: string, cell: Column<T>['cell'], priority = 0): Column<T> {
  return { name, type: 'string', format: '', description, priority, cell }
}

/** The name of the object. */
export const nameColumn: Column<ApiObject> = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object, unique among its kind in its namespace.',
  priority: 0,
  cell: ({ metadata }) => metadata.name ?? '',
}

/** When the object was created. */
export const ageColumn: Column<ApiObject> = column(
  'Age',
  'How long ago the object was created.',
  ({ metadata }: ApiObject, now) => ago(metadata.creationTimestamp, now),
)

/** How long ago a time was, if it is known. */
export function ago(time: string | null | undefined, now: number): string {
  return time ? humanDuration(now - Date.parse(time)) : '<unknown>'
}

const createdColumn: Column<ApiObject> = {
  name: 'Created At',
  type: 'date',
  format: '',
  description: 'When the object was created.',
  priority: 0,
  cell: ({ metadata }) => metadata.creationTimestamp ?? null,
}

/** For kinds that define none. */
export const defaultColumns: readonly Column[] = [nameColumn, createdColumn]

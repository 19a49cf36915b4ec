/** Defines the table columns that `kubectl get` prints. */
import { humanDuration } from '../../base/time/human-duration.ts'
import type { Json } from '../json/json.ts'
import type { ApiObject } from '../model/object.ts'
import type { Vendor } from '../model/vendor.ts'
import type { Availability } from '../versions/availability.ts'

/** A column in the table that `kubectl get` prints for a kind. */
export interface Column<T = ApiObject> extends Availability {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: string
  readonly description: string
  /**
   * The priority of the column. A column with priority 0 is always shown. Columns with a higher priority appear only in
   * wide tables.
   */
  readonly priority: number
  /** Returns the cell for an object. `now` is the current time in milliseconds. */
  readonly cell: (object: T, now: number, vendor: Vendor) => Json
}

/** A condition of a table row, such as Completed. Clients may hide rows that have the condition. */
export interface RowCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** Returns a column of text or numbers. Columns with a priority above 0 appear only in wide tables. */
export function column<T>(name: string, description: string, cell: Column<T>['cell'], priority = 0): Column<T> {
  return { name, type: 'string', format: '', description, priority, cell }
}

/** Shows the name of the object. */
export const nameColumn: Column<ApiObject> = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique within its kind and namespace.',
  priority: 0,
  cell: ({ metadata }) => metadata.name ?? '',
}

/** Shows the time since the object was created. */
export const ageColumn: Column<ApiObject> = column(
  'Age',
  'Time since the object was created.',
  ({ metadata }: ApiObject, now) => ago(metadata.creationTimestamp, now),
)

/** Formats the time elapsed since `time`, for example as `5m`, or returns `<unknown>`. */
export function ago(time: string | null | undefined, now: number): string {
  return time ? humanDuration(now - Date.parse(time)) : '<unknown>'
}

const createdColumn: Column<ApiObject> = {
  name: 'Created At',
  type: 'date',
  format: '',
  description: 'Time the object was created.',
  priority: 0,
  cell: ({ metadata }) => metadata.creationTimestamp ?? null,
}

/** Columns for kinds that do not define any: name and age. */
export const defaultColumns: readonly Column[] = [nameColumn, createdColumn]

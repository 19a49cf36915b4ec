/** The columns of a kind in a table: what people see of an object at a glance. */
import type { Json } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import type { Vendor } from '../model/vendor.ts'

export interface Column<T = ApiObject> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date'
  readonly format: string
  readonly description: string
  /** 0: always shown; above: only in wide tables. */
  readonly priority: number
  /** The cell of an object; `now` is the wall clock in milliseconds. */
  readonly cell: (object: T, now: number, vendor: Vendor) => Json
}

export function column<T>(name: string, description: string, cell: Column<T>['cell'], priority = 0): Column<T> {
  return { name, type: 'string', format: '', description, priority, cell }
}

export const nameColumn: Column<ApiObject> = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object, unique among its kind in its namespace.',
  priority: 0,
  cell: ({ metadata }) => metadata.name ?? '',
}

export const ageColumn: Column<ApiObject> = column(
  'Age',
  'How long ago the object was created.',
  ({ metadata }: ApiObject, now) =>
    metadata.creationTimestamp ? humanDuration(now - Date.parse(metadata.creationTimestamp)) : '<unknown>',
)

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

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** `95s`, `4m20s`, `47m`, `3h5m`, `26h`, `2d3h`, `90d`, `3y20d`: the shorter the age, the finer. */
export function humanDuration(ms: number): string {
  if (ms < -second) return '<invalid>'
  const age = Math.max(ms, 0)
  if (age < 2 * minute) return count(age, second, 's')
  if (age < 10 * minute) return count(age, minute, 'm') + rest(age, minute, second, 's')
  if (age < 3 * hour) return count(age, minute, 'm')
  if (age < 8 * hour) return count(age, hour, 'h') + rest(age, hour, minute, 'm')
  if (age < 2 * day) return count(age, hour, 'h')
  if (age < 8 * day) return count(age, day, 'd') + rest(age, day, hour, 'h')
  if (age < 2 * 365 * day) return count(age, day, 'd')
  if (age < 8 * 365 * day) return count(age, 365 * day, 'y') + rest(age, 365 * day, day, 'd')
  return count(age, 365 * day, 'y')
}

function count(age: number, unit: number, name: string): string {
  return `${Math.floor(age / unit)}${name}`
}

function rest(age: number, whole: number, unit: number, name: string): string {
  const left = Math.floor((age % whole) / unit)
  return left === 0 ? '' : `${left}${name}`
}

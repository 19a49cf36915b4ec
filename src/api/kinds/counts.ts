/** Validation of counts and percentages, shared by several kinds. */
import { type FieldError, type FieldPath, invalid } from '../model/field-error.ts'

export type IntOrPercent = number | string

export function notNegative(value: number | bigint | undefined, path: FieldPath): FieldError[] {
  return value === undefined || value >= 0 ? [] : [invalid(path, value, 'must be greater than or equal to 0')]
}

/** Rejects negative values in the named fields of an object. */
export function noneNegative<T extends object>(object: T, names: readonly (keyof T & string)[], path: FieldPath) {
  return names.flatMap((name) => notNegative(object[name] as number | bigint | undefined, `${path}.${name}`))
}

/** Accepts a non-negative integer or a percentage such as `25%`. */
export function checkIntOrPercent(value: IntOrPercent, path: FieldPath): FieldError[] {
  if (typeof value === 'number') return notNegative(value, path)
  return percentIn(value) === undefined
    ? [invalid(path, value, "a valid percent string must be a numeric string followed by an ending '%' (e.g. '93%')")]
    : []
}

export function checkNotAboveAll(value: IntOrPercent, path: FieldPath): FieldError[] {
  const percent = typeof value === 'string' ? percentIn(value) : undefined
  return percent !== undefined && percent > 100 ? [invalid(path, value, 'must not be greater than 100%')] : []
}

/** Whether a count is zero: 0, `0%`, or a string that is neither a percentage nor a number. */
export function isNone(value: IntOrPercent): boolean {
  return (typeof value === 'string' ? (percentIn(value) ?? numberIn(value)) : value) === 0
}

function percentIn(text: string): number | undefined {
  return /^[0-9]+%$/.test(text) ? Number(text.slice(0, -1)) : undefined
}

function numberIn(text: string): number {
  return /^[+-]?[0-9]+$/.test(text) ? Number(text) : 0
}

/** Rejects a decrease in a counter, such as a collision count. */
export function notLess(next: number | undefined, previous: number | undefined, path: FieldPath): FieldError[] {
  if (previous === undefined || (next ?? 0) >= previous) return []
  return [invalid(path, next ?? 0, 'cannot be decremented')]
}

/** Rejects a value above the limit. `of` describes the limit in the error message. */
export function notAbove(value = 0, limit = 0, { path, of }: { path: FieldPath; of: string }): FieldError[] {
  return value > limit ? [invalid(path, value, `cannot be greater than ${of}`)] : []
}

/** Rejects values of the named status fields that exceed `status.replicas`. */
export function partsOfReplicas<T extends { replicas?: number }>(status: T, names: readonly (keyof T & string)[]) {
  return names.flatMap((name) =>
    notAbove(status[name] as number | undefined, status.replicas, { path: `status.${name}`, of: 'status.replicas' }),
  )
}

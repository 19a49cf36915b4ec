/** Validates the paths of files within volumes. */
import { type FieldError, type FieldPath, invalid } from '../../../model/field-error.ts'
import { checkNoBacksteps } from './volumes/host-path.ts'

/** Requires a relative path without `..` elements. */
export function checkDescendingPath(value: string, path: FieldPath): FieldError[] {
  const absolute = value.startsWith('/') ? [invalid(path, value, 'must be a relative path')] : []
  return [...absolute, ...checkNoBacksteps(value, path)]
}

/**
 * Requires a relative path as `checkDescendingPath` does. Also rejects names that start with `..`, which the node uses
 * for its own files.
 */
export function checkFilePath(value: string, path: FieldPath): FieldError[] {
  const reserved = value.startsWith('..') && !value.startsWith('../')
  return [...checkDescendingPath(value, path), ...(reserved ? [invalid(path, value, "must not start with '..'")] : [])]
}

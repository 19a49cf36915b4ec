/** Rules for paths of files inside volumes. */
import { type FieldError, type FieldPath, invalid } from '../../../model/field-error.ts'
import { checkNoBacksteps } from './volumes/host-path.ts'

/** Relative, and never out of the directory it starts from. */
export function checkDescendingPath(value: string, path: FieldPath): FieldError[] {
  const absolute = value.startsWith('/') ? [invalid(path, value, 'must be a relative path')] : []
  return [...absolute, ...checkNoBacksteps(value, path)]
}

/** As above; names that start with two dots are kept for the node's own files. */
export function checkFilePath(value: string, path: FieldPath): FieldError[] {
  const reserved = value.startsWith('..') && !value.startsWith('../')
  return [...checkDescendingPath(value, path), ...(reserved ? [invalid(path, value, "must not start with '..'")] : [])]
}

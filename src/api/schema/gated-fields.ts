/**
 * Fields whose feature is off. Objects lose them on the way to the store, as in kube-apiserver; unlike there, the client
 * is warned.
 */
import { child, type FieldPath } from '../model/field-error.ts'
import type { PrepareContext } from './context.ts'

/** Where a gated field is, and the feature gate of Kubernetes that it needs. */
export interface GatedField {
  /** The path of the object that has the field. */
  readonly path: FieldPath
  readonly feature: string
}

/** Removes a field from an object, and reports it if the object had it. */
export function dropGated<T extends object>(
  owner: T | undefined,
  name: keyof T & string,
  { path, feature, onDropped }: GatedField & Pick<PrepareContext, 'onDropped'>,
): void {
  if (owner?.[name] === undefined) return
  delete owner[name]
  onDropped?.({ path: child(path, name), feature })
}

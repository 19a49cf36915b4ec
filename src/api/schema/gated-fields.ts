/**
 * Fields whose feature gate is disabled. They are dropped before an object is stored, as in kube-apiserver. Unlike
 * kube-apiserver, the server warns the client.
 */
import { child, type FieldPath } from '../model/field-error.ts'
import type { PrepareContext } from './context.ts'

/** The location of a gated field and the Kubernetes feature gate that it requires. */
export interface GatedField {
  /** The path of the object that contains the field. */
  readonly path: FieldPath
  readonly feature: string
}

/** Removes the field from the object and reports it if it was set. */
export function dropGated<T extends object>(
  owner: T | undefined,
  name: keyof T & string,
  { path, feature, onDropped }: GatedField & Pick<PrepareContext, 'onDropped'>,
): void {
  if (owner?.[name] === undefined) return
  delete owner[name]
  onDropped?.({ path: child(path, name), feature })
}

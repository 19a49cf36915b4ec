/**
 * Validates the labels and annotations of objects of any kind. Errors are reported for the map rather than for the key.
 */
import { type FieldError, type FieldPath, invalid, maxFaults, tooLong } from '../model/field-error.ts'
import { checkLabelValue, checkQualifiedName } from '../model/names.ts'

type Texts = { readonly [key: string]: string }

/** Maximum total size of the keys and values of an object's annotations, in bytes. */
export const maxAnnotationBytes = 256 * 1024

/** Validates the key of a label or annotation. */
export function checkLabelKey(key: string, path: FieldPath): FieldError[] {
  return checkQualifiedName(key).map((text) => invalid(path, key, text))
}

/** Validates the keys and values of labels. */
export function checkLabels(labels: Texts = {}, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const key of Object.keys(labels)) {
    if (errors.length >= maxFaults) break
    for (const text of checkQualifiedName(key)) errors.push(invalid(path, key, text))
    const value = labels[key]!
    for (const text of checkLabelValue(value)) errors.push(invalid(path, value, text))
  }
  return errors
}

/** Validates the keys and the total size of annotations. */
export function checkAnnotations(annotations: Texts = {}, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let bytes = 0
  for (const key of Object.keys(annotations)) {
    if (errors.length >= maxFaults) break
    bytes += Buffer.byteLength(key) + Buffer.byteLength(annotations[key]!)
    for (const text of checkQualifiedName(key.toLowerCase())) errors.push(invalid(path, key, text))
  }
  if (bytes > maxAnnotationBytes) errors.push(tooLong(path, maxAnnotationBytes))
  return errors
}

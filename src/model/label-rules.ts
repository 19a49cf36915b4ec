/** What labels and annotations may be, wherever they stand. Faults name the map, not the key. */
import { type FieldError, type FieldPath, invalid, tooLong } from './field-error.ts'
import { checkLabelValue, checkQualifiedName } from './names.ts'

type Texts = { readonly [key: string]: string }

const maxAnnotationBytes = 256 * 1024

export function checkLabelKey(key: string, path: FieldPath): FieldError[] {
  return checkQualifiedName(key).map((text) => invalid(path, key, text))
}

export function checkLabels(labels: Texts = {}, path: FieldPath): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...checkLabelKey(key, path),
    ...checkLabelValue(value).map((text) => invalid(path, value, text)),
  ])
}

export function checkAnnotations(annotations: Texts = {}, path: FieldPath): FieldError[] {
  const entries = Object.entries(annotations)
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  return [
    ...entries.flatMap(([key]) => checkQualifiedName(key.toLowerCase()).map((text) => invalid(path, key, text))),
    ...(bytes > maxAnnotationBytes ? [tooLong(path, maxAnnotationBytes)] : []),
  ]
}

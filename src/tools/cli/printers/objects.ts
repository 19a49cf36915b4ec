/** Objects for programs: JSON with four blanks a level, or YAML, keys in the order of their bytes. */

import type { Json } from '../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import { escapeJson } from './escape.ts'

export type DocumentFormat = 'json' | 'yaml'

const style = { step: '    ', order: compareUtf8 }

/** A value as JSON or YAML, as kubectl prints it. */
export async function printDocument(value: Json, format: DocumentFormat): Promise<string> {
  if (format === 'json') {
    const { indentJson } = await import('../../../api/codec/indent-json.ts')
    return escapeJson(indentJson(value, style))
  }
  const { stringifyYaml } = await import('../../../api/codec/write-yaml.ts')
  return stringifyYaml(value)
}

/** Several objects, of whatever kinds, as one: a List is made by clients alone. */
export function listOf(objects: readonly ApiObject[]): Json {
  return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: objects.map(asJson) }
}

/** Without the record of who owns which field, which is long and seldom asked for. */
export function withoutManagedFields<T extends ApiObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

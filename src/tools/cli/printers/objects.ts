/**
 * Formats objects for other programs, as JSON with an indentation of four spaces or as YAML. Keys are in byte order.
 */

import type { Json } from '../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { compareUtf8 } from '../../../base/collections/utf8-order.ts'
import { escapeJson } from './escape.ts'

export type DocumentFormat = 'json' | 'yaml'

const style = { step: '    ', order: compareUtf8 }

/** Formats a value as JSON or YAML, as kubectl does. */
export async function printDocument(value: Json, format: DocumentFormat): Promise<string> {
  if (format === 'json') {
    const { indentJson } = await import('../../../api/codec/indent-json.ts')
    return escapeJson(indentJson(value, style))
  }
  const { stringifyYaml } = await import('../../../api/codec/write-yaml.ts')
  return stringifyYaml(value)
}

/** Combines objects of any kinds into a List, a kind that only clients create. */
export function listOf(objects: readonly ApiObject[]): Json {
  return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: objects.map(asJson) }
}

/** Removes managed fields, which are long and rarely needed. */
export function withoutManagedFields<T extends ApiObject>(object: T): T {
  // Objects in a list with only selected fields may have no metadata.
  if ((object as Partial<T>).metadata === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/**
 * The list query parameters that Kubernetes does not have: `fields`, `sort` and `count`. With `--extensions=false`, the
 * server ignores them like any unknown parameter.
 */
import { type Cut, cutOf } from '../../../api/codec/cut-json.ts'
import { badRequest } from '../../../api/model/api-error.ts'
import { parseFieldPaths } from '../../../api/schema/field-path.ts'
import { findField } from '../../../api/schema/find-field.ts'
import type { Schema } from '../../../api/schema/schema.ts'
import { type ListOrder, parseListOrder } from '../../registry/reads/list-order.ts'
import { text } from './query.ts'
import { isTrue } from './request-info.ts'

export interface ListExtensions {
  /** The object fields to send, or undefined to send all fields. */
  readonly cut: Cut | undefined
  readonly order: ListOrder | undefined
  readonly counts: boolean
}

const names = ['fields', 'sort', 'count']

/** Reads the query parameters of a list. Throws 400 if a parameter names a path that is not a field of the schema. */
export function readListExtensions(query: URLSearchParams, schema: Schema): ListExtensions {
  const [fields, sort] = [text(query, 'fields'), text(query, 'sort')]
  const paths = fields === '' ? undefined : parseFieldPaths(fields, 'fields')
  for (const path of paths ?? []) findField(schema, path, 'fields')
  return {
    cut: paths && cutOf(paths),
    order: sort === '' ? undefined : parseListOrder(sort, schema),
    counts: isTrue(query, 'count'),
  }
}

/** Whether the client requests only some fields of each object. Such lists cannot be sent as tables or in Protobuf. */
export function selectsFields(query: URLSearchParams): boolean {
  return text(query, 'fields') !== ''
}

/** Throws 400 if the query of a watch contains a parameter that is valid only for lists. */
export function assertNoListExtensions(query: URLSearchParams): void {
  const sent = names.find((name) => text(query, name) !== '')
  if (sent !== undefined) throw badRequest(`${sent} is only supported for lists, not for watches`)
}

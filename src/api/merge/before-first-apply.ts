/**
 * Handles the first apply to an object without managers. All existing fields then belong to `before-first-apply`, so
 * that a conflict lists the fields that the apply would overwrite.
 */

import type { JsonObject } from '../json/json.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { changesOf } from './change.ts'
import { compareSliced } from './compare.ts'
import type { Manager, Writer } from './managed-fields.ts'
import { writableChanges } from './ownable-fields.ts'
import { takeChanges } from './track-update.ts'

export interface FirstApply {
  readonly schema: ObjectSchema
  readonly empty: JsonObject
  readonly live: JsonObject
  readonly writer: Writer
  readonly readOnly: readonly string[]
}

/** Returns the managers of an object before its first apply. Yields periodically. */
export function* beforeFirstApply(first: FirstApply): Generator<void, Manager[]> {
  const { schema, empty, live, writer, readOnly } = first
  // A stored object does not show whether a client sent an empty list, so empty lists have no owner.
  const compared = yield* compareSliced(schema, structuredClone(empty), live)
  const changes = changesOf(writableChanges(compared, readOnly))
  return yield* takeChanges([], () => changes, { ...writer, name: 'before-first-apply' })
}

/**
 * Removes fields that a manager applied last time and no longer applies, unless another manager owns them (spec: apply,
 * rule 5).
 *
 * If the versions of a kind differ in structure, each manager's fields are examined in the version that the manager
 * used. The fields to remove are determined in the version of the last apply. After the removal, the fields that
 * managers own in other versions are restored.
 */
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import type { JsonObject } from '../json/json.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import type { OtherVersions } from './change.ts'
import { coversSliced, emptySet, type FieldSet, setOf, union, unionAll } from './field-set.ts'
import type { Manager, Writer } from './managed-fields.ts'
import { prune, putBack } from './prune.ts'

export interface Dropping {
  readonly schema: ObjectSchema
  readonly writer: Writer
  readonly versions?: OtherVersions | undefined
  readonly merged: JsonObject
  /** Fields in the applied configuration. */
  readonly configFields: FieldSet
  /** The manager's entry as of its last apply. Undefined if the manager has no such entry. */
  readonly self: Manager | undefined
  readonly others: readonly Manager[]
}

/** Fields that identify an object and are therefore never removed. */
const identifying = setOf(['f:apiVersion'], ['f:kind'], ['f:metadata', 'f:name'])

export function* dropUnstated(dropping: Dropping): Sliced<JsonObject> {
  const { schema, versions, merged, configFields, self, others } = dropping
  if (self === undefined || (yield* coversSliced(configFields, self.fields))) return merged
  if (versions !== undefined) return yield* dropAcrossVersions(dropping, versions, self)
  yield
  const owned = unionAll([identifying, configFields, ...others.map(({ fields }) => fields)])
  yield
  return (yield* prune(schema, merged, { last: self.fields, owned })) as JsonObject
}

function* dropAcrossVersions(dropping: Dropping, versions: OtherVersions, self: Manager): Sliced<JsonObject> {
  const { merged, writer } = dropping
  const owned = ownedByVersion(dropping)
  const last = versions.schemaOf(self.apiVersion)
  if (last === undefined || versions.schemaOf(writer.apiVersion) === undefined) return merged
  const then = yield* versions.convert(merged, self.apiVersion)
  const theirs = union(owned.get(self.apiVersion) ?? emptySet, identifying)
  let left = (yield* prune(last, then, { last: self.fields, owned: theirs })) as JsonObject
  if (left === then) return merged
  for (const [apiVersion, fields] of owned) {
    const schema = versions.schemaOf(apiVersion)
    if (schema === undefined) continue
    const whole = yield* versions.convert(merged, apiVersion)
    const pruned = yield* versions.convert(left, apiVersion)
    left = putBack(schema, whole, pruned, fields) as JsonObject
  }
  return yield* versions.convert(left, writer.apiVersion)
}

function ownedByVersion({ writer, configFields, others }: Dropping): Map<string, FieldSet> {
  const here = { apiVersion: writer.apiVersion, fields: configFields }
  const owners = Map.groupBy([here, ...others], ({ apiVersion }) => apiVersion)
  return new Map(Array.from(owners, ([version, all]) => [version, unionAll(all.map(({ fields }) => fields))]))
}

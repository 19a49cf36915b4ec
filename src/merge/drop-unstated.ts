/**
 * Takes away what a manager stated in its last apply and no longer states, unless somebody owns it (spec: apply, rule
 * 5).
 *
 * Where the versions of a kind differ in form, each manager's fields are looked at in the version it wrote in: what
 * goes is decided in the version of the last apply; then every version puts back what its managers own.
 */
import type { JsonObject } from '../model/json.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import type { InVersion } from './change.ts'
import { covers, emptySet, type FieldSet, setOf, union, unionAll } from './field-set.ts'
import type { Manager, Writer } from './managed-fields.ts'
import { prune, putBack } from './prune.ts'

export interface Dropping {
  readonly schema: ObjectSchema
  readonly writer: Writer
  readonly inVersion?: InVersion
  readonly merged: JsonObject
  /** What the writer states now. */
  readonly stated: FieldSet
  /** The writer's entry from last time. */
  readonly self: Manager | undefined
  readonly others: readonly Manager[]
}

/** Whatever happens, an object keeps its name. */
const identifying = setOf(['f:apiVersion'], ['f:kind'], ['f:metadata', 'f:name'])

export function dropUnstated(dropping: Dropping): JsonObject {
  const { schema, inVersion, merged, stated, self, others } = dropping
  if (self === undefined || covers(stated, self.fields)) return merged
  if (inVersion !== undefined) return dropAcrossVersions(dropping, inVersion, self)
  const owned = unionAll([identifying, stated, ...others.map(({ fields }) => fields)])
  return prune(schema, merged, { last: self.fields, owned }) as JsonObject
}

function dropAcrossVersions(dropping: Dropping, inVersion: InVersion, self: Manager): JsonObject {
  const { merged, writer } = dropping
  const owned = ownedByVersion(dropping)
  const then = inVersion(merged, self.apiVersion)
  if (then === undefined) return merged
  const theirs = union(owned.get(self.apiVersion) ?? emptySet, identifying)
  let left = prune(then.schema, then.object, { last: self.fields, owned: theirs }) as JsonObject
  if (left === then.object) return merged
  for (const [apiVersion, fields] of owned) {
    const whole = inVersion(merged, apiVersion)
    const pruned = inVersion(left, apiVersion)
    if (whole === undefined || pruned === undefined) continue
    left = putBack(whole.schema, whole.object, pruned.object, fields) as JsonObject
  }
  return inVersion(left, writer.apiVersion)?.object ?? merged
}

function ownedByVersion({ writer, stated, others }: Dropping): Map<string, FieldSet> {
  const here = { apiVersion: writer.apiVersion, fields: stated }
  const owners = Map.groupBy([here, ...others], ({ apiVersion }) => apiVersion)
  return new Map(Array.from(owners, ([version, all]) => [version, unionAll(all.map(({ fields }) => fields))]))
}

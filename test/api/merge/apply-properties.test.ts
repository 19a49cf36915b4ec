/** Property tests of apply, for any schema and object. Random cases are generated from a seed that identifies them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { compare } from '../../../src/api/merge/compare.ts'
import { configFieldSet } from '../../../src/api/merge/config-field-set.ts'
import {
  difference,
  emptySet,
  fromFieldsV1,
  intersection,
  isEmpty,
  sameSet,
  toFieldsV1,
  union,
} from '../../../src/api/merge/field-set.ts'
import { ownable } from '../../../src/api/merge/ownable-fields.ts'
import { asJson } from '../../../src/api/model/object.ts'
import type { ObjectSchema } from '../../../src/api/schema/schema.ts'
import { freeze, type Random, randomConfig, randomFrom, randomKind } from './random-thing.ts'
import { emptyWorld, look, take, type World } from './world.ts'

interface Draw {
  readonly random: Random
  readonly schema: ObjectSchema
  readonly config: () => JsonObject
}

const tries = 120

function forEachSeed(title: string, check: (draw: Draw) => void): void {
  test(title, () => {
    for (let seed = 1; seed <= tries; seed++) {
      const random = randomFrom(seed)
      const schema = randomKind(random)
      try {
        check({ random, schema, config: () => freeze(randomConfig(random, schema)) })
      } catch (error) {
        throw new Error(`with seed ${seed}`, { cause: error })
      }
    }
  })
}

/** Applies a configuration. The object is frozen, so an apply that modifies its input throws an error. */
function apply(world: World, by: string, config: JsonObject, force = true): World {
  const next = take(world, { by, apply: config as { [field: string]: never }, ...(force ? { force: true } : {}) })
  freeze(next.live)
  return next
}

/** Fails unless the object contains everything that the configuration sets. */
function assertHolds(world: World, config: JsonObject, what: string): void {
  const { removed, modified } = compare(world.schema, config, asJson(world.live!))
  assert.ok(isEmpty(removed), `${what}: missing ${JSON.stringify(toFieldsV1(removed))}`)
  assert.ok(isEmpty(modified), `${what}: changed ${JSON.stringify(toFieldsV1(modified))}`)
}

forEachSeed('applying the same configuration again changes nothing', ({ schema, config }) => {
  const mine = config()
  const once = apply(apply(emptyWorld(schema), 'a', config()), 'b', mine)
  const twice = apply(once, 'b', mine, false)
  assert.deepEqual(twice.conflicts, [])
  assert.deepEqual(look(twice), look(once))
})

forEachSeed(
  "the object contains the applied fields, and extracting the manager's fields returns them",
  ({ schema, config }) => {
    const theirs = config()
    const mine = config()
    const world = apply(apply(emptyWorld(schema), 'a', theirs), 'b', mine)
    assertHolds(world, mine, 'the applied object')
    const entry = world.live!.metadata.managedFields!.find(({ manager }) => manager === 'b')
    assert.ok(sameSet(fromFieldsV1(entry?.fieldsV1)!, configFieldSet(schema, mine)))
  },
)

forEachSeed('fields that two managers applied remain when one manager drops them', ({ schema, config }) => {
  const shared = config()
  const both = apply(apply(emptyWorld(schema), 'a', shared), 'b', shared, false)
  assert.deepEqual(both.conflicts, [], 'equal values do not conflict')
  const one = apply(both, 'a', {})
  assertHolds(one, shared, 'the object after one dropped it')
  assert.deepEqual(look(one).owners, { 'b applies': look(both).owners['b applies'] })
})

forEachSeed('without force, other managers keep their values or there is a conflict', ({ schema, config }) => {
  const theirs = config()
  const mine = config()
  const before = apply(emptyWorld(schema), 'a', theirs)
  const after = apply(before, 'b', mine, false)
  assertHolds(after, theirs, "the other's object")
  if (after.conflicts.length > 0) assert.deepEqual(look(after), { ...look(before), conflicts: look(after).conflicts })
  else assertHolds(after, mine, 'the applied object')
})

forEachSeed('when all managers drop all fields, nothing is left', ({ schema, config }) => {
  let world = apply(apply(apply(emptyWorld(schema), 'a', config()), 'b', config()), 'c', config())
  for (const by of ['b', 'a', 'c']) world = apply(world, by, {})
  assert.deepEqual(look(world).object, {})
  assert.deepEqual(look(world).owners, {})
})

forEachSeed('after updates every field has an owner, and removed fields have none', ({ schema, config }) => {
  const put = (world: World, by: string) => take(world, { by, put: config() as { [field: string]: never } })
  const created = put(emptyWorld(schema), 'u')
  const updated = put(created, 'v')
  const entries = updated.live!.metadata.managedFields ?? []
  const owned = entries.map(({ fieldsV1 }) => fromFieldsV1(fieldsV1)!).reduce(union, emptySet)
  const { removed } = compare(schema, asJson(created.live!), asJson(updated.live!))
  const present = ownable(configFieldSet(schema, asJson({ ...updated.live!, metadata: {} })))
  assert.deepEqual(toFieldsV1(difference(present, owned)), {}, 'without an owner')
  assert.deepEqual(toFieldsV1(intersection(owned, removed)), {}, 'gone and owned')
})

forEachSeed('a field set survives a round trip through FieldsV1', ({ schema, config }) => {
  const set = configFieldSet(schema, config())
  assert.ok(sameSet(fromFieldsV1(JSON.parse(JSON.stringify(toFieldsV1(set))))!, set))
})

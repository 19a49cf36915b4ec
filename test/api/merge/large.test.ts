/**
 * Tests that large objects are merged and compared in steps, so that other work can run in between. Different code
 * merges small objects, and both must produce the same results. Random objects are generated from a seed that
 * identifies them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, type JsonObject, sameJson } from '../../../src/api/json/json.ts'
import { sameJsonSliced } from '../../../src/api/json/large-json.ts'
import { compare, compareSliced } from '../../../src/api/merge/compare.ts'
import { configFieldSet, configFieldSetSliced } from '../../../src/api/merge/config-field-set.ts'
import { applyConflict } from '../../../src/api/merge/conflicts.ts'
import {
  covers,
  coversSliced,
  difference,
  differenceSliced,
  emptySet,
  type FieldSet,
  fromFieldsSliced,
  intersection,
  sameSet,
  sameSetSliced,
  toFieldsSliced,
  toFieldsV1,
} from '../../../src/api/merge/field-set.ts'
import { refuseKeyless } from '../../../src/api/merge/keyless-elements.ts'
import { mergeConfig, mergeConfigSliced } from '../../../src/api/merge/merge-config.ts'
import { prune } from '../../../src/api/merge/prune.ts'
import { reconcileManagers } from '../../../src/api/merge/reconcile.ts'
import { field, s } from '../../../src/api/schema/schema.ts'
import { type Random, randomFrom } from './random-thing.ts'
import { kindOf } from './world.ts'

const many = 3000

const keyed = s.object({ name: field(1, s.string()), value: field(2, s.string()), tags: field(3, s.map(s.string())) })
const schema = kindOf({
  set: field(2, s.list(s.string(), { list: 'set' })),
  keyed: field(3, s.list(keyed, { list: 'map', keys: ['name'] })),
  map: field(4, s.map(s.string())),
  whole: field(5, s.list(s.any())),
  any: field(6, s.any()),
})

const members: { readonly [name: string]: (random: Random) => Json } = {
  set: (random) => some(random, (i) => `e${i}`),
  keyed: (random) => some(random, (i) => ({ name: `e${i}`, value: `${random(2)}`, tags: { a: `${random(2)}` } })),
  map: (random) => Object.fromEntries(some(random, (i) => [`k${i}`, `${random(2)}`] as const)),
  whole: (random) => some(random, (i) => ({ i })),
  any: (random) => Object.fromEntries(some(random, (i) => [`k${i}`, [i]] as const)),
}

/** Returns a list with most of the items. In half of the lists, a few items are moved to a different position. */
function some<T>(random: Random, item: (i: number) => T): T[] {
  const numbers = Array.from({ length: many }, (_, i) => i).filter(() => random(50) > 0)
  if (random(2) === 0) numbers.push(...numbers.splice(random(many / 2), 5))
  return numbers.map(item)
}

interface Run<T> {
  readonly steps: number
  readonly result: T
}

function run<T>(work: Generator<void, T>): Run<T> {
  for (let steps = 0; ; steps++) {
    const step = work.next()
    if (step.done) return { steps, result: step.value }
  }
}

/** Fails unless the work was split into several steps. */
function inSteps<T>(what: string, work: Generator<void, T>): T {
  const { steps, result } = run(work)
  assert.ok(steps >= many / 1000, `${what} in ${steps} steps`)
  return result
}

for (const [name, make] of Object.entries(members))
  for (const seed of [1, 2, 3])
    test(`applying and comparing large values runs in short time slices: ${name}, seed ${seed}`, () => {
      const random = randomFrom(seed)
      const object = (): JsonObject => ({ apiVersion: 'v1', kind: 'Thing', metadata: {}, [name]: make(random) })
      const live = object()
      const config = object()
      const same = structuredClone(live)
      const all = compare(schema, undefined, live).added
      const isWhole = all.children.get(`f:${name}`)!.children.size === 0
      const finish: typeof inSteps = (what, work) => (isWhole ? run(work).result : inSteps(what, work))

      assert.equal(inSteps('found the same', sameJsonSliced(live, same)), true)
      assert.equal(run(sameJsonSliced(live, config)).result, sameJson(live, config))

      const stated = finish('stated', configFieldSetSliced(schema, config))
      assert.deepEqual(stated, configFieldSet(schema, config))

      assert.deepEqual(finish('merged', mergeConfigSliced(schema, live, config)), mergeConfig(schema, live, config))
      assert.equal(inSteps('merged', mergeConfigSliced(schema, live, same)), live)

      assert.deepEqual(finish('compared', compareSliced(schema, live, config)), compare(schema, live, config))
      assert.deepEqual(inSteps('compared', compareSliced(schema, live, same)), compare(schema, live, same))
      assert.deepEqual(finish('compared', compareSliced(schema, undefined, live)).added, all)
      assert.deepEqual(finish('compared', compareSliced(schema, live, undefined)).removed, all)

      const fields = finish('written', toFieldsSliced(all))
      assert.equal(JSON.stringify(fields), JSON.stringify(toFieldsV1(all)))
      assert.ok(sameSet(finish('read', fromFieldsSliced(fields))!, { ...all, member: false }))

      assert.deepEqual(finish('taken away', differenceSliced(all, stated)), difference(all, stated))
      assert.equal(run(differenceSliced(all, emptySet)).result, all)
      const copy = compare(schema, undefined, same).added
      assert.equal(finish('found the same', sameSetSliced(all, copy)), true)
      assert.equal(run(sameSetSliced(all, stated)).result, sameSet(all, stated))
      assert.equal(finish('covered', coversSliced(all, copy)), true)
      assert.equal(run(coversSliced(stated, all)).result, covers(stated, all))
      const manager = {
        name: 'm',
        operation: 'Apply',
        apiVersion: 'v1',
        subresource: '',
        time: '',
        fields: all,
      } as const
      const [reconciled] = finish(
        'reconciled',
        reconcileManagers(() => schema, [manager]),
      )
      assert.equal(reconciled, manager)
      if (name === 'keyed') inSteps('looked for keys', refuseKeyless(schema, live, 'it'))

      const left = finish('pruned', prune(schema, live, { last: all, owned: stated }))
      const placesIn = (set: FieldSet) => [...(set.children.get(`f:${name}`)?.children.keys() ?? [])]
      assert.deepEqual(placesIn(compare(schema, undefined, left).added), placesIn(intersection(all, stated)))
    })

test('the error for an apply conflict truncates a large value', () => {
  const manager = {
    name: 'm',
    operation: 'Apply',
    apiVersion: 'v1',
    subresource: '',
    time: 't',
    fields: emptySet,
  } as const
  const shown = (live: Json, asked: Json) =>
    applyConflict([{ manager, path: ['f:whole'], live, requested: asked }]).message
  const list = (length: number) => Array.from({ length }, (_, i) => ({ b: `"${i}`, a: [i] }))
  const object = (value: Json[]) => Object.fromEntries(value.map((item, i) => [`k${9999 - i}`, item])) as JsonObject
  assert.equal(shown(list(many), [list(many)]), shown(list(100), [list(100)]))
  assert.match(
    shown(object(list(many)), { z: 1, y: list(many) }),
    /is \{"k7000":\{"a":\[2999\],"b":"\\"2999"\},"k7001".*\.\.\., asked for \{"y":\[\{"a":\[0\],"b"/,
  )
})

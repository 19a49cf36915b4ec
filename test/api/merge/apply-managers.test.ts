/**
 * Tests field ownership after writes other than apply: managers gain or lose fields, and clients edit, reset or
 * merge entries.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { fromFieldsV1 } from '../../../src/api/merge/field-set.ts'
import { itemElement, pathText } from '../../../src/api/merge/path-elements.ts'
import { field, s } from '../../../src/api/schema/schema.ts'
import { emptyWorld, kindOf, look, type Seen, type Step, take, timeAt, type World } from './world.ts'

const thing = kindOf({
  data: field(2, s.map(s.string())),
  tags: field(3, s.list(s.string(), { list: 'set' })),
  status: field(4, s.object({ phase: field(1, s.string()) })),
})

type Scenario = readonly (Step & { readonly see?: Partial<Seen> })[]

const entry = (more: JsonObject): JsonObject => ({
  manager: 'e',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:k': {} } },
  ...more,
})
const sending = (...managedFields: JsonObject[]) => ({ metadata: { managedFields: managedFields as Json } })
const first = { by: 'u', put: { data: { k: '1' } } }
const firstOwners = { 'u updates': ['.data', '.data.k'] }

const scenarios: { readonly [title: string]: Scenario } = {
  'a writer owns the fields that it changes, and a manager without fields disappears': [
    { by: 'u', put: { data: { k: '1', l: '1' } } },
    {
      by: 'v',
      put: { data: { k: '2', l: '1' } },
      see: { owners: { 'u updates': ['.data', '.data.l'], 'v updates': ['.data.k'] } },
    },
    {
      by: 'w',
      put: { data: { k: '3', l: '1' } },
      see: { owners: { 'u updates': ['.data', '.data.l'], 'w updates': ['.data.k'] } },
    },
    { by: 'w', put: {}, see: { owners: {}, object: {} } },
  ],
  'the time changes when the owned fields change, not when their values change': [
    first,
    { by: 'u', put: { data: { k: '2' } }, see: { times: { 'u updates': timeAt(1) } } },
    { by: 'u', put: { data: { k: '2', l: '1' } }, see: { times: { 'u updates': timeAt(3) } } },
    { by: 'v', put: { data: { k: '3', l: '1' } }, see: { times: { 'u updates': timeAt(3), 'v updates': timeAt(4) } } },
  ],
  'an update takes an applied field from its applier': [
    { by: 'a', apply: { data: { k: '1', l: '1' } } },
    {
      by: 'a',
      put: { data: { k: '2', l: '1' } },
      see: { owners: { 'a applies': ['.data.l'], 'a updates': ['.data.k'] } },
    },
    { by: 'u', put: { data: { l: '1' } }, see: { owners: { 'a applies': ['.data.l'] } } },
  ],
  'elements of sets are owned individually, and their order has no owner': [
    { by: 'u', put: { tags: ['a', 'b'] } },
    {
      by: 'v',
      put: { tags: ['b', 'c', 'a'] },
      see: { owners: { 'u updates': ['.tags', '.tags[="a"]', '.tags[="b"]'], 'v updates': ['.tags[="c"]'] } },
    },
    {
      by: 'w',
      put: { tags: ['c', 'a'] },
      see: { owners: { 'u updates': ['.tags', '.tags[="a"]'], 'v updates': ['.tags[="c"]'] } },
    },
  ],
  'an object without managers is not tracked': [
    { by: 'u', put: {}, see: { owners: {} } },
    { by: 'u', put: { data: { k: '1' } }, see: { owners: {} } },
  ],
  'managers sent with a create are ignored': [
    { by: 'u', put: { ...sending(entry({})), data: { k: '1' } }, see: { owners: firstOwners } },
  ],
  'a single empty entry drops all managers': [
    first,
    { by: 'v', put: { ...sending({}), data: { k: '1' } }, see: { owners: {} } },
  ],
  'a single empty entry drops all managers before the writer becomes owner of its changes': [
    { by: 'u', put: { data: { k: '1', l: '1' } } },
    { by: 'v', put: { ...sending({}), data: { k: '2', l: '1' } }, see: { owners: { 'v updates': ['.data.k'] } } },
    {
      by: 'w',
      put: { data: { k: '2', l: '2' } },
      see: { owners: { 'v updates': ['.data.k'], 'w updates': ['.data.l'] } },
    },
  ],
  'an empty list drops nothing': [
    first,
    { by: 'v', put: { ...sending(), data: { k: '1' } }, see: { owners: firstOwners } },
  ],
  'a client can edit the managers': [
    first,
    {
      by: 'v',
      put: { ...sending(entry({ operation: 'Apply' })), data: { k: '1' } },
      see: { owners: { 'e applies': ['.data.k'] } },
    },
    { by: 'e', apply: {}, see: { object: {}, owners: {} } },
  ],
  'keys that differ only in escaping are the same': [
    first,
    {
      by: 'v',
      put: { ...sending(entry({ fieldsV1: { 'f:x': { 'k:{ "b" : 2, "a":1 }': {} } } })), data: { k: '1' } },
      see: { owners: { 'e updates': ['.x[a=1,b=2]'] } },
    },
  ],
  'managers sent through a subresource are ignored': [
    first,
    {
      by: 'v',
      put: { ...sending({}), data: { k: '1' }, status: { phase: 'Up' } },
      subresource: 'status',
      readOnly: ['data'],
      see: { owners: { ...firstOwners, 'v updates status': ['.status', '.status.phase'] } },
    },
  ],
}

/** Invalid entries. If a client sends one of them, the server keeps the stored entries. */
const nonsense: readonly JsonObject[] = [
  { operation: 'Merge' },
  { operation: '' },
  { apiVersion: '' },
  { fieldsType: 'FieldsV2' },
  { fieldsType: '' },
  { fieldsV1: { data: {} } },
  { fieldsV1: { 'f:data': { 'k:{': {} } } },
  { fieldsV1: { 'f:data': { 'k:{}': {} } } },
  { fieldsV1: { 'f:data': 1 } },
]

function play(steps: Scenario): World {
  let world = emptyWorld(thing)
  for (const [i, { see = {}, ...step }] of steps.entries()) {
    world = take(world, step)
    for (const [what, expected] of Object.entries(see))
      assert.deepEqual(look(world)[what as keyof Seen], expected, `${what} after step ${i + 1}`)
  }
  return world
}

for (const [title, steps] of Object.entries(scenarios)) test(title, () => void play(steps))

for (const wrong of nonsense)
  test(`a managedFields entry with ${JSON.stringify(wrong)} is ignored`, () => {
    play([first, { by: 'v', put: { ...sending(entry(wrong)), data: { k: '1' } }, see: { owners: firstOwners } }])
  })

test('after updates by more than ten managers, the oldest update entries in managed fields are merged, but apply entries are not', () => {
  const names = Array.from({ length: 12 }, (_, i) => `u${String(i).padStart(2, '0')}`)
  let data: { [key: string]: string } = {}
  const updates = names.map((by) => {
    data = { ...data, [by]: '1' }
    return { by, put: { data } }
  })
  const world = play([{ by: 'a', apply: { data: { applied: '1' } } }, ...updates.map(withApplied)])
  const { owners, times } = look(world)
  assert.deepEqual(Object.keys(owners), [
    'a applies',
    'ancient-changes updates',
    ...names.slice(3).map((n) => `${n} updates`),
  ])
  assert.deepEqual(owners['ancient-changes updates'], ['.data.u00', '.data.u01', '.data.u02'])
  assert.equal(times['ancient-changes updates'], timeAt(4), 'the time of the newest that was folded')
})

function withApplied({ by, put }: { by: string; put: { data: { [key: string]: string } } }): Step {
  return { by, put: { data: { ...put.data, applied: '1' } } }
}

test('path elements in managed fields are escaped as in kube-apiserver, and any other escaping is accepted', () => {
  const set = s.list(s.string(), { list: 'set' })
  const keyed = s.list(s.object({ name: field(1, s.string()) }), { list: 'map', keys: ['name'] })
  const steps = [itemElement(set, 'a<b'), itemElement(keyed, { name: 'a>b&c' })]
  assert.deepEqual(steps, ['v:"a\\u003cb"', 'k:{"name":"a\\u003eb\\u0026c"}'])
  const other = fromFieldsV1({ 'v:"a<b"': {}, 'k:{"name":"a>b&c"}': {} })
  assert.deepEqual([...other!.children.keys()], steps)
  assert.equal(pathText(steps), '[="a<b"][name="a>b&c"]')
})

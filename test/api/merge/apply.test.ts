/**
 * Tests server-side apply as scenarios. Each scenario is a list of steps with the expected state after each step.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { field, s } from '../../../src/api/schema/schema.ts'
import { emptyWorld, kindOf, look, type Seen, type Step, take } from './world.ts'

const env = s.object({ name: field(1, s.string()), value: field(2, s.string()) })
const port = s.object({
  port: field(1, s.int32(), { zeroValue: 'write' }),
  protocol: field(2, s.string(), { default: 'TCP' }),
  name: field(3, s.string()),
  env: field(4, s.list(env, { list: 'map', keys: ['name'] })),
})
const ref = s.object({ name: field(1, s.string()), note: field(2, s.string()) }, { atomic: true })

const thing = kindOf({
  data: field(2, s.map(s.string())),
  selector: field(3, s.map(s.string(), { atomic: true })),
  steps: field(4, s.list(s.string())),
  tags: field(5, s.list(s.string(), { list: 'set' })),
  ports: field(6, s.list(port, { list: 'map', keys: ['port', 'protocol'] })),
  refs: field(7, s.list(ref, { list: 'map', keys: ['name'] })),
  whole: field(8, ref),
  part: field(9, s.object({ a: field(1, s.string()), b: field(2, s.string()) })),
  size: field(10, s.int32(), { default: 3 }),
  free: field(11, s.any({ granular: true })),
  raw: field(12, s.any()),
  status: field(13, s.object({ phase: field(1, s.string()), note: field(2, s.string()) })),
})

type Expected = Partial<Seen>
type Scenario = readonly (Step & { readonly see?: Expected })[]

const main = { readOnly: ['status'] }
const status = { subresource: 'status', readOnly: ['data'] }
const json = (value: unknown) => JSON.stringify(value)
const lastApplied = (config: unknown) => ({
  metadata: { annotations: { 'kubectl.orch.io/last-applied-configuration': json(config) } },
})

const scenarios: { readonly [title: string]: Scenario } = {
  'an apply creates, repeats and changes': [
    {
      by: 'a',
      apply: { data: { k: '1' } },
      see: { object: { data: { k: '1' }, size: 3 }, owners: { 'a applies': ['.data.k'] } },
    },
    { by: 'a', apply: { data: { k: '1' } }, see: { times: { 'a applies': '2030-01-01T00:00:01Z' } } },
    {
      by: 'a',
      apply: { data: { k: '2' } },
      see: { times: { 'a applies': '2030-01-01T00:00:03Z' }, object: { data: { k: '2' }, size: 3 } },
    },
  ],
  'applying another value is a conflict and changes nothing': [
    { by: 'a', apply: { data: { k: '1', l: '1' } } },
    {
      by: 'b',
      apply: { data: { k: '2', m: '1' } },
      see: { conflicts: ['a: .data.k'], object: { data: { k: '1', l: '1' }, size: 3 } },
    },
  ],
  'force takes the field from all others': [
    { by: 'a', apply: { data: { k: '1', l: '1' } } },
    { by: 'b', apply: { data: { k: '1' } } },
    { by: 'c', apply: { data: { k: '2' } }, see: { conflicts: ['a: .data.k', 'b: .data.k'] } },
    {
      by: 'c',
      apply: { data: { k: '2' } },
      force: true,
      see: {
        owners: { 'a applies': ['.data.l'], 'c applies': ['.data.k'] },
        object: { data: { k: '2', l: '1' }, size: 3 },
      },
    },
  ],
  'equal values are shared, and a manager that gives up a shared field leaves it to the others': [
    { by: 'a', apply: { data: { k: '1' } } },
    { by: 'b', apply: { data: { k: '1' } }, see: { owners: { 'a applies': ['.data.k'], 'b applies': ['.data.k'] } } },
    { by: 'a', apply: { data: { k: '2' } }, see: { conflicts: ['b: .data.k'] } },
    { by: 'a', apply: {}, see: { owners: { 'b applies': ['.data.k'] }, object: { data: { k: '1' }, size: 3 } } },
    { by: 'b', apply: {}, see: { owners: {}, object: { size: 3 } } },
  ],
  'a removed field returns to its default': [
    { by: 'a', apply: { size: 5, data: { k: '1' } }, see: { object: { data: { k: '1' }, size: 5 } } },
    {
      by: 'a',
      apply: { data: { k: '1' } },
      see: { object: { data: { k: '1' }, size: 3 }, owners: { 'a applies': ['.data.k'] } },
    },
    { by: 'b', apply: { size: 7 }, see: { owners: { 'a applies': ['.data.k'], 'b applies': ['.size'] } } },
  ],
  'elements of keyed lists are identified by all their keys, including a defaulted one': [
    {
      by: 'a',
      apply: { ports: [{ port: 80, name: 'web' }] },
      see: {
        object: { ports: [{ port: 80, protocol: 'TCP', name: 'web' }], size: 3 },
        owners: {
          'a applies': [
            '.ports[port=80,protocol="TCP"]',
            '.ports[port=80,protocol="TCP"].name',
            '.ports[port=80,protocol="TCP"].port',
          ],
        },
      },
    },
    { by: 'b', apply: { ports: [{ port: 80, protocol: 'UDP' }] } },
    {
      by: 'b',
      apply: { ports: [{ port: 80, protocol: 'TCP', name: 'x' }] },
      see: { conflicts: ['a: .ports[port=80,protocol="TCP"].name'] },
    },
    { by: 'a', apply: {}, see: { object: { ports: [{ port: 80, protocol: 'UDP' }], size: 3 } } },
  ],
  'keyed lists inside keyed lists': [
    { by: 'a', apply: { ports: [{ port: 1, env: [{ name: 'A', value: '1' }] }] } },
    {
      by: 'b',
      apply: { ports: [{ port: 1, env: [{ name: 'B', value: '2' }] }] },
      see: {
        object: {
          ports: [
            {
              port: 1,
              protocol: 'TCP',
              env: [
                { name: 'A', value: '1' },
                { name: 'B', value: '2' },
              ],
            },
          ],
          size: 3,
        },
      },
    },
    {
      by: 'a',
      apply: {},
      see: { object: { ports: [{ port: 1, protocol: 'TCP', env: [{ name: 'B', value: '2' }] }], size: 3 } },
    },
  ],
  'removing an element also removes the fields that updaters set in it': [
    { by: 'a', apply: { ports: [{ port: 1, name: 'one' }, { port: 2 }] } },
    { by: 'u', put: { ports: [{ port: 1, name: 'changed' }, { port: 2 }] } },
    {
      by: 'a',
      apply: { ports: [{ port: 2 }] },
      see: {
        object: { ports: [{ port: 2, protocol: 'TCP' }], size: 3 },
        owners: { 'a applies': ['.ports[port=2,protocol="TCP"]', '.ports[port=2,protocol="TCP"].port'] },
      },
    },
  ],
  'shared elements follow the configuration, others keep their position, and order alone is no change': [
    { by: 'a', apply: { tags: ['a', 'b', 'c'] } },
    { by: 'a', apply: { tags: ['c', 'b', 'a'] }, see: { object: { tags: ['a', 'b', 'c'], size: 3 } } },
    { by: 'b', apply: { tags: ['z', 'b'] }, see: { object: { tags: ['a', 'z', 'b', 'c'], size: 3 } } },
    { by: 'b', apply: { tags: ['c', 'b', 'z', 'y'] }, see: { object: { tags: ['a', 'c', 'b', 'z', 'y'], size: 3 } } },
  ],
  'atomic lists, maps, objects and elements are owned as a whole': [
    {
      by: 'a',
      apply: {
        steps: ['x'],
        selector: { k: '1' },
        whole: { name: 'w' },
        refs: [{ name: 'r' }],
        raw: { deep: { v: 1 } },
      },
    },
    {
      by: 'b',
      apply: {
        steps: ['y'],
        selector: { l: '1' },
        whole: { note: 'n' },
        refs: [{ name: 'r', note: 'n' }],
        raw: { deep: { w: 1 } },
      },
      see: { conflicts: ['a: .raw', 'a: .refs[name="r"]', 'a: .selector', 'a: .steps', 'a: .whole'] },
    },
    {
      by: 'b',
      apply: { steps: ['y'], selector: { l: '1' }, whole: { note: 'n' } },
      force: true,
      see: {
        object: {
          steps: ['y'],
          selector: { l: '1' },
          whole: { note: 'n' },
          refs: [{ name: 'r' }],
          raw: { deep: { v: 1 } },
          size: 3,
        },
        owners: { 'a applies': ['.raw', '.refs[name="r"]'], 'b applies': ['.selector', '.steps', '.whole'] },
      },
    },
  ],
  'granular objects are owned field by field, and the last owner removes the object': [
    { by: 'a', apply: { part: { a: '1' } } },
    { by: 'b', apply: { part: { b: '2' } }, see: { owners: { 'a applies': ['.part.a'], 'b applies': ['.part.b'] } } },
    { by: 'a', apply: {}, see: { object: { part: { b: '2' }, size: 3 } } },
    { by: 'b', apply: {}, see: { object: { size: 3 } } },
  ],
  'in JSON without a schema keys are owned individually, and lists as a whole': [
    {
      by: 'a',
      apply: { free: { deep: { x: 1 }, list: [{ name: 'p' }] } },
      see: { owners: { 'a applies': ['.free.deep', '.free.deep.x', '.free.list'] } },
    },
    {
      by: 'b',
      apply: { free: { deep: { y: 2 } } },
      see: { object: { free: { deep: { x: 1, y: 2 }, list: [{ name: 'p' }] }, size: 3 } },
    },
    { by: 'b', apply: { free: { list: [{ name: 'q' }] } }, see: { conflicts: ['a: .free.list'] } },
    { by: 'a', apply: {}, see: { object: { free: { deep: { y: 2 } }, size: 3 } } },
  ],
  'empty and null maps are owned themselves, but empty lists are not': [
    {
      by: 'a',
      apply: { data: {}, part: {}, tags: [], steps: [] },
      see: { owners: { 'a applies': ['.data', '.part', '.steps'] } },
    },
    { by: 'a', apply: { data: null }, see: { owners: { 'a applies': ['.data'] } } },
    {
      by: 'a',
      apply: { data: { k: null } },
      see: { object: { data: { k: '' }, size: 3 }, owners: { 'a applies': ['.data.k'] } },
    },
  ],
  'status is owned through its subresource and not through the main resource': [
    {
      by: 'a',
      apply: { data: { k: '1' }, status: { phase: 'Up' } },
      ...main,
      see: { owners: { 'a applies': ['.data.k'] } },
    },
    {
      by: 'a',
      apply: { data: { k: '9' }, status: { phase: 'Up' } },
      ...status,
      see: { owners: { 'a applies': ['.data.k'], 'a applies status': ['.status.phase'] } },
    },
    { by: 'b', apply: { status: { phase: 'Down' } }, ...status, see: { conflicts: ['a: .status.phase'] } },
  ],
  'fields set before the first apply have an owner': [
    { by: 'u', put: { data: { k: '1' } }, see: { owners: { 'u updates': ['.data', '.data.k', '.size'] } } },
    { by: 'u', put: { metadata: { managedFields: [{}] }, data: { k: '1' } }, see: { owners: {} } },
    {
      by: 'a',
      apply: { data: { l: '1' } },
      see: { owners: { 'a applies': ['.data.l'], 'before-first-apply updates': ['.data', '.data.k', '.size'] } },
    },
    { by: 'a', apply: { data: { k: '2' } }, see: { conflicts: ['before-first-apply: .data.k'] } },
  ],
  'an applier keeps its entry when it changes to another version': [
    { by: 'a', apply: { data: { k: '1', l: '1' } } },
    {
      by: 'a',
      apply: { data: { k: '1' } },
      apiVersion: 'v2',
      see: { object: { data: { k: '1' }, size: 3 }, owners: { 'a applies': ['.data.k'] } },
    },
  ],
  'a name that both updates and applies counts as two managers': [
    { by: 'a', put: { data: { k: '1' } } },
    { by: 'a', apply: { data: { k: '1' } } },
    { by: 'a', apply: {}, see: { object: { data: { k: '1' }, size: 3 } } },
    { by: 'a', apply: { data: { k: '2' } }, see: { conflicts: ['a: .data.k'] } },
  ],
  'all owners of elements own a list that becomes atomic': [
    { by: 'a', apply: { tags: ['x'] } },
    { by: 'b', apply: { tags: ['y'] } },
    {
      by: 'c',
      apply: { tags: ['z'] },
      schema: kindOf({ tags: field(5, s.list(s.string())) }),
      see: { conflicts: ['a: .tags', 'b: .tags'] },
    },
  ],
  'the elements of a list that becomes a set have no owners': [
    { by: 'a', apply: { steps: ['x'] } },
    {
      by: 'b',
      apply: { steps: ['y'] },
      schema: kindOf({ steps: field(4, s.list(s.string(), { list: 'set' })) }),
      see: {
        conflicts: [],
        object: { steps: ['x', 'y'] },
        owners: { 'a applies': ['.steps'], 'b applies': ['.steps[="y"]'] },
      },
    },
    { by: 'a', apply: {}, see: { object: { steps: ['x', 'y'] } } },
  ],
  'migration from client-side apply has no conflicts for fields that match the annotation': [
    { by: 'tool', put: { ...lastApplied({ apiVersion: 'v1', data: { k: '1' } }), data: { k: '1', l: '1' } } },
    { by: 'other', apply: { data: { k: '2' } }, see: { conflicts: ['tool: .data.k'] } },
    { by: 'orchctl', apply: { data: { k: '2', l: '2' } }, see: { conflicts: ['tool: .data.l'] } },
    {
      by: 'kubectl',
      apply: { data: { k: '2' } },
      see: {
        conflicts: [],
        object: {
          metadata: {
            annotations: {
              'kubectl.orch.io/last-applied-configuration':
                '{"apiVersion":"v1","data":{"k":"2"},"kind":"Thing","metadata":{"name":"x"}}\n',
            },
          },
          data: { k: '2', l: '1' },
          size: 3,
        },
      },
    },
  ],
  'an invalid annotation grants nothing': [
    { by: 'tool', put: { ...lastApplied([1]), data: { k: '1' } } },
    { by: 'orchctl', apply: { data: { k: '2' } }, see: { conflicts: ['tool: .data.k'] } },
  ],
  'an emptied object is removed, even if a manager set it empty': [
    { by: 'a', apply: { part: { a: '1' } } },
    { by: 'b', apply: { part: {} }, see: { owners: { 'a applies': ['.part.a'], 'b applies': ['.part'] } } },
    { by: 'a', apply: {}, see: { object: { size: 3 } } },
  ],
  'null for a map removes nothing': [
    { by: 'a', apply: { data: { k: '1' }, tags: ['x'] } },
    { by: 'b', apply: { data: null, tags: null }, see: { object: { data: { k: '1' }, tags: ['x'], size: 3 } } },
  ],
  'adding an absent field that another manager owns is a conflict': [
    { by: 'a', apply: { data: {} }, see: { object: { size: 3 }, owners: { 'a applies': ['.data'] } } },
    { by: 'b', apply: { data: { k: '1' } }, see: { conflicts: ['a: .data'] } },
  ],
  'fields changed since the last client-side apply still conflict': [
    { by: 'tool', put: { ...lastApplied({ apiVersion: 'v1', data: { k: '1' } }), data: { k: '9' } } },
    { by: 'orchctl', apply: { data: { k: '2' } }, see: { conflicts: ['tool: .data.k'] } },
    { by: 'orchctl', apply: { data: { k: '9' } }, see: { conflicts: [] } },
  ],
  'since 1.29, duplicate elements created by updates are kept until that element is applied': [
    {
      by: 'u',
      emulated: '1.29',
      put: {
        ports: [
          { port: 1, name: 'one' },
          { port: 1, name: 'two' },
        ],
      },
      see: { owners: { 'u updates': ['.ports', '.ports[port=1,protocol="TCP"]', '.size'] } },
    },
    {
      by: 'a',
      apply: { ports: [{ port: 1, name: 'one' }] },
      see: { conflicts: ['u: .ports[port=1,protocol="TCP"]'] },
    },
    {
      by: 'a',
      apply: { ports: [{ port: 2 }] },
      see: {
        object: {
          ports: [
            { port: 1, protocol: 'TCP', name: 'one' },
            { port: 1, protocol: 'TCP', name: 'two' },
            { port: 2, protocol: 'TCP' },
          ],
          size: 3,
        },
      },
    },
    {
      by: 'a',
      force: true,
      apply: { ports: [{ port: 1, name: 'new' }, { port: 2 }] },
      see: {
        object: {
          ports: [
            { port: 1, protocol: 'TCP', name: 'new' },
            { port: 2, protocol: 'TCP' },
          ],
          size: 3,
        },
      },
    },
  ],
  'before 1.29, an object with duplicate elements is not tracked': [
    {
      by: 'u',
      put: { ports: [{ port: 1 }] },
      see: {
        owners: {
          'u updates': [
            '.ports',
            '.ports[port=1,protocol="TCP"]',
            '.ports[port=1,protocol="TCP"].port',
            '.ports[port=1,protocol="TCP"].protocol',
            '.size',
          ],
        },
      },
    },
    { by: 'u', put: { ports: [{ port: 1 }, { port: 1, name: 'two' }] }, see: { owners: {} } },
    { by: 'u', put: { ports: [{ port: 1 }] }, see: { owners: {} } },
    {
      by: 'a',
      apply: { ports: [{ port: 2 }] },
      see: {
        object: {
          ports: [
            { port: 1, protocol: 'TCP' },
            { port: 2, protocol: 'TCP' },
          ],
          size: 3,
        },
      },
    },
  ],
  'keys named like members of JavaScript objects are ordinary keys': [
    { by: 'a', apply: JSON.parse('{"data":{"__proto__":"1","constructor":"2"}}') },
    { by: 'b', apply: JSON.parse('{"data":{"__proto__":"2"}}'), see: { conflicts: ['a: .data.__proto__'] } },
    {
      by: 'a',
      apply: { data: { k: '1' } },
      see: { object: { data: { k: '1' }, size: 3 }, owners: { 'a applies': ['.data.k'] } },
    },
  ],
}

for (const [title, steps] of Object.entries(scenarios)) {
  test(title, () => {
    let world = emptyWorld(thing)
    for (const [i, { see = {}, ...step }] of steps.entries()) {
      world = take(world, step)
      const seen = look(world)
      for (const [what, expected] of Object.entries(see))
        assert.deepEqual(seen[what as keyof Seen], expected, `${what} after step ${i + 1}`)
      if (see.conflicts === undefined) assert.deepEqual(seen.conflicts, [], `conflicts of step ${i + 1}`)
    }
  })
}

/**
 * Tests strategic merge patches on a schema with every type of list: chains of patches with their results,
 * rejections, hostile patches, and properties of random objects.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { applyStrategicMergePatch, withoutDirectives } from '../../../src/api/merge/strategic-merge-patch.ts'
import { objectMeta } from '../../../src/api/schema/object-meta.ts'
import { field, s } from '../../../src/api/schema/schema.ts'
import { canonical, deepFreeze, pick, type Random, seeded, type Value } from './models.ts'

const keyed = (key: string) => ({ list: 'map', keys: [key], patch: 'merge', mergeKey: key }) as const
const namedSchema = s.object({ name: field(1, s.string()), namespace: field(2, s.string()) })

const container = s.object({
  name: field(1, s.string()),
  image: field(2, s.string()),
  args: field(4, s.list(s.string())),
  ports: field(
    6,
    s.list(
      s.object({ name: field(1, s.string()), containerPort: field(3, s.int32()), protocol: field(4, s.string()) }),
      {
        list: 'map',
        keys: ['containerPort', 'protocol'],
        patch: 'merge',
        mergeKey: 'containerPort',
      },
    ),
  ),
  env: field(7, s.list(s.object({ name: field(1, s.string()), value: field(2, s.string()) }), keyed('name'))),
  volumeMounts: field(
    9,
    s.list(
      s.object({ name: field(1, s.string()), readOnly: field(2, s.boolean()), mountPath: field(3, s.string()) }),
      keyed('mountPath'),
    ),
  ),
})

const volume = s.object({
  name: field(1, s.string()),
  emptyDir: field(2, s.object({})),
  configMap: field(3, namedSchema),
  secret: field(4, s.object({ secretName: field(1, s.string()) })),
})

const port = s.object({ protocol: field(1, s.string()), port: field(2, s.int32()), targetPort: field(3, s.int32()) })

const schema = s.object({
  metadata: field(1, objectMeta),
  data: field(2, s.map(s.string())),
  secrets: field(3, s.list(namedSchema, keyed('name'))),
  imagePullSecrets: field(4, s.list(namedSchema)),
  rules: field(5, s.list(s.object({ verbs: field(1, s.list(s.string())), resources: field(2, s.list(s.string())) }))),
  containers: field(6, s.list(container, keyed('name'))),
  volumes: field(7, s.list(volume, keyed('name'))),
  nodeSelector: field(8, s.map(s.string())),
  hostAliases: field(
    9,
    s.list(s.object({ ip: field(1, s.string()), hostnames: field(2, s.list(s.string())) }), keyed('ip')),
  ),
  conditions: field(
    10,
    s.list(
      s.object({ type: field(1, s.string()), status: field(2, s.string()), reason: field(3, s.string()) }),
      keyed('type'),
    ),
  ),
  strategy: field(11, s.object({ type: field(1, s.string()), rollingUpdate: field(2, s.map(s.intOrString())) })),
  anything: field(12, s.any()),
  ports: field(13, s.list(port, { list: 'map', keys: ['protocol', 'port'], patch: 'merge', mergeKey: 'port' })),
  zones: field(14, s.list(namedSchema, { list: 'map', keys: ['name'], patch: 'merge' })),
})

function patched(document: Json, patch: JsonObject): Json {
  return applyStrategicMergePatch(schema, deepFreeze(document), deepFreeze(patch))
}

/**
 * A chain: an object and then patches. Each patch lists the members that the object must have afterwards, where
 * undefined means that the member is absent.
 */
interface Chain {
  readonly title: string
  readonly start: JsonObject
  readonly steps: readonly (readonly [string, JsonObject, JsonObject])[]
}

const names = (...list: string[]) => list.map((name) => ({ name }))
const images = (...list: string[]) => list.map((name) => ({ name, image: `${name}:1` }))

const chains: Chain[] = [
  {
    title: 'maps',
    start: { data: { a: '1', b: '2', c: '3' }, metadata: { labels: { l: '1' }, annotations: { n: '1', m: '2' } } },
    steps: [
      [
        'members are merged, and null deletes',
        { data: { a: 'one', b: null, d: '4' } },
        { data: { a: 'one', c: '3', d: '4' } },
      ],
      ['deleting an absent key changes nothing', { data: { zz: null } }, { data: { a: 'one', c: '3', d: '4' } }],
      ['an empty map changes nothing', { data: {} }, { data: { a: 'one', c: '3', d: '4' } }],
      ['the map is replaced', { data: { $patch: 'replace', only: 'this' } }, { data: { only: 'this' } }],
      [
        'delete empties the map',
        { metadata: { labels: { $patch: 'delete' } } },
        { metadata: { labels: {}, annotations: { n: '1', m: '2' } } },
      ],
      [
        'an empty replacement empties the map',
        { metadata: { annotations: { $patch: 'replace' } } },
        { metadata: { labels: {}, annotations: {} } },
      ],
      ['null removes everything', { data: null }, { data: undefined }],
      ['a new map is stored with its nulls', { data: { a: '1', b: null } }, { data: { a: '1', b: null } }],
      [
        'in a new map a directive is an ordinary key',
        { nodeSelector: { $patch: 'delete', a: '1' } },
        { nodeSelector: { $patch: 'delete', a: '1' } },
      ],
    ],
  },
  {
    title: 'a set of scalars',
    start: { metadata: { finalizers: ['a', 'b'] } },
    steps: [
      [
        'existing values keep their position',
        { metadata: { finalizers: ['b', 'c'] } },
        { metadata: { finalizers: ['a', 'b', 'c'] } },
      ],
      [
        'values are removed, whether or not they exist',
        { metadata: { '$deleteFromPrimitiveList/finalizers': ['a', 'zzz'] } },
        { metadata: { finalizers: ['b', 'c'] } },
      ],
      [
        'one value is removed and one added',
        { metadata: { '$deleteFromPrimitiveList/finalizers': ['b'], finalizers: ['d'] } },
        { metadata: { finalizers: ['d', 'c'] } },
      ],
      [
        'an order with a new element',
        { metadata: { '$setElementOrder/finalizers': ['d', 'e', 'c'], finalizers: ['e'] } },
        { metadata: { finalizers: ['d', 'e', 'c'] } },
      ],
      [
        'duplicates are dropped',
        { metadata: { finalizers: ['c', 'c', 'd'] } },
        { metadata: { finalizers: ['e', 'c', 'd'] } },
      ],
      [
        'an empty list changes nothing',
        { metadata: { finalizers: [] } },
        { metadata: { finalizers: ['e', 'c', 'd'] } },
      ],
      [
        'the first mention counts',
        { metadata: { finalizers: ['d', 'c', 'd'] } },
        { metadata: { finalizers: ['e', 'd', 'c'] } },
      ],
      ['null removes everything', { metadata: { finalizers: null } }, { metadata: {} }],
      [
        'deleting from an absent list',
        { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } },
        { metadata: {} },
      ],
      ['ordering an absent list', { metadata: { '$setElementOrder/finalizers': ['a'] } }, { metadata: {} }],
    ],
  },
  {
    title: 'a list keyed by name next to a list that is replaced',
    start: { secrets: names('a', 'b'), imagePullSecrets: names('p') },
    steps: [
      ['a new element comes first', { secrets: names('c') }, { secrets: names('c', 'a', 'b') }],
      [
        'an existing element keeps its position',
        { secrets: [{ name: 'b', namespace: 'x' }] },
        { secrets: [...names('c', 'a'), { name: 'b', namespace: 'x' }] },
      ],
      [
        'null removes a member of an element',
        { secrets: [{ name: 'b', namespace: null }] },
        { secrets: names('c', 'a', 'b') },
      ],
      ['an element is deleted', { secrets: [{ $patch: 'delete', name: 'a' }] }, { secrets: names('c', 'b') }],
      [
        'deleting a missing element changes nothing',
        { secrets: [{ $patch: 'delete', name: 'zzz' }] },
        { secrets: names('c', 'b') },
      ],
      ['the other list is replaced', { imagePullSecrets: names('q') }, { imagePullSecrets: names('q') }],
      ['all are replaced', { secrets: [{ $patch: 'replace' }, ...names('r', 's')] }, { secrets: names('r', 's') }],
      [
        'an order with a new element',
        { '$setElementOrder/secrets': names('t', 's', 'r'), secrets: names('t') },
        { secrets: names('t', 's', 'r') },
      ],
      [
        'an element named twice is merged twice',
        {
          secrets: [
            { name: 'u', namespace: '1' },
            { name: 'u', namespace: '2' },
          ],
        },
        { secrets: [{ name: 'u', namespace: '2' }, ...names('t', 's', 'r')] },
      ],
      [
        'an element deleted and created again loses its position',
        { secrets: [{ $patch: 'delete', name: 'r' }, ...names('r')] },
        { secrets: [{ name: 'r' }, { name: 'u', namespace: '2' }, ...names('t', 's')] },
      ],
      [
        'an order restores the position',
        { '$setElementOrder/secrets': names('u', 't', 's', 'r') },
        { secrets: [{ name: 'u', namespace: '2' }, ...names('t', 's', 'r')] },
      ],
      [
        'an element is deleted and created again',
        { secrets: [{ $patch: 'delete', name: 'u' }, ...names('u')] },
        { secrets: names('u', 't', 's', 'r') },
      ],
      ['an empty list changes nothing', { secrets: [] }, { secrets: names('u', 't', 's', 'r') }],
      ['all are replaced by an empty list', { secrets: [{ $patch: 'replace' }] }, { secrets: [] }],
      ['null removes the list', { secrets: null }, { secrets: undefined }],
      [
        'a new list is stored with its directives',
        { secrets: [{ $patch: 'delete', name: 'x' }, { name: 'y', namespace: null }, { $patch: 'replace' }] },
        { secrets: [{ $patch: 'delete', name: 'x' }, { name: 'y', namespace: null }, { $patch: 'replace' }] },
      ],
    ],
  },
  {
    title: 'owner references are merged by uid',
    start: { metadata: { ownerReferences: [{ kind: 'Secret', name: 'o1', uid: 'u-1' }] } },
    steps: [
      [
        'add',
        { metadata: { ownerReferences: [{ kind: 'Secret', name: 'o2', uid: 'u-2' }] } },
        {
          metadata: {
            ownerReferences: [
              { kind: 'Secret', name: 'o2', uid: 'u-2' },
              { kind: 'Secret', name: 'o1', uid: 'u-1' },
            ],
          },
        },
      ],
      [
        'change',
        { metadata: { ownerReferences: [{ uid: 'u-1', controller: true }] } },
        {
          metadata: {
            ownerReferences: [
              { kind: 'Secret', name: 'o2', uid: 'u-2' },
              { kind: 'Secret', name: 'o1', uid: 'u-1', controller: true },
            ],
          },
        },
      ],
    ],
  },
  {
    title: 'lists within elements of lists',
    start: {
      containers: [
        {
          name: 'a',
          image: 'a:1',
          env: [
            { name: 'E1', value: '1' },
            { name: 'E2', value: '2' },
          ],
          ports: [
            { containerPort: 80, protocol: 'TCP' },
            { containerPort: 443, name: 'tls' },
          ],
          volumeMounts: [{ name: 'v1', mountPath: '/m1' }],
          args: ['x', 'y'],
        },
        { name: 'b', image: 'b:1' },
      ],
    },
    steps: [
      [
        'each list is merged by its own key',
        {
          containers: [
            {
              name: 'a',
              env: [
                { name: 'E2', value: 'two' },
                { name: 'E3', value: '3' },
              ],
              ports: [{ containerPort: 80, name: 'http' }, { containerPort: 8080 }],
              volumeMounts: [
                { mountPath: '/m1', readOnly: true },
                { mountPath: '/m2', name: 'v2' },
              ],
              args: ['z'],
            },
          ],
        },
        {
          containers: [
            {
              name: 'a',
              image: 'a:1',
              env: [
                { name: 'E1', value: '1' },
                { name: 'E2', value: 'two' },
                { name: 'E3', value: '3' },
              ],
              ports: [
                { containerPort: 80, protocol: 'TCP', name: 'http' },
                { containerPort: 8080 },
                { containerPort: 443, name: 'tls' },
              ],
              volumeMounts: [
                { name: 'v1', mountPath: '/m1', readOnly: true },
                { name: 'v2', mountPath: '/m2' },
              ],
              args: ['z'],
            },
            { name: 'b', image: 'b:1' },
          ],
        },
      ],
      [
        'nested elements are deleted',
        {
          containers: [
            {
              name: 'a',
              env: [{ $patch: 'delete', name: 'E1' }],
              ports: [{ $patch: 'delete', containerPort: 443 }],
              volumeMounts: null,
              args: null,
            },
            { $patch: 'delete', name: 'b' },
          ],
        },
        {
          containers: [
            {
              name: 'a',
              image: 'a:1',
              env: [
                { name: 'E2', value: 'two' },
                { name: 'E3', value: '3' },
              ],
              ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }, { containerPort: 8080 }],
            },
          ],
        },
      ],
    ],
  },
  {
    title: 'an empty list counts as absent',
    start: { containers: [] },
    steps: [
      [
        'the list is stored as sent',
        { containers: [{ name: 'a' }, { name: 'a' }, { image: 'i' }] },
        { containers: [{ name: 'a' }, { name: 'a' }, { image: 'i' }] },
      ],
    ],
  },
  {
    title: 'several elements with the same merge key',
    start: { containers: [{ name: 'a' }] },
    steps: [
      [
        'a new list is stored as sent',
        {
          containers: [
            {
              name: 'a',
              ports: [
                { containerPort: 53, protocol: 'UDP' },
                { containerPort: 53, protocol: 'TCP' },
              ],
            },
          ],
        },
        {
          containers: [
            {
              name: 'a',
              ports: [
                { containerPort: 53, protocol: 'UDP' },
                { containerPort: 53, protocol: 'TCP' },
              ],
            },
          ],
        },
      ],
      [
        'the first element is merged',
        { containers: [{ name: 'a', ports: [{ containerPort: 53, name: 'dns' }] }] },
        {
          containers: [
            {
              name: 'a',
              ports: [
                { containerPort: 53, protocol: 'UDP', name: 'dns' },
                { containerPort: 53, protocol: 'TCP' },
              ],
            },
          ],
        },
      ],
      [
        'a number differs from its text',
        { containers: [{ name: 'a', ports: [{ $patch: 'delete', containerPort: '53' }] }] },
        {
          containers: [
            {
              name: 'a',
              ports: [
                { containerPort: 53, protocol: 'UDP', name: 'dns' },
                { containerPort: 53, protocol: 'TCP' },
              ],
            },
          ],
        },
      ],
      [
        'all elements are deleted',
        { containers: [{ name: 'a', ports: [{ $patch: 'delete', containerPort: 53 }] }] },
        { containers: [{ name: 'a', ports: [] }] },
      ],
    ],
  },
  {
    title: 'order',
    start: { containers: images('a', 'b', 'c') },
    steps: [
      [
        'an order without elements',
        { '$setElementOrder/containers': names('c', 'a', 'b') },
        { containers: images('c', 'a', 'b') },
      ],
      [
        'an order with a new element in the middle',
        { '$setElementOrder/containers': names('c', 'n', 'a', 'b'), containers: images('n') },
        { containers: images('c', 'n', 'a', 'b') },
      ],
      [
        'an order of some elements',
        { '$setElementOrder/containers': names('b', 'c') },
        { containers: images('n', 'a', 'b', 'c') },
      ],
      [
        'an order with a deletion',
        { '$setElementOrder/containers': names('b', 'c', 'a'), containers: [{ $patch: 'delete', name: 'n' }] },
        { containers: images('b', 'c', 'a') },
      ],
      [
        'an empty order changes nothing',
        { '$setElementOrder/containers': [], containers: images('a') },
        { containers: images('b', 'c', 'a') },
      ],
      [
        'an order of a new list',
        { '$setElementOrder/secrets': names('x', 'y'), secrets: names('x', 'y') },
        { secrets: names('x', 'y') },
      ],
      ['an order of missing names', { '$setElementOrder/secrets': names('q', 'y', 'x') }, { secrets: names('y', 'x') }],
    ],
  },
  {
    title: 'retained keys',
    start: {
      volumes: [
        { name: 'v1', emptyDir: {} },
        { name: 'v2', configMap: { name: 'cm' } },
      ],
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    },
    steps: [
      [
        'retained keys clear the other members of an element',
        { volumes: [{ name: 'v1', $retainKeys: ['name', 'configMap'], configMap: { name: 'o' } }] },
        {
          volumes: [
            { name: 'v1', configMap: { name: 'o' } },
            { name: 'v2', configMap: { name: 'cm' } },
          ],
        },
      ],
      [
        'null removes members individually',
        { volumes: [{ name: 'v2', configMap: null, secret: { secretName: 's' } }] },
        {
          volumes: [
            { name: 'v1', configMap: { name: 'o' } },
            { name: 'v2', secret: { secretName: 's' } },
          ],
        },
      ],
      [
        'retained keys of an object',
        { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
        { strategy: { type: 'Recreate' } },
      ],
      [
        'a null outside the retained keys is accepted',
        { strategy: { $retainKeys: ['type'], rollingUpdate: null } },
        { strategy: { type: 'Recreate' } },
      ],
      [
        'retained keys of a new element',
        {
          volumes: [
            { $retainKeys: ['name'], name: 'v0' },
            { $patch: 'delete', name: 'v1' },
          ],
        },
        {
          volumes: [
            { $retainKeys: ['name'], name: 'v0' },
            { name: 'v2', secret: { secretName: 's' } },
          ],
        },
      ],
    ],
  },
  {
    title: 'conditions, aliases, rules and fields that the schema does not describe',
    start: {
      conditions: [
        { type: 'Other', status: 'False' },
        { type: 'Extra', status: 'True', reason: 'R' },
      ],
      hostAliases: [{ ip: '10.1.1.1', hostnames: ['one'] }],
      rules: [{ verbs: ['get'], resources: ['a'] }],
      anything: { a: { b: 1, c: [1, 2] } },
    },
    steps: [
      [
        'conditions are merged by type',
        { conditions: [{ type: 'Extra', status: 'False' }] },
        {
          conditions: [
            { type: 'Other', status: 'False' },
            { type: 'Extra', status: 'False', reason: 'R' },
          ],
        },
      ],
      [
        'a new and an existing condition are merged',
        {
          conditions: [
            { type: 'New', status: 'True' },
            { type: 'Other', status: 'True' },
          ],
        },
        {
          conditions: [
            { type: 'New', status: 'True' },
            { type: 'Other', status: 'True' },
            { type: 'Extra', status: 'False', reason: 'R' },
          ],
        },
      ],
      [
        'aliases are merged by ip, and their names are replaced',
        {
          hostAliases: [
            { ip: '10.1.1.1', hostnames: ['uno'] },
            { ip: '10.1.1.2', hostnames: ['dos'] },
          ],
        },
        {
          hostAliases: [
            { ip: '10.1.1.1', hostnames: ['uno'] },
            { ip: '10.1.1.2', hostnames: ['dos'] },
          ],
        },
      ],
      ['a list without a strategy is replaced', { rules: [{ verbs: ['list'] }] }, { rules: [{ verbs: ['list'] }] }],
      ['free-form JSON is merged like objects', { anything: { a: { c: [3] } } }, { anything: { a: { b: 1, c: [3] } } }],
      [
        'new free-form JSON keeps its nulls',
        { anything: { new: { n: null } } },
        { anything: { a: { b: 1, c: [3] }, new: { n: null } } },
      ],
      ['unknown members are kept for the decoder', { nosuch: { a: 1 } }, { nosuch: { a: 1 } }],
      [
        'a value of a wrong type is kept too',
        { rules: 'x', conditions: { type: 'x' } },
        { rules: 'x', conditions: { type: 'x' } },
      ],
    ],
  },
  {
    title: 'the merge key is not always the first key',
    start: {
      ports: [
        { protocol: 'TCP', port: 80 },
        { protocol: 'UDP', port: 53 },
      ],
      zones: names('a'),
    },
    steps: [
      [
        'ports are merged by their number',
        { ports: [{ port: 53, targetPort: 5353 }] },
        {
          ports: [
            { protocol: 'TCP', port: 80 },
            { protocol: 'UDP', port: 53, targetPort: 5353 },
          ],
        },
      ],
      [
        'without a declared merge key the first key is used',
        { zones: [{ name: 'a', namespace: 'x' }] },
        { zones: [{ name: 'a', namespace: 'x' }] },
      ],
    ],
  },
]

for (const { title, start, steps } of chains) {
  test(title, async (t) => {
    let object: Json = start
    for (const [name, patch, expected] of steps) {
      object = patched(object, patch)
      const after = object as JsonObject
      await t.test(name, () => {
        for (const [member, value] of Object.entries(expected)) assert.deepEqual(after[member], value)
      })
    }
  })
}

describe('malformed patches are rejected with 400', () => {
  const document = {
    secrets: names('a', 'b'),
    metadata: { finalizers: ['a'] },
    data: { a: '1' },
    strategy: { type: 'x' },
  }
  const refusals: [string, JsonObject][] = [
    ['an unknown $patch', { data: { $patch: 'frobnicate' } }],
    ['$patch: merge of a map', { data: { $patch: 'merge', b: '2' } }],
    ['$patch: merge of an element', { secrets: [{ $patch: 'merge', name: 'a' }] }],
    ['a $patch that is not a string', { data: { $patch: 5 } }],
    ['an unknown $patch of an element', { secrets: [{ $patch: 'x', name: 'a' }] }],
    ['an unknown $patch in a new value', { strategy: { $patch: 'x' } }],
    ['an element without its key', { secrets: [{ namespace: 'x' }] }],
    ['an element with a null key', { secrets: [{ name: null }] }],
    ['an element with an object as its key', { secrets: [{ name: {} }] }],
    ['a deletion without a key', { secrets: [{ $patch: 'delete' }] }],
    ['an element that is not an object', { secrets: ['a'] }],
    ['an object in a list of scalars', { metadata: { finalizers: [{ a: 1 }] } }],
    ['a list in a list of scalars', { metadata: { finalizers: [['a']] } }],
    ['a null in a list of scalars', { metadata: { finalizers: [null] } }],
    ['$retainKeys that is not a list', { strategy: { $retainKeys: 'type' } }],
    ['$retainKeys with elements that are not strings', { strategy: { $retainKeys: [{}] } }],
    ['a member outside $retainKeys', { strategy: { $retainKeys: ['rollingUpdate'], type: 'y' } }],
    ['an order that is not a list', { '$setElementOrder/secrets': 'a' }],
    ['an order of elements without keys', { '$setElementOrder/secrets': [{}] }],
    ['an order without a list name', { $setElementOrder: [] }],
    [
      'a patch that contradicts its own order',
      { '$setElementOrder/secrets': names('a', 'b'), secrets: names('b', 'a') },
    ],
    ['a patch outside its own order', { '$setElementOrder/secrets': names('a', 'b'), secrets: names('c') }],
    ['a deletion list that is not a list', { metadata: { '$deleteFromPrimitiveList/finalizers': 'a' } }],
    ['a deletion list of objects', { metadata: { '$deleteFromPrimitiveList/finalizers': [{}] } }],
    ['a deletion list without a list name', { metadata: { $deleteFromPrimitiveList: ['a'] } }],
  ]
  for (const [name, patch] of refusals)
    test(name, () => assert.throws(() => patched(document, patch), { code: 400, reason: 'BadRequest' }))
})

describe('hostile strategic merge patches', () => {
  test('a strategic merge patch treats a member named __proto__ as an ordinary member', () => {
    const patch = JSON.parse(
      '{"data":{"__proto__":"x"},"__proto__":{"polluted":1},"anything":{"__proto__":{"polluted":1}}}',
    )
    const once = patched({ data: { a: '1' } }, patch)
    const twice = patched(once, patch)
    assert.equal(canonical(twice as Value), canonical({ ...patch, data: JSON.parse('{"a":"1","__proto__":"x"}') }))
    assert.equal(Object.getPrototypeOf(twice), Object.prototype)
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })

  test('a strategic merge patch ignores inherited properties as merge keys and directives', () => {
    assert.throws(() => patched({ secrets: names('a') }, { secrets: [JSON.parse('{"__proto__":{"name":"a"}}')] }), {
      code: 400,
    })
    const data = JSON.parse('{"__proto__":{"$patch":"delete"}}')
    assert.deepEqual(patched({ data: {} }, { data }), { data })
  })

  test('the result of a strategic merge without a decoder contains neither nulls nor directives', () => {
    const patch = {
      data: { a: '1', b: null, c: { $patch: 'delete' } },
      secrets: [
        { $patch: 'delete', name: 'x' },
        { name: 'y', namespace: null, $retainKeys: ['name'] },
      ],
      '$setElementOrder/secrets': names('y'),
      anything: { $patch: 'replace', a: null },
    }
    const left = { data: { a: '1' }, secrets: names('y'), anything: { $patch: 'replace', a: null } }
    assert.deepEqual(withoutDirectives(schema, { ...patch }), left)
  })

  test('a strategic merge of long lists takes less than quadratic time', () => {
    const many = (from: number) => Array.from({ length: 50_000 }, (_, i) => ({ name: `n${from + i}` }))
    const { secrets } = patched({ secrets: many(0) }, { secrets: many(25_000) }) as { secrets: Json[] }
    assert.equal(secrets.length, 75_000)
  })

  test('a directive in a strategic merge patch can replace or empty the whole object', () => {
    assert.deepEqual(patched({ data: { a: '1' } }, { $patch: 'replace', data: { b: '2' } }), { data: { b: '2' } })
    assert.deepEqual(patched({ data: { a: '1' } }, { $patch: 'delete' }), {})
  })

  test('a strategic merge patch with 500 levels of nesting is merged', () => {
    const nested = (depth: number): Json => (depth === 0 ? 1 : { a: nested(depth - 1) })
    assert.deepEqual(patched({ anything: nested(500) }, { anything: nested(500) }), { anything: nested(500) })
  })
})

describe('strategic merge patches of random objects', () => {
  const distinct = (random: Random) => ['a', 'b', 'c', 'd', 'e'].filter(() => random() < 0.6).sort(() => random() - 0.5)
  const randomObject = (random: Random): JsonObject => ({
    data: Object.fromEntries(distinct(random).map((key) => [key, pick(random, ['1', '2'])])),
    metadata: { finalizers: distinct(random) },
    containers: distinct(random).map((name) => ({
      name,
      env: distinct(random).map((env) => ({ name: env, value: 'x' })),
    })),
  })
  const rounds = 500

  test('a strategic merge patch that is empty or equals the object changes nothing', () => {
    const random = seeded(1)
    for (let round = 0; round < rounds; round++) {
      const object = randomObject(random)
      assert.deepEqual(patched(object, object), object)
      assert.deepEqual(patched(object, {}), object)
    }
  })

  test('a strategic merge patch without directives removes nothing and is idempotent', () => {
    const random = seeded(2)
    const namesOf = (object: JsonObject) => (object.containers as { name: string }[]).map(({ name }) => name)
    for (let round = 0; round < rounds; round++) {
      const object = randomObject(random)
      const patch = randomObject(random)
      const once = patched(object, patch) as JsonObject
      assert.deepEqual(namesOf(once).sort(), [...new Set([...namesOf(object), ...namesOf(patch)])].sort())
      assert.deepEqual(patched(once, patch), once)
    }
  })

  test('a strategic merge puts merged elements in the order of the patch and keeps the order of all other elements', () => {
    const random = seeded(3)
    for (let round = 0; round < rounds; round++) {
      const before = distinct(random)
      const patch = distinct(random)
      const after = (
        patched({ secrets: names(...before) }, { secrets: names(...patch) }) as { secrets: { name: string }[] }
      ).secrets
      const order = after.map(({ name }) => name)
      const others = before.filter((name) => !patch.includes(name))
      assert.deepEqual(
        order.filter((name) => patch.includes(name)),
        patch,
      )
      assert.deepEqual(
        order.filter((name) => !patch.includes(name)),
        others,
      )
    }
  })
})

/** Tests JSONPath templates, the three-way merge, and locating fields in files, without a server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { fillTemplate, parseTemplate } from '../../../src/api/jsonpath/templates.ts'
import { pod } from '../../../src/api/kinds/core/pod.ts'
import { locate } from '../../../src/tools/cli/manifests/locate.ts'
import { threeWayPatch } from '../../../src/tools/cli/patches/three-way.ts'
import { alignTabs } from '../../../src/tools/cli/printers/tabs.ts'

const value: Json = {
  kind: 'List',
  items: [
    { name: 'a', n: 1, tags: ['x', 'y'], at: { 'b.c/d': 'deep' } },
    { name: 'b', n: 10, tags: [], ready: true },
    { name: "c'", n: 2 },
  ],
}

const templates: readonly (readonly [template: string, text: string])[] = [
  ['plain text', 'plain text'],
  ['{.kind}', 'List'],
  ['{$.kind} {@.kind}', 'List List'],
  ['{.items[*].name}', "a b c'"],
  ['{.items[0].name}{.items[-1].name}', "ac'"],
  ['{.items[0:2].name}', 'a b'],
  ['{.items[1:].name}', "b c'"],
  ['{.items[::2].name}', "a c'"],
  ['{.items[0,2].name}', "a c'"],
  ["{.items[0]['name','n']}", 'a 1'],
  ['{.items[0].at.b\\.c/d}', 'deep'],
  ["{.items[0].at['b.c/d']}", 'deep'],
  ['{range .items[*]}{.name}={.n}{"\\n"}{end}', "a=1\nb=10\nc'=2\n"],
  ['{range .items[*]}[{range .tags[*]}{@}{end}]{end}', '[xy][][]'],
  ['{.items[?(@.n>1)].name}', "b c'"],
  ['{.items[?(@.n<=2)].name}', "a c'"],
  ['{.items[?(@.name=="b")].n}', '10'],
  ["{.items[?(@.name!='b')].n}", '1 2'],
  ['{.items[?(@.ready)].name}', 'b'],
  ['{.items[?(@.ready==true)].name}', 'b'],
  ['{.items[?(@.tags[0]=="x")].name}', 'a'],
  ['{..name}', "a b c'"],
  ['{.items[0].tags}', '["x","y"]'],
  ['{.items[0].at}', '{"b.c/d":"deep"}'],
  ['{.nothing}{.kind.deeper}', ''],
  ['{.items[0].name "-" .items[1].name}', 'a-b'],
  ['{"a}b"}{\'c{d\'}', 'a}bc{d'],
  ['{.__proto__}{.constructor}', ''],
]

for (const [template, text] of templates) {
  test(`the JSONPath template prints the expected text: ${template}`, () =>
    assert.equal(fillTemplate(parseTemplate(template), value), text))
}

for (const template of ['{.a', '{range .a}', '{end}', '{.a[}', '{.a[?(]}', '{.a[1 2]}']) {
  test(`the JSONPath template is rejected: ${template}`, () =>
    assert.throws(() => parseTemplate(template), /^UsageError: jsonpath: /))

  test('JSONPath: a list index that does not exist is an error, but an empty slice is not', () => {
    const fill = (template: string, items: number[]) => fillTemplate(parseTemplate(template), { items })
    for (const template of ['{.items[0]}', '{.items[-1]}', '{.items[0:2]}', '{.items[1:]}', '{range .items[0]}x{end}'])
      assert.throws(() => fill(template, []), /^UsageError: array index out of bounds: index -?\d, length 0$/)
    assert.equal(fill('{.items[0:0]}{.items[*]}{.items[:]}', []), '')
    assert.equal(fill('{.items[-1]} {.items[1:]} {.items[:1]}', [1, 2]), '2 2 1')
    assert.throws(() => fill('{.items[2]}', [1, 2]), /index 2, length 2$/)
  })
}

interface Merge {
  readonly what: string
  readonly original?: JsonObject
  readonly modified: JsonObject
  readonly current: JsonObject
  readonly patch: JsonObject
}

const container = (...containers: Json[]): JsonObject => ({ spec: { containers } })

const merges: readonly Merge[] = [
  {
    what: 'sets, removes and keeps fields',
    original: { data: { a: '1', b: '2' } },
    modified: { data: { a: '3' } },
    current: { data: { a: '1', b: '2', c: '4' } },
    patch: { data: { a: '3', b: null } },
  },
  { what: 'there is nothing to change', original: { a: 1 }, modified: { a: 1 }, current: { a: 1, b: 2 }, patch: {} },
  {
    what: 'a field that is already absent is not removed again',
    original: { a: 1 },
    modified: {},
    current: {},
    patch: {},
  },
  {
    what: 'changes by other managers are reverted',
    original: { a: 1 },
    modified: { a: 1 },
    current: { a: 2 },
    patch: { a: 1 },
  },
  {
    what: 'containers merge by name',
    original: container({ name: 'a', image: 'x' }, { name: 'b', image: 'y' }),
    modified: container({ name: 'a', image: 'z' }),
    current: container(
      { name: 'a', image: 'x', imagePullPolicy: 'Always' },
      { name: 'b', image: 'y' },
      { name: 'side', image: 's' },
    ),
    patch: {
      spec: {
        containers: [
          { name: 'a', image: 'z' },
          { $patch: 'delete', name: 'b' },
        ],
        '$setElementOrder/containers': [{ name: 'a' }],
      },
    },
  },
  {
    what: 'a changed element order is sent',
    original: container({ name: 'a' }, { name: 'b' }),
    modified: container({ name: 'b' }, { name: 'a' }),
    current: container({ name: 'a' }, { name: 'b' }),
    patch: { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } },
  },
  {
    what: 'an atomic list is replaced',
    original: container({ name: 'a', args: ['1', '2'] }),
    modified: container({ name: 'a', args: ['2'] }),
    current: container({ name: 'a', args: ['1', '2'] }),
    patch: { spec: { containers: [{ name: 'a', args: ['2'] }], '$setElementOrder/containers': [{ name: 'a' }] } },
  },
  {
    what: 'finalizers merge by value',
    original: { metadata: { finalizers: ['a', 'b'] } },
    modified: { metadata: { finalizers: ['a', 'c'] } },
    current: { metadata: { finalizers: ['a', 'b', 'theirs'] } },
    patch: { metadata: { finalizers: ['c'], '$deleteFromPrimitiveList/finalizers': ['b'] } },
  },
  {
    what: 'a volume of another type drops the old source',
    original: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
    modified: { spec: { volumes: [{ name: 'v', configMap: { name: 'c' } }] } },
    current: { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
    patch: {
      spec: {
        volumes: [{ name: 'v', configMap: { name: 'c' }, emptyDir: null, $retainKeys: ['configMap', 'name'] }],
        '$setElementOrder/volumes': [{ name: 'v' }],
      },
    },
  },
]

for (const { what, original, modified, current, patch } of merges) {
  test(`three-way merge: ${what}`, () =>
    assert.deepEqual(threeWayPatch({ original, modified, current }, pod.schema), patch))
}

test('three-way merge: __proto__ is an ordinary key', () => {
  const patch = threeWayPatch({ original: undefined, modified: JSON.parse('{"__proto__":{"a":1}}'), current: {} })
  assert.equal(JSON.stringify(patch), '{"__proto__":{"a":1}}')
})

const text = `# a comment
kind: A
---
spec:
  ports:
  - name: x
    port: 1
  - {name: y, port: 2}
data:
  "a.b": c
`

const places: readonly (readonly [document: number, field: string, line: number, column: number])[] = [
  [0, 'kind', 2, 1],
  [0, 'nothing.here', 2, 1],
  [1, 'spec.ports', 5, 3],
  [1, 'spec.ports[0].port', 7, 5],
  [1, 'spec.ports[1].port', 8, 15],
  [1, 'spec.ports[1].missing', 8, 5],
  [1, 'spec.ports[7]', 5, 3],
  [1, 'data[a.b]', 10, 4],
]

for (const [document, field, line, column] of places) {
  test(`the error for ${field} in document ${document + 1} contains the line and the column`, () => {
    assert.deepEqual(locate({ name: 'f', text, document, documents: 2, path: [] }, field), { line, column })
  })
}

test('tab-separated columns are aligned only with adjacent lines', () => {
  assert.equal(alignTabs('a:\tb\nlonger:\tc\n\nx:\ty\n'), 'a:       b\nlonger:  c\n\nx:  y\n')
  assert.equal(alignTabs('a\tb\tc\nlong\td\nno cells\ne\tf\tg\n'), 'a     b  c\nlong  d\nno cells\ne  f  g\n')
})

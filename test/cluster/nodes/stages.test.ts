/** Tests the Stage format: expressions, delays, templates and unsupported fields. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { removeTemporary, temporaryDirectory } from '../../../src/base/files/temporary-directory.ts'
import { compileQuery } from '../../../src/cluster/nodes/stages/query.ts'
import { readStage } from '../../../src/cluster/nodes/stages/read-stage.ts'
import { readStageFiles } from '../../../src/cluster/nodes/stages/read-stage-files.ts'
import { chooseStage, delayOf } from '../../../src/cluster/nodes/stages/stage.ts'
import { toPatch } from '../../../src/cluster/nodes/stages/stage-patch.ts'
import { compileTemplate } from '../../../src/cluster/nodes/stages/template.ts'
import { assertCheap } from '../../support/effort.ts'

const directory = temporaryDirectory('orch-test-stages-')
after(() => removeTemporary(directory))

const pod: JsonObject = {
  metadata: {
    name: 'a',
    annotations: { 'example.com/wait': '90s', __proto__x: 'y' },
    ownerReferences: [{ kind: 'Job' }],
  },
  spec: {
    nodeName: 'n',
    containers: [
      { name: 'c', image: 'i' },
      { name: 'd', image: 'j', ready: false },
    ],
  },
  status: {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  },
}

test('jq expressions in a Stage return their values, and nothing for missing fields', () => {
  for (const [text, expected] of [
    ['.status.phase', ['Running']],
    ['.metadata.annotations["example.com/wait"]', ['90s']],
    ['.metadata.ownerReferences.[].kind', ['Job']],
    ['.spec.containers[].name', ['c', 'd']],
    ['.spec.containers[1].name', ['d']],
    ['.status.conditions.[] | select( .type == "Ready" ) | .status', ['True']],
    ['.status.conditions[] | select(.type != "Ready") | .status', ['False']],
    ['.status.nothing[].x, .status.phase', ['Running']],
    ['.metadata.__proto__', []],
    ['.metadata.constructor.name', []],
  ] as const)
    assert.deepEqual(compileQuery(text)(pod), expected, text)
})

test('unsupported jq expressions in a Stage are rejected', () => {
  for (const text of [
    '.a | length',
    'map(.x)',
    '.a + 1',
    '',
    '.a |',
    '.a[',
    'select(.a',
    '.a b',
    `.${'x'.repeat(2000)}`,
  ])
    assert.throws(() => compileQuery(text), { name: 'StageError', message: /is not supported/ }, text)
})

const stage = (spec: JsonObject, name = 's'): JsonObject => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name },
  spec: { resourceRef: { kind: 'Pod' }, selector: {}, next: {}, ...spec },
})
const expression = (key: string, operator: string, values: string[] = []) => ({
  selector: { matchExpressions: [{ key, operator, values }] },
})

test('selectors in a Stage match pods', () => {
  const matches = (spec: JsonObject) => readStage(stage(spec)).matches(pod)
  assert.ok(matches({}))
  assert.ok(!matches({ selector: null }))
  assert.ok(matches(expression('.status.phase', 'In', ['Running'])))
  assert.ok(!matches(expression('.status.phase', 'NotIn', ['Running'])))
  assert.ok(matches(expression('.status.podIP', 'DoesNotExist')))
  assert.ok(!matches(expression('.metadata.name', 'DoesNotExist')))
  assert.ok(matches({ selector: { matchAnnotations: { 'example.com/wait': '90s' } } }))
  assert.ok(!matches({ selector: { matchLabels: { a: 'b' } } }))
})

test('unsupported fields of a Stage are reported by name', () => {
  for (const [spec, message] of [
    [{ resourceRef: { apiGroup: 'apps', kind: 'Deployment' } }, /apiGroup must be v1 or a group with its version/],
    [{ resourceRef: { kind: 'config/maps' } }, /kind is not a valid kind name/],
    [{ resourceRef: { kind: 'Service' }, next: { step: 'Start' } }, /supported only in stages for pods/],
    [{ resourceRef: { kind: 'Node' }, next: { delete: true } }, /stages for nodes support only/],
    [{ next: { patches: [{ template: '', subresource: '../x' }] } }, /"\.\.\/x" is not the name of a subresource/],
    [
      { next: { patches: [{ subresource: 'status', impersonation: {} }] } },
      /patches\[0\]\.impersonation\.username is not a string/,
    ],
    [{ next: { patches: [{ subresource: 'status', template: '', type: 'apply' }] } }, /type: "apply" is not one of/],
    [{ next: { statusTemplate: '-', statusPatchAs: { username: '' } } }, /username must have 1 to 256 characters/],
    [expression('.a', 'Near'), /operator "Near"/],
    [{ next: { step: 'Fly' } }, /"Fly" is not one of Start/],
    [{ delay: { durationMilliseconds: -1 } }, /not a non-negative number/],
    [{ next: { event: { type: 'Odd' } } }, /neither Normal nor Warning/],
  ] as const)
    assert.throws(
      () => readStage(stage(spec as JsonObject, 'odd')),
      (error: Error) => {
        assert.match(error.message, message)
        return error.message.startsWith('stage "odd": ')
      },
    )
})

test('the delay of a Stage is a constant, a field of the object, a point in time or derived from the failure count', () => {
  const now = Date.parse('2030-01-01T00:00:00Z')
  const of = (delay: JsonObject, object: Json = pod) => delayOf(readStage(stage({ delay })).delay, object, now)
  const from = (expressionFrom: string) => ({ expressionFrom })
  assert.equal(of({ durationMilliseconds: 50 }), 50)
  assert.equal(
    of({ durationMilliseconds: 50, durationFrom: from('.metadata.annotations["example.com/wait"]') }),
    90_000,
  )
  assert.equal(of({ durationMilliseconds: 50, durationFrom: from('.nothing') }), 50)
  assert.equal(of({ durationFrom: from('.t') }, { t: '2030-01-01T00:00:05Z' }), 5000)
  assert.equal(of({ durationFrom: from('.t') }, { t: '2029-01-01T00:00:05Z' }), 0)
  assert.equal(of({ durationMilliseconds: 50, jitterDurationMilliseconds: 20 }), 20)
  const jittered = of({ durationMilliseconds: 50, jitterDurationMilliseconds: 60 })
  assert.ok(jittered >= 50 && jittered <= 60)
  for (const [failures, expected] of [
    [0, 0],
    [1, 10_000],
    [3, 40_000],
    [99, 300_000],
  ] as const)
    assert.equal(of({ durationMilliseconds: 10_000, backoffFrom: from('.n') }, { n: failures }), expected)
})

test('if several Stages match, one of them is chosen by weight', () => {
  const stages = [readStage(stage({ weight: 1 }, 'rare')), readStage(stage({ weight: 1e9 }, 'often'))]
  for (let i = 0; i < 20; i++) assert.equal(chooseStage(stages, pod)?.name, 'often')
  assert.equal(chooseStage([readStage(stage({ selector: null }))], pod), undefined)
})

const functions = { Now: () => '2030-01-01T00:00:00Z' }
const run = (text: string) => compileTemplate(text, new Set(['Now']))(pod, functions)

test('the weight of a Stage can be read from the object', () => {
  const weightFrom = { expressionFrom: '.spec.priority' }
  const stages = [readStage(stage({ weight: 1 }, 'fixed')), readStage(stage({ weight: 1, weightFrom }, 'own'))]
  const withPriority = { ...pod, spec: { priority: 1e9 } }
  for (let i = 0; i < 20; i++) assert.equal(chooseStage(stages, withPriority)?.name, 'own')
})

test('the patches of a Stage fail if the object has changed, and must be objects or JSON patches', () => {
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { resourceVersion: '7' } }
  const patchOf = (type: 'json' | 'merge' | 'strategic', root: string, output: Json) =>
    toPatch({ type, root, template: () => output }, object, {})
  const metadata = { resourceVersion: '7' }
  assert.deepEqual(patchOf('strategic', 'status', { phase: 'a' }), { strategic: { status: { phase: 'a' }, metadata } })
  assert.deepEqual(patchOf('merge', '', { metadata: { labels: {}, resourceVersion: '1' } }), {
    merge: { metadata: { labels: {}, ...metadata } },
  })
  const operation = { op: 'remove', path: '/status/reason' }
  const guard = { op: 'test', path: '/metadata/resourceVersion', value: '7' }
  assert.deepEqual(patchOf('json', '', [operation]), { json: [guard, operation] })
  const moves = [{ op: 'move', from: '/a', path: '/b' }]
  const moved = { op: 'move', from: '/status/a', path: '/status/b' }
  assert.deepEqual(patchOf('json', 'status', moves as Json), { json: [guard, moved] })
  for (const [type, root, output] of [
    ['strategic', 'status', [1]],
    ['merge', '', 'x'],
    ['merge', 'metadata', []],
    ['json', '', {}],
    ['json', '', [1]],
  ] as const)
    assert.throws(() => patchOf(type, root, output as Json), { name: 'StageError' })
})

test('templates in a Stage produce the expected output', () => {
  for (const [text, expected] of [
    ['a{{ .metadata.name }}b', 'aab'],
    ['{{ $now := Now }}{{ $now | Quote }}', '"2030-01-01T00:00:00Z"'],
    ['{{ range .spec.containers }}{{ .name }},{{ end }}', 'c,d,'],
    ['{{ range $i, $c := .spec.containers }}{{ $i }}{{ $c.image }}{{ end }}', '0i1j'],
    ['{{ range .spec.none }}x{{ else }}none{{ end }}', 'none'],
    ['{{ if eq .status.phase "Failed" }}a{{ else if eq .status.phase "Running" }}b{{ else }}c{{ end }}', 'b'],
    ['{{ with .status.phase }}{{ . }}{{ else }}x{{ end }}', 'Running'],
    ['{{ $a := or .metadata.labels dict }}{{ or ( index $a "k" ) "d" }}', 'd'],
    ['{{ (index .spec.containers 1).name }}', 'd'],
    ['x {{- " y " -}} z', 'x y z'],
    ['{{/* a comment */}}x', 'x'],
    ['{{ $n := 1 }}{{ range .spec.containers }}{{ $n = add $n 1 }}{{ end }}{{ $n }}', '3'],
    ['{{ "}}" }}', '}}'],
    ['{{ .metadata.__proto__ }}', '<no value>'],
    ['{{ eq .metadata.missing "x" }}{{ not .metadata.missing }}', 'falsetrue'],
  ] as const)
    assert.equal(run(text), expected, text)
})

test('invalid templates in a Stage are rejected when they are parsed, and the output is limited', () => {
  for (const [text, message] of [
    ['{{ fly }}', /line 1, column 4: function "fly" not defined/],
    ['{{ template "x" }}', /template "x" not defined/],
    ['{{ if .a }}', /\{\{if\}\} without \{\{end\}\}/],
    ['{{ end }}', /unexpected \{\{end\}\}/],
    ['{{ .a', /unclosed action/],
    ['{{ $x }}', /undefined variable "\$x"/],
    ['{{ ~ }}', /unexpected "~"/],
    [`${'{{ if .metadata }}'.repeat(300)}`, /nested more than/],
    ['{{ range 5 }}{{ end }}', /can't iterate over 5/],
    [
      `{{ $a := list ${'1 '.repeat(500)} }}{{ range $a }}{{ range $a }}x{{ end }}{{ end }}`,
      /takes more than 100000 steps/,
    ],
    [
      `{{ $a := "ab" }}{{ range list ${'1 '.repeat(99)} }}{{ $a = print $a $a }}{{ end }}`,
      /more than 1048576 characters/,
    ],
  ] as const)
    assert.throws(() => run(text), { name: 'StageError', message }, text)
})

/** Each of these templates took more than two seconds when the step limit counted only template nodes and calls. */
test('a template in a Stage that processes large values many times is stopped early', async () => {
  const labels = Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`label-${i}`, 'v']))
  const subject = { metadata: { labels } }
  const long = `{{ $s := "0123456789abcdef" }}${'{{ $s = print $s $s }}'.repeat(15)}`
  const places = new Set<string>()
  for (const text of [
    '{{ range .metadata.labels }}{{ range $.metadata.labels }}{{ end }}{{ end }}',
    '{{ range .metadata.labels }}{{ $n := len $.metadata.labels }}{{ end }}',
    `{{ range .metadata.labels }}{{ if and ${'$.metadata.labels '.repeat(500)} }}{{ end }}{{ end }}`,
    `${long}{{ range .metadata.labels }}{{ $c := index $s 1 }}{{ end }}`,
    `{{ $x := list "a" }}${'{{ $x = list $x $x }}'.repeat(23)}{{ len (toJson $x) }}`,
  ]) {
    const template = compileTemplate(text, places)
    const message = /takes more than 100000 steps|produces a value of more than/
    await assertCheap(1_000, () => assert.throws(() => template(subject, {}), { name: 'StageError', message }, text))
  }
})

test('a template in a Stage that nests values or calls too deeply is rejected', () => {
  const ifs = '{{ if .x }}'.repeat(150)
  const nested = `{{ define "t" }}${ifs}{{ template "t" . }}${'{{ end }}'.repeat(150)}{{ end }}{{ template "t" (dict "x" 1) }}`
  assert.throws(() => run(nested), { name: 'StageError', message: /nested too deeply/ })
  const names = Array.from({ length: 501 }, (_, i) => `{{ $v${i} := 1 }}`).join('')
  assert.throws(() => run(names), { name: 'StageError', message: /more than 500 variables are in scope/ })
})

test('files with Stages are parsed, and errors name the file', () => {
  const file = join(directory, 'stages.yaml')
  writeFileSync(
    file,
    `# two\n---\n${JSON.stringify(stage({ next: { statusTemplate: 'phase: {{ .x }}' } }, 'one'))}\n---\n`,
  )
  const stages = readStageFiles([file], (each) => readFileSync(each, 'utf8'))
  assert.deepEqual(
    stages.map(({ name }) => name),
    ['one'],
  )
  assert.deepEqual(stages[0]!.next.patches[0]!.template({ x: 'Running' }, {}), { phase: 'Running' })
  for (const [text, message] of [
    ['kind: Pod\napiVersion: v1\n', /stages\.yaml: the file contains an object of the kind Pod in v1 instead of Stage/],
    [JSON.stringify(stage({ next: { statusTemplate: '{{ fly }}' } }, 'two')), /stages\.yaml: stage "two": .*"fly"/],
    ['a: [', /stages\.yaml: /],
  ] as const) {
    writeFileSync(file, text)
    assert.throws(() => readStageFiles([file], (each) => readFileSync(each, 'utf8')), { name: 'StageError', message })
  }
})

/**
 * Tests Go templates: their output for an object, and the errors of rejected templates. In the long variant, kubectl
 * executes the same templates on the same object and must print the same output.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { UsageError } from '../../../src/base/flags/flags.ts'
import { readGoTemplate } from '../../../src/tools/cli/printers/go-template.ts'
import { longTest } from '../../support/long.ts'

const object = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'web',
    labels: { app: 'x', tier: 'front' },
    annotations: { n: 'aGVsbG8=', 'a.b/c': 'é<&>' },
    creationTimestamp: null,
    generation: 1234567,
    finalizers: ['a', 'b', 'c'],
  },
  data: { a: '1', b: '2' },
}

function fill(text: string, missingKeys: 'allow' | 'refuse' = 'allow'): string {
  return readGoTemplate(text)(object, { missingKeys })
}

const rows: readonly (readonly [template: string, printed: string])[] = [
  ['plain } text {', 'plain } text {'],
  ['{{.metadata.name}}', 'web'],
  ['{{ . | len }} {{$.kind}}', '4 ConfigMap'],
  ['{{.metadata.labels}}|{{.metadata.finalizers}}', 'map[app:x tier:front]|[a b c]'],
  ['{{.metadata.generation}} {{.metadata.creationTimestamp}}', '1234567 <no value>'],
  ['{{.nothing}} {{.nothing.deeper}}', '<no value> <no value>'],
  ['{{range .metadata.finalizers}}{{.}},{{end}}', 'a,b,c,'],
  ['{{range $i, $f := .metadata.finalizers}}{{$i}}={{$f}}{{"\\n"}}{{end}}', '0=a\n1=b\n2=c\n'],
  ['{{range $k, $v := .data}}{{$k}}{{$v}} {{end}}', 'a1 b2 '],
  ['{{range .nothing}}x{{else}}none{{end}}', 'none'],
  ['{{range .metadata.finalizers}}{{if eq . "b"}}{{continue}}{{end}}{{.}}{{end}}', 'ac'],
  ['{{range .metadata.finalizers}}{{if eq . "b"}}{{break}}{{end}}{{.}}{{end}}', 'a'],
  ['{{range .metadata.finalizers}}{{$.kind}}{{end}}', 'ConfigMapConfigMapConfigMap'],
  ['{{if .data.a}}yes{{else}}no{{end}} {{if .data.z}}yes{{else if .data.b}}b{{else}}no{{end}}', 'yes b'],
  ['{{if and .data (not .nothing)}}1{{end}}{{if or .nothing .also}}2{{else}}3{{end}}', '13'],
  ['{{and 1 0 2}} {{or "" "x" "y"}} {{and true "last"}}', '0 x last'],
  ['{{with .metadata}}{{.name}}{{end}}{{with .nothing}}x{{else}} none{{end}}', 'web none'],
  ['{{with $x := .kind}}{{$x}}{{.}}{{end}}', 'ConfigMapConfigMap'],
  ['{{$x := 1}}{{range .metadata.finalizers}}{{$x = .}}{{end}}{{$x}}', 'c'],
  ['{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}', '21'],
  ['a  {{- .kind -}}  b {{- /* left out */ -}} c', 'aConfigMapbc'],
  ['a {{/* A comment. */}} b', 'a  b'],
  ['{{define "t"}}<{{.}}>{{end}}{{template "t" .kind}}{{template "t"}}', '<ConfigMap><<no value>>'],
  ['{{block "b" .metadata}}{{.name}}{{end}}', 'web'],
  ['{{index .metadata.annotations "a.b/c"}} {{index .metadata.finalizers 1}} {{index . "data" "a"}}', 'é<&> b 1'],
  ['{{index .data "nothing"}}', '<no value>'],
  ['{{(index .metadata.finalizers 0)}} {{(.metadata).name}} {{len (slice .metadata.finalizers 1)}}', 'a web 2'],
  ['{{slice "abcdef" 1 3}} {{slice .metadata.finalizers 0 2}} {{slice "abc"}}', 'bc [a b] abc'],
  ['{{len "é"}} {{len .data}} {{len .metadata.finalizers}}', '2 2 3'],
  ['{{eq .kind "ConfigMap"}} {{eq .kind "a" "ConfigMap"}} {{ne 1 2}} {{eq .nothing "x"}}', 'true true true false'],
  ['{{lt 1 2}} {{le 2 2}} {{gt "b" "a"}} {{ge 1 2}} {{eq .metadata.generation 1234567}}', 'true true true false true'],
  ['{{printf "%s|%5s|%-5s|%.2s|%q" .kind "ab" "ab" "abc" "a\\"b\\n"}}', 'ConfigMap|   ab|ab   |ab|"a\\"b\\n"'],
  [
    '{{printf "%d|%5d|%05d|%-4d|%+d|%x|%X|%o|%b|%c|%U" 42 42 42 42 42 255 255 8 5 65 65}}',
    '42|   42|00042|42  |+42|ff|FF|10|101|A|U+0041',
  ],
  ['{{printf "%v %t %v %T %%" true false .metadata.finalizers "x"}}', 'true false [a b c] string %'],
  ['{{printf "%f|%.2f|%8.3f|%e|%g" 3.5 3.14159 2.5 1234.5 0.5}}', '3.500000|3.14|   2.500|1.234500e+03|0.5'],
  [
    '{{printf "%d" "x"}} {{printf "%d"}} {{printf "x" "y"}} {{printf "%s" .nothing}}',
    '%!d(string=x) %!d(MISSING) x%!(EXTRA string=y) %!s(<nil>)',
  ],
  ['{{printf "%*d|%s" 4 7 .data}} {{.kind | printf "%s-%s" "a"}}', '   7|map[a:1 b:2] a-ConfigMap'],
  ['{{print 1 2 "a" 3 true}} {{println "a" 1}}', '1 2a3 true a 1\n'],
  [
    '{{1.5}} {{1e3}} {{0x10}} {{1_000}} {{\'a\'}} {{`raw\\n`}} {{"\\u00e9\\x41\\t"}}|{{-3}}',
    '1.5 1000 16 1000 97 raw\\n éA\t|-3',
  ],
  ['{{.metadata.annotations.n | base64decode}} {{"aGk=" | base64decode | printf "%q"}}', 'hello "hi"'],
  [
    '{{html "<a href=\'x\'>&\\""}} {{js "it\'s <b>"}} {{urlquery "a b&c/é*"}}',
    "&lt;a href=&#39;x&#39;&gt;&amp;&#34; it\\'s \\u003Cb\\u003E a+b%26c%2F%C3%A9%2A",
  ],
  ['{{exists . "data" "a"}} {{exists . "data" "z"}} {{exists .metadata.finalizers 2}}', 'true false true'],
  ['{{if (and (eq .kind "ConfigMap") (gt (len .data) 1))}}both{{end}}', 'both'],
  ['{{true}} {{not true}} {{not .nothing}}', 'true false true'],
]

for (const [template, printed] of rows)
  test(`the Go template renders as expected: ${template}`, () => {
    assert.equal(fill(template), printed)
  })

const faults: readonly (readonly [template: string, fault: string])[] = [
  ['{{', 'line 1, column 1: unclosed action'],
  ['a\n{{.x', 'line 2, column 1: unclosed action'],
  ['{{if .x}}', 'line 1, column 3: {{if}} without {{end}}'],
  ['{{end}}', 'line 1, column 3: unexpected {{end}}'],
  ['{{nope .x}}', 'line 1, column 3: function "nope" not defined'],
  ['{{$x}}', 'line 1, column 3: undefined variable "$x"'],
  ['{{if true}}{{$x := 1}}{{end}}{{$x}}', 'line 1, column 32: undefined variable "$x"'],
  ['{{"a}}', 'line 1, column 3: a quote is not closed'],
  ['{{.kind.x}}', "line 1, column 3: can't evaluate field x in type string"],
  ['{{index .metadata.finalizers 9}}', 'line 1, column 3: error calling index: index out of range: 9'],
  ['{{index .nothing "x"}}', 'line 1, column 3: error calling index: index of untyped nil'],
  ['{{lt 1 "a"}}', 'line 1, column 3: error calling lt: incompatible types for comparison'],
  ['{{eq .data .data}}', 'line 1, column 3: error calling eq: uncomparable type map[string]interface {}'],
  ['{{template "t"}}', 'line 1, column 3: template "t" not defined'],
  ['{{range .kind}}{{end}}', "line 1, column 3: range can't iterate over ConfigMap"],
  ['{{break}}', 'line 1, column 8: {{break}} outside {{range}}'],
  ['{{.kind | "x"}}', 'line 1, column 11: a function must follow |'],
  ['{{.kind 1}}', "line 1, column 3: can't give argument to non-function"],
  ['{{"%" | base64decode}}', 'line 1, column 9: error calling base64decode: illegal base64 data'],
  ['{{.a ! .b}}', 'line 1, column 6: unexpected "!" in an action'],
  [`${'{{if .}}'.repeat(300)}`, 'line 1, column 1601: actions are nested more than 200 levels deep'],
  [
    '{{define "t"}}{{template "t"}}{{end}}{{template "t"}}',
    'line 1, column 17: templates are nested more than 1000 levels deep',
  ],
]

for (const [template, fault] of faults)
  test(`the Go template is rejected: ${template.slice(0, 60)}`, () => {
    assert.throws(() => fill(template), new UsageError(`go-template: ${fault}`))
  })

test('a missing key in a Go template is an error only if the caller requests this', () => {
  assert.throws(() => fill('{{.metadata.nope}}', 'refuse'), /column 3: map has no entry for key "nope"/)
  assert.equal(fill('{{.kind}}', 'refuse'), 'ConfigMap')
})

test('Go templates cannot access inherited members of objects', () => {
  assert.equal(fill('{{.constructor}} {{.toString}} {{index .data "__proto__"}}'), '<no value> <no value> <no value>')
})

test('Go templates that call each other endlessly are aborted', () => {
  const twice = '{{define "t"}}{{template "t" .}}{{template "t" .}}{{end}}{{template "t" .}}'
  assert.throws(() => fill(twice), /templates are nested/)
  const wide = `{{define "a"}}${'{{.}}'.repeat(50)}{{end}}`
  assert.ok(fill(`${wide}{{template "a" .kind}}`).length > 400)
})

longTest('kubectl renders all templates to the same text', () => {
  const input = JSON.stringify(object)
  const printed = rows.map(([template]) => {
    const args = ['label', '--local', '-f', '-', 'app=x', '--overwrite', '-o', `go-template=${template}`]
    return [template, execFileSync('kubectl', args, { input, encoding: 'utf8' })]
  })
  assert.deepEqual(printed, rows)
})

/**
 * Tests that YAML is parsed and written correctly, that invalid YAML is rejected, and that bodies of every shape are
 * parsed in linear time.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDocument } from 'yaml'
import { stringifyYaml } from '../../../src/api/codec/write-yaml.ts'
import { parseYaml } from '../../../src/api/codec/yaml.ts'
import type { Json } from '../../../src/api/json/json.ts'
import { ApiError } from '../../../src/api/model/api-error.ts'
import { assertBelow, cpuMs } from '../../support/effort.ts'

const limit = 3 * 1024 * 1024
const read = (text: string) => parseYaml(Buffer.from(text), limit)

const meant: readonly (readonly [text: string, value: Json])[] = [
  ['', null],
  ['# nothing\n', null],
  ['a: {b: [1, two, "3"]}', { a: { b: [1, 'two', '3'] } }],
  ['{a: 1, b}', { a: 1, b: null }],
  ['a: yes\nb: Off\nc: "no"', { a: true, b: false, c: 'no' }],
  ['{name: n, x: 1, y: [Y, N]}', { name: 'n', x: 1, y: ['Y', 'N'] }],
  ['a: ~\nb: Null\nc:', { a: null, b: null, c: null }],
  [
    'a: 0755\nb: 0x1F\nc: 0b11\nd: 0o17\ne: 1_000\nf: 08\ng: +5\nh: -7',
    { a: 493, b: 31, c: 3, d: 15, e: 1000, f: 8, g: 5, h: -7 },
  ],
  ['a: 9007199254740993\nb: -9223372036854775808', { a: 9007199254740993n, b: -9223372036854775808n }],
  ['a: 1.5\nb: .5\nc: 1e3\nd: 1.', { a: 1.5, b: 0.5, c: 1000, d: 1 }],
  ['a: 80:80\nb: 2026-01-01\nc: 1:30:00\nd: 1.2.3', { a: '80:80', b: '2026-01-01', c: '1:30:00', d: '1.2.3' }],
  ['a: |\n  one\n  two\nb: >-\n  three\n  four', { a: 'one\ntwo\n', b: 'three four' }],
  ['a: "\\ud83d\\ude00"\nb: "\\U0001F600"', { a: '😀', b: '😀' }],
  ['a: !!str 1\nb: !!int "2"\nc: !own x\nd: !!float 3\ne: ! 4', { a: '1', b: 2, c: 'x', d: 3, e: '4' }],
  [
    'a: !!binary aGVsbG8=\nb: !!binary |\n  w7xi\n  ZXI=\nc: !!binary ""\nd: !<tag:yaml.org,2002:binary> "MQ=="',
    { a: 'hello', b: 'über', c: '', d: '1' },
  ],
  ['1: a\ntrue: b\n1.5: c', { 1: 'a', true: 'b', 1.5: 'c' }],
  [
    'constructor: a\n__proto__: b',
    Object.fromEntries([
      ['constructor', 'a'],
      ['__proto__', 'b'],
    ]),
  ],
  ['a: &x {k: v}\nb: *x', { a: { k: 'v' }, b: { k: 'v' } }],
  ['a: &x 1\nb: &x 2\nc: *x', { a: 1, b: 2, c: 2 }],
  [
    'a: &x {k: v, l: w}\nb: {<<: *x, l: own}\nc: {l: own, <<: *x}',
    { a: { k: 'v', l: 'w' }, b: { k: 'v', l: 'own' }, c: { k: 'v', l: 'own' } },
  ],
  ['a: &x {k: 1}\nb: &y {k: 2, m: 3}\nc: {<<: [*x, *y]}', { a: { k: 1 }, b: { k: 2, m: 3 }, c: { k: 1, m: 3 } }],
  ['a: {"<<": 1}', { a: { '<<': 1 } }],
  ['&k a: 1\nb: *k', { a: 1, b: 'a' }],
  ['%YAML 1.1\n---\na: 1', { a: 1 }],
]

for (const [text, value] of meant)
  test(`the YAML parser accepts ${JSON.stringify(text)}`, () =>
    void assert.deepEqual(read(text), { value, duplicates: [] }))

/** Returns YAML with nested lists, each of which repeats an alias of the previous list. */
const laughs = (levels: number) =>
  [
    'a0: &a0 lol',
    ...Array.from({ length: levels }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join()}]`),
  ].join('\n')
const chain = Array.from({ length: 4000 }, (_, i) => `a${i + 1}: &a${i + 1} {<<: *a${i}, k${i}: 0}`).join('\n')
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

const refused: readonly (readonly [name: string, text: string | Buffer, told: RegExp])[] = [
  ['a byte order mark', '\ufeffa: 1', /byte order mark/],
  ['bytes that are not UTF-8', Buffer.from([0x61, 0x3a, 0x20, 0xff]), /UTF-8/],
  ['half a surrogate pair', 'a: "\\ud800"', /surrogate/],
  ['half a surrogate pair in a key', '"\\udc00": 1', /surrogate/],
  ['two documents', 'a: 1\n---\nb: 2', /more than one/],
  ['a custom tag', '%TAG ! tag:x,2000:\n--- !a b', /tags/],
  ['a tag that does not match its value', 'a: !!int x', /does not match/],
  ['a binary value that is not base64', 'a: !!binary "?"', /!!binary value is not valid base64/],
  ['a binary value without padding', 'a: !!binary aGVsbG8', /!!binary value is not valid base64/],
  ['a binary value that is not text', 'a: !!binary /w==', /does not decode to UTF-8 text/],
  ['a binary list', 'a: !!binary [a]', /does not match/],
  ['a list as a key', '? [a]\n: b', /key/],
  ['a null key', '~: a', /key/],
  ['an infinite number', 'a: .inf', /number/],
  ['a NaN', 'a: .nan', /number/],
  ['a number out of range', 'a: 1e400', /range/],
  ['an alias without an anchor', 'a: *x', /refers to an undefined anchor/],
  ['an alias of its own parent', 'a: &x [*x]', /refers to an undefined anchor/],
  ['a merge of a string', 'a: {<<: x}', /merge key/],
  ['aliases of aliases', laughs(9), /expand/],
  ['merges of merges', `a0: &a0 {k: 0}\n${chain}`, /expand/],
  [
    'the same merge many times',
    `a: &a {${Array.from({ length: 500 }, (_, i) => `k${i}: 0`).join()}}\nb: {<<: [${Array(1000).fill('*a').join()}]}`,
    /expand/,
  ],
  ['nesting to 513', deep(513), /512/],
  ['513 levels of nesting through an alias', `a: &a ${deep(300)}\nb: ${'['.repeat(212)}*a${']'.repeat(212)}`, /512/],
  ['extreme nesting', '['.repeat(100_000), /512/],
  ['extreme nesting of block lists', '- '.repeat(100_000), /512/],
  ['invalid YAML', 'a: b: c', /line 1/],
]

for (const [name, text, told] of refused)
  test(`the YAML parser rejects ${name}`, () => {
    assert.throws(
      () => parseYaml(Buffer.from(text), limit),
      (error) => error instanceof ApiError && error.code === 400 && told.test(error.message),
    )
  })

test('the YAML parser accepts up to 512 levels of nesting, including levels added by aliases', () => {
  read(deep(512))
  read(Array.from({ length: 512 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'))
  read(`${'- '.repeat(512)}a`)
  read(`a: &a ${deep(300)}\nb: ${'['.repeat(211)}*a${']'.repeat(211)}`)
})

test('the YAML parser reports duplicate keys with their paths and uses the last value', () => {
  const { value, duplicates } = read('a:\n- b: 1\n  c: 2\n  b: 3\n"a": 4\n')
  assert.deepEqual(duplicates, ['a[0].b', 'a'])
  assert.deepEqual(value, { a: 4 })
})

test('each use of a YAML alias creates a separate copy of the value', () => {
  const { value } = read('a: &x {k: {l: 1}}\nb: *x')
  const { a, b } = value as { a: { k: object }; b: { k: object } }
  assert.notEqual(a, b)
  assert.notEqual(a.k, b.k)
})

const texts = [
  'configmaps "b" not found',
  "it's; 'so'",
  '',
  ' ',
  'a',
  'a b',
  ' a',
  'a ',
  'a: b',
  'a:',
  ':a',
  'a #b',
  '#a',
  '-',
  '- a',
  '-a',
  '?',
  '? a',
  '*a',
  '&a',
  '!a',
  '|',
  '>',
  '%a',
  '@a',
  '`a',
  '"a"',
  "'a'",
  '{a}',
  '[a]',
  'a,b',
  'yes',
  'No',
  'y',
  'N',
  'true',
  'null',
  '~',
  '1',
  '1.5',
  '1e3',
  '0x1f',
  '0755',
  '1_0',
  '1:30',
  '.5',
  '.inf',
  '.nan',
  '2026-01-01',
  '2026-01-01T00:00:00Z',
  '10.0.0.1',
  '1.2.3',
  '1a',
  '5m',
  '1e3',
  '1e999',
  '1.5E9995',
  `1e${'9'.repeat(500)}`,
  '=',
  '<<',
  '---',
  '...',
  'a\nb',
  'a\nb\n',
  'a\n\n',
  'a\n\nb\n\n\n',
  '\na',
  ' a\nb',
  'a\n b',
  'a \nb',
  'a\n ',
  'a\tb',
  '\ta',
  'a\r\nb',
  '\u0000',
  '\u001b[31m',
  '\u0085',
  '\u2028',
  '\u202e',
  '\ufeff',
  'é',
  '😀',
  '\\',
  '\\n',
  '# a\nb',
  '- a\nb',
  'k:{"a":1}',
  'v1',
  'a/b',
  'x'.repeat(2000),
]

test(`${texts.length} strings survive a YAML round trip as keys and as values, even with other parsers`, () => {
  for (const text of texts) {
    const value = {
      [text]: text,
      list: [text, [text, { [text]: [text] }], {}, []],
      map: { inner: { a: text, b: null, c: true, d: 1.5, e: 12n } },
    }
    const yaml = stringifyYaml(value as Json)
    const expected = JSON.parse(JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? Number(item) : item)))
    assert.deepEqual(read(yaml).value, expected, yaml)
    for (const version of ['1.1', '1.2'] as const)
      assert.deepEqual(parseDocument(yaml, { version }).toJS(), expected, yaml)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the text must not contain these characters
    assert.doesNotMatch(yaml, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
  }
})

/**
 * Values that kubectl prints without quotes, for example UIDs that start with digits or look like a number with an
 * exponent.
 */
const plainTexts = [
  ...['87642691-3d9b-4d3c-8f65-0123456789ab', '12e45678-1234-1234-1234-0123456789ab', '12345678-1234-5678-9abc-1'],
  ...['1234-5678', '10-1', '1-', '1.5-beta', '20-12-01', '1.2.3', '1.2.3-4', '0x1-2'],
]
const quotedTexts = ['2001-12-14', '2001-1-2', '1:2', '1e5', '12e-3', '1.5e-7', '0x1f', '1_000', '-1']

test('the YAML encoder quotes the same strings and keys as kubectl', () => {
  const lines = [
    ...['.dockerconfigjson: .spec', "a: 'b: c'", "b: 'c #d'", 'c: -x', "d: '- x'", "e: '*'", 'f: ?x', 'g: :x', 'h: é'],
    ...["i: 'a:'", "j: '---'", 'k: a\\b', "l: ' x'", 'm: $(X)', "nn: '''a'", 'o: "yes"', 'p: "1,3"', 'q: "<<"', 'r: .'],
    ...['s: |', '  #!/bin/sh', '  exit', `t: ${'x'.repeat(2000)}`],
  ]
  const text = `${lines.join('\n')}\n`
  assert.equal(stringifyYaml(parseYaml(Buffer.from(text), 10_000).value), text)
  const keys = ['A_B', 'AB', 'k1', 'k1a', 'k2', 'k10', 'k20', 'ka', 'é']
  assert.equal(
    stringifyYaml(Object.fromEntries(keys.toReversed().map((key) => [key, 1]))),
    keys.map((key) => `${key}: 1\n`).join(''),
  )
})

test('the YAML encoder quotes a string that starts with a digit only if a parser could read the string as another type', () => {
  for (const text of plainTexts) assert.equal(stringifyYaml({ a: text }), `a: ${text}\n`)
  for (const text of quotedTexts) assert.equal(stringifyYaml({ a: text }), `a: "${text}"\n`)
  for (const text of [...plainTexts, ...quotedTexts]) {
    const yaml = stringifyYaml({ [text]: text })
    assert.deepEqual(read(yaml).value, { [text]: text })
    for (const version of ['1.1', '1.2'] as const)
      assert.deepEqual(parseDocument(yaml, { version }).toJS(), { [text]: text })
  }
})

const fill = (bytes: number, line: (i: number) => string) => {
  const lines: string[] = []
  for (let size = 0, i = 0; size < bytes; i++) size += lines[lines.push(line(i)) - 1]!.length + 1
  return lines
}

/** Functions that return a body of approximately the given size, whose shape makes some parsers take quadratic time. */
const shapes: { readonly [name: string]: (bytes: number) => string } = {
  'keys of a map': (bytes) => fill(bytes, (i) => `k${i}: v`).join('\n'),
  'keys of a flow map': (bytes) => `{${fill(bytes, (i) => `k${i}: v`).join()}}`,
  'keys that are integers': (bytes) => fill(bytes, (i) => `${i * 7919}: v`).join('\n'),
  'one key many times': (bytes) => fill(bytes, () => 'k: v').join('\n'),
  'explicit keys': (bytes) => fill(bytes, (i) => `? k${i}`).join('\n'),
  'a list of objects': (bytes) => fill(bytes, (i) => `- name: a${i}\n  value: ${i}`).join('\n'),
  'a flow list': (bytes) => `[${fill(bytes, () => '1').join()}]`,
  'empty elements': (bytes) => fill(bytes, () => '-').join('\n'),
  anchors: (bytes) => fill(bytes, (i) => `- &a${i} x`).join('\n'),
  aliases: (bytes) => `- &a x\n${fill(bytes / 4, () => '- *a').join('\n')}`,
  tags: (bytes) => fill(bytes, () => '- !!str x').join('\n'),
  'a folded text': (bytes) => `a: >\n${fill(bytes, () => '  x').join('\n')}`,
  'a plain multi-line string': (bytes) => `a: x\n${fill(bytes, () => '  x').join('\n')}`,
  escapes: (bytes) => `a: "${'\\n'.repeat(bytes / 2)}"`,
  quotes: (bytes) => `a: '${"''".repeat(bytes / 2)}'`,
  comments: (bytes) => `${fill(bytes, () => '# x').join('\n')}\na: 1`,
  'empty lines': (bytes) => `a:\n${'\n'.repeat(bytes)} 1`,
  spaces: (bytes) => `a:${' '.repeat(bytes)}1`,
  colons: (bytes) => ':'.repeat(bytes),
  'a long number': (bytes) => `a: ${'1'.repeat(bytes)}`,
  'a number with gaps': (bytes) => `a: ${'1_'.repeat(bytes / 2)}`,
  'a broken list': (bytes) => `${fill(bytes, () => '- a').join('\n')}\n b: c: d`,
}

function tryRead(text: string): void {
  try {
    read(text)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

for (const [name, shape] of Object.entries(shapes))
  test(`parsing YAML takes linear time: ${name}`, async () => {
    tryRead(shape(20_000))
    const small = shape(50_000)
    const large = shape(800_000)
    // Compare the time with the time for a body that is sixteen times as large. A quadratic parser would take 256 times
    // as long. Times of a few milliseconds cannot be measured reliably.
    await assertBelow(80, 'times as much for 1.6 MB as for 100 KB', () => {
      const once = cpuMs(() => tryRead(small))
      return cpuMs(() => tryRead(large)) / Math.max(once, 8)
    })
  })

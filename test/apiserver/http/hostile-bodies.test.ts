/**
 * Tests bodies that are designed to break the server or bypass its checks. Each of them must get the expected response.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { configMaps } from '../../support/paths.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const secrets = '/api/v1/namespaces/default/secrets'
const megabyte = 1024 * 1024

interface Row {
  readonly body: string | Buffer
  readonly path?: string
  readonly method?: string
  readonly headers?: { readonly [name: string]: string }
  readonly status: number
  /** Text that the response or its warnings must contain. */
  readonly expected?: RegExp
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const bodyWith = (members: string) => `{"metadata":{"generateName":"h-"},${members}}`
const meta = (members: string) => `{"metadata":{"generateName":"h-",${members}}}`
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
const many = (count: number, member: (i: number) => string) => Array.from({ length: count }, (_, i) => member(i)).join()

const nesting: { [name: string]: Row } = {
  'nesting to 511': { body: bodyWith(`"x":${nested(510)}`), status: 201 },
  'nesting to 512': { body: bodyWith(`"x":${nested(511)}`), status: 201 },
  'nesting to 513': { body: bodyWith(`"x":${nested(512)}`), status: 400, expected: /nested deeper than 512/ },
  'nesting to 100,000': { body: bodyWith(`"x":${nested(100_000)}`), status: 400, expected: /nested deeper/ },
  '1,500,000 levels of unclosed nesting': { body: '['.repeat(1_500_000), status: 400 },
  'nested objects': { body: `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, status: 400 },
  'nesting in a free-form field': {
    body: meta(
      `"managedFields":[{"manager":"m","fieldsType":"FieldsV1","fieldsV1":${'{"f:a":'.repeat(505)}{}${'}'.repeat(505)}}]`,
    ),
    status: 201,
  },
  'nesting in delete options': { path: `${configMaps}/x`, method: 'DELETE', body: nested(513), status: 400 },
}

const twice = '"data":{"a":"1"},"data":{"b":"2"}'
const duplicates: { [name: string]: Row } = {
  'a duplicate key with Strict validation': {
    path: `${configMaps}?fieldValidation=Strict`,
    body: bodyWith(twice),
    status: 400,
    expected: /duplicate field \\"data\\"/,
  },
  'a duplicate key with a warning': {
    body: bodyWith(twice),
    status: 201,
    expected: /299 - "duplicate field \\"data\\""/,
  },
  'a duplicate key, ignored': {
    path: `${configMaps}?fieldValidation=Ignore`,
    body: bodyWith(twice),
    status: 201,
    expected: /"data":\{"a":"1","b":"2"\}.*\n\n$/s,
  },
  'a duplicate key in different notation': {
    path: `${configMaps}?fieldValidation=Strict`,
    body: bodyWith('"data":{},"d\\u0061ta":{}'),
    status: 400,
    expected: /duplicate field \\"data\\"/,
  },
  '__proto__ twice': {
    path: `${configMaps}?fieldValidation=Strict`,
    body: bodyWith('"data":{"__proto__":"1","__proto__":"2"}'),
    status: 400,
    expected: /duplicate field \\"data.__proto__\\"/,
  },
  'an unknown fieldValidation': {
    path: `${configMaps}?fieldValidation=strict`,
    body: bodyWith('"data":{}'),
    status: 422,
  },
}

const generation = (number: string) => meta(`"generation":${number}`)
const numbers: { [name: string]: Row } = {
  'an integer that a double cannot represent': { body: generation('9007199254740993'), status: 201 },
  'the largest int64': { body: generation('9223372036854775807'), status: 201 },
  'the largest int64 plus one': { body: generation('9223372036854775808'), status: 400 },
  'a 1,000-digit number': { body: generation('1'.repeat(1000)), status: 400 },
  'an exponent out of range': { body: generation('1e400'), status: 400 },
  'an exponent out of range in an unknown field': { body: bodyWith('"x":-1e400'), status: 400 },
  'a fraction for an integer': { body: generation('1.5'), status: 400 },
  'a fraction that rounds to an integer': { body: generation('9007199254740992.5'), status: 400 },
  'minus zero': { body: generation('-0'), status: 201 },
  'an exponent that is an integer': { body: generation('1e3'), status: 201 },
  'a string for an integer': { body: generation('"1"'), status: 400 },
  'a leading zero': { body: generation('01'), status: 400 },
  NaN: { body: generation('NaN'), status: 400 },
  'the largest grace period': {
    path: `${configMaps}/none`,
    method: 'DELETE',
    body: '{"gracePeriodSeconds":9223372036854775807}',
    status: 404,
  },
}

const inData = (...parts: (string | number[])[]) =>
  bytes('{"metadata":{"generateName":"h-"},"data":{"k":"', ...parts, '"}}')
const text: { [name: string]: Row } = {
  'a byte FF': { body: inData([0xff]), status: 400, expected: /UTF-8/ },
  'an overlong slash': { body: inData([0xc0, 0xaf]), status: 400, expected: /UTF-8/ },
  'a surrogate in UTF-8': { body: inData([0xed, 0xa0, 0x80]), status: 400, expected: /UTF-8/ },
  'a pair of surrogates in UTF-8': {
    body: inData([0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]),
    status: 400,
    expected: /UTF-8/,
  },
  'a truncated sequence': { body: inData([0xe2, 0x82]), status: 400, expected: /UTF-8/ },
  'beyond Unicode': { body: inData([0xf4, 0x90, 0x80, 0x80]), status: 400, expected: /UTF-8/ },
  'a byte order mark': { body: bytes([0xef, 0xbb, 0xbf], bodyWith('"data":{}')), status: 400 },
  'UTF-16': { body: Buffer.from(bodyWith('"data":{}'), 'utf16le'), status: 400 },
  'a lone high surrogate': { body: inData('\\ud800'), status: 400, expected: /surrogate/ },
  'a lone low surrogate': { body: inData('\\udc00x'), status: 400, expected: /surrogate/ },
  'two high surrogates': { body: inData('\\ud800\\ud800'), status: 400, expected: /surrogate/ },
  'a lone surrogate in a key': { body: bodyWith('"data":{"\\udfff":""}'), status: 400, expected: /surrogate/ },
  'a lone surrogate in an unknown field': { body: bodyWith('"x":"\\ud83d"'), status: 400, expected: /surrogate/ },
  'a complete surrogate pair': { body: inData('\\ud83d\\ude00'), status: 201, expected: /"k":"😀"/ },
  'an escaped backslash before u': { body: inData('\\\\ud800'), status: 201 },
  'NUL in a value': { body: inData('\\u0000'), status: 201, expected: /"k":"\\u0000"/ },
  'a control character': { body: inData([0x01]), status: 400 },
  'both normalization forms of é in values': {
    body: inData('\u00e9 e\u0301'),
    status: 201,
    expected: /"k":"\u00e9 e\u0301"/,
  },
}

const secretOf = (value: string) => `{"metadata":{"generateName":"h-"},"data":{"k":${JSON.stringify(value)}}}`
const base64: { [name: string]: Row } = Object.fromEntries(
  (
    [
      ['YQ==', 201],
      ['', 201],
      ['Y\nQ==\r\n', 201],
      ['!!!', 400],
      ['-_-_', 400],
      ['YQ', 400],
      ['YQ=', 400],
      ['YQ==x', 400],
      ['YQ==YQ==', 400],
      ['YQ= =', 400],
      ['YR==', 201],
      ['====', 400],
      ['YQ==\u0000', 400],
      ['\u00e9\u00e9\u00e9\u00e9', 400],
    ] as const
  ).map(([value, status]) => [
    `base64 ${JSON.stringify(value)}`,
    { path: secrets, body: secretOf(value), status, ...(status === 400 ? { expected: /base64/ } : {}) },
  ]),
)

const name = (text: string) => JSON.stringify({ metadata: { name: text } })
const badNames = [
  '\u00e9',
  'e\u0301',
  '\uff11',
  '\u0130',
  'a\u200db',
  'a\n',
  '\na',
  'a\0',
  'A',
  '-a',
  'a-',
  'a..b',
  '.',
  '..',
  'a/b',
  'a%b',
  'a b',
  'a_b',
  '__proto__',
  'a'.repeat(254),
  'a-'.repeat(500_000),
  'a.'.repeat(500_000),
]
const names: { [name: string]: Row } = {
  ...Object.fromEntries(
    badNames.map((text) => [
      `name ${JSON.stringify(text.slice(0, 20))} of ${text.length}`,
      { body: name(text), status: 422, expected: /metadata\.name/ },
    ]),
  ),
  'a name like an inherited member': { body: name('constructor'), status: 201 },
  'a name with 253 characters': { body: name('a'.repeat(253)), status: 201 },
  'a generated name from a bad prefix': { body: '{"metadata":{"generateName":"A_"}}', status: 422 },
  'a generated name from a long prefix': {
    body: JSON.stringify({ metadata: { generateName: 'a'.repeat(250) } }),
    status: 201,
  },
  'no name': { body: '{"metadata":{}}', status: 422 },
  'label key with a newline': { body: meta('"labels":{"a\\n":"b"}'), status: 422 },
  'label value with a newline': { body: meta('"labels":{"a":"b\\n"}'), status: 422 },
  'label key __proto__': { body: meta('"labels":{"__proto__":"b"}'), status: 422, expected: /__proto__/ },
  'label keys like inherited members': {
    body: meta('"labels":{"constructor":"b","toString":"c"}'),
    status: 201,
    expected: /"labels":\{"constructor":"b","toString":"c"\}/,
  },
  'annotation key __proto__': { body: meta('"annotations":{"__proto__":"b"}'), status: 422, expected: /__proto__/ },
  'annotation key constructor': {
    body: meta('"annotations":{"constructor":"b"}'),
    status: 201,
    expected: /"annotations":\{"constructor":"b"\}/,
  },
  'finalizer __proto__': { body: meta('"finalizers":["__proto__"]'), status: 422 },
  'data keys like inherited members': {
    body: bodyWith('"data":{"__proto__":"1","constructor":"2","hasOwnProperty":"3","toString":"4","valueOf":"5"}'),
    status: 201,
    expected: /"data":\{"__proto__":"1","constructor":"2","hasOwnProperty":"3","toString":"4","valueOf":"5"\}/,
  },
  'secret keys like inherited members': {
    path: secrets,
    body: bodyWith('"data":{"__proto__":"YQ=="},"stringData":{"constructor":"2","hasOwnProperty":"3"}'),
    status: 201,
    expected: /"data":\{"__proto__":"YQ==","constructor":"Mg==","hasOwnProperty":"Mw=="\}/,
  },
  '__proto__ at the top level': {
    body: bodyWith('"__proto__":{"data":{"k":"v"}}'),
    status: 201,
    expected: /unknown field \\"__proto__\\"/,
  },
  '__proto__ in metadata': {
    body: meta('"__proto__":{"labels":{"a":"b"}}'),
    status: 201,
    expected: /unknown field \\"metadata.__proto__\\"/,
  },
  '__proto__ for all members': {
    body: '{"__proto__":{"metadata":{"name":"inherited"}}}',
    status: 422,
    expected: /metadata\.name/,
  },
  'an inherited member in managed fields': {
    body: meta(
      '"managedFields":[{"manager":"__proto__","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:__proto__":{},"__proto__":{}}}}]',
    ),
    status: 201,
  },
  'a field manager named __proto__': {
    path: `${configMaps}?fieldManager=__proto__`,
    body: bodyWith('"data":{}'),
    status: 201,
  },
  'a field manager with a newline': {
    path: `${configMaps}?fieldManager=a%0a`,
    body: bodyWith('"data":{}'),
    status: 422,
  },
  'a 129-byte field manager': {
    path: `${configMaps}?fieldManager=${'a'.repeat(129)}`,
    body: bodyWith('"data":{}'),
    status: 422,
  },
}

const notObjects: { [name: string]: Row } = Object.fromEntries(
  ['', ' ', '[]', '1', '"x"', 'true', '{', '{}}', '{"a":1,}', "{'a':1}", '{} {}', '// x\n{}', 'apiVersion: v1'].map(
    (body) => [`body ${JSON.stringify(body)}`, { body, status: 400 }],
  ),
)

const forms: { [name: string]: Row } = Object.fromEntries(
  (
    [
      ['null', 422],
      ['{"metadata":[]}', 400],
      ['{"metadata":"x"}', 400],
      ['{"metadata":null}', 422],
      [meta('"labels":[]'), 400],
      [meta('"labels":{"a":1}'), 400],
      [meta('"labels":{"a":null}'), 201],
      [meta('"labels":{"a":{"b":"c"}}'), 400],
      [meta('"finalizers":[null]'), 422],
      [meta('"ownerReferences":[null]'), 422],
      [meta('"ownerReferences":[{}]'), 422],
      [meta('"ownerReferences":[{"apiVersion":"a/b/c","kind":"K","name":"n","uid":"u"}]'), 422],
      [meta('"managedFields":[null]'), 201],
      [meta('"managedFields":[{"fieldsV1":1}]'), 201],
      [meta('"managedFields":[{"fieldsV1":[]}]'), 201],
      [meta('"managedFields":[{"fieldsV1":{"f:a":1}}]'), 201],
      [meta('"managedFields":[{"operation":"Bogus"}]'), 201],
      [meta('"creationTimestamp":"yesterday"'), 400],
      [meta('"creationTimestamp":"2020-13-45T99:99:99Z"'), 400],
      [meta('"deletionTimestamp":"2020-01-01T00:00:00Z"'), 201],
      [meta('"uid":"mine","selfLink":"/x","clusterName":"c","generation":1'), 201],
      [meta('"generation":-1'), 422],
      [meta('"generation":-9223372036854775808'), 422],
      [meta('"resourceVersion":"0"'), 201],
      [meta('"resourceVersion":"1"'), 400],
      [meta('"namespace":"kube-system"'), 400],
      [bodyWith('"kind":5'), 400],
      [bodyWith('"kind":{"toString":"x"}'), 400],
      [bodyWith('"kind":["ConfigMap"]'), 400],
      [bodyWith('"kind":"Secret"'), 400],
      [bodyWith('"apiVersion":"v2"'), 400],
      [bodyWith('"apiVersion":null'), 201],
      ['{"kind":"List","apiVersion":"v1","items":[]}', 400],
      [bodyWith('"data":{"..":"x"}'), 422],
      [bodyWith('"data":{"a/b":"x"}'), 422],
      [bodyWith('"data":{"a\\n":"x"}'), 422],
      [bodyWith('"data":{"a":"x"},"binaryData":{"a":"eA=="}'), 422],
      [bodyWith('"immutable":"yes"'), 400],
    ] as const
  ).map(([body, status]) => [`form ${body.slice(-70)}`, { body, status }]),
)

const big = 'x'.repeat(megabyte)
/**
 * Number of invalid members in a body. Both numbers are so large that a response listing all of them would exceed
 * `maxRefusalBytes`.
 */
const badMembers = long ? 90_000 : 12_000
const badOwners = long ? 19_000 : 4_000
const sizes: { [name: string]: Row } = {
  'data of 1 MiB': { body: bodyWith(`"data":{"k":"${'x'.repeat(megabyte - 1)}"}`), status: 201 },
  'data over 1 MiB': { body: bodyWith(`"data":{"k":"${big}","l":"x"}`), status: 422 },
  'a secret over 1 MiB': { path: secrets, body: secretOf(Buffer.alloc(megabyte + 1).toString('base64')), status: 422 },
  'annotations over 256 KiB': { body: meta(`"annotations":{"a":"${'x'.repeat(256 * 1024)}"}`), status: 422 },
  '10,000 finalizers': { body: meta(`"finalizers":[${many(10_000, (i) => `"a.b/f${i}"`)}]`), status: 201 },
  '40,000 integer-like keys': {
    body: bodyWith(`"data":{${many(40_000, (i) => `"${i * 7919}":""`)}}`),
    status: 201,
  },
  [`${badMembers} bad labels`]: { body: meta(`"labels":{${many(badMembers, (i) => `"!${i}":""`)}}`), status: 422 },
  [`${badMembers} bad annotations`]: {
    body: meta(`"annotations":{${many(badMembers, (i) => `"!${i}":""`)}}`),
    status: 422,
  },
  [`${badMembers} bad finalizers`]: { body: meta(`"finalizers":[${many(badMembers, (i) => `"!${i}"`)}]`), status: 422 },
  [`${badOwners} bad owners`]: {
    body: meta(`"ownerReferences":[${many(badOwners, (i) => `{"name":"${i}"}`)}]`),
    status: 422,
  },
  [`${badMembers} bad keys`]: { body: bodyWith(`"data":{${many(badMembers, (i) => `"!${i}":""`)}}`), status: 422 },
  '100,000 values': { body: bodyWith(`"x":[${many(99_990, () => '1')}]`), status: 201 },
  'more than 100,000 values': {
    body: bodyWith(`"x":[${many(100_001, () => '1')}]`),
    status: 413,
    expected: /100000 values/,
  },
  'more than 100,000 values in YAML': {
    body: `metadata: {generateName: h-}\nx: [${many(100_001, () => '1')}]`,
    headers: { 'content-type': 'application/yaml' },
    status: 413,
    expected: /100000 values/,
  },
  'more than 100,000 values including managed fields': {
    body: bodyWith(`"data":{${many(60_000, (i) => `"k${i}":""`)}}`),
    status: 413,
    expected: /100000 values/,
  },
  [`${badMembers} unknown fields with Strict validation`]: {
    path: `${configMaps}?fieldValidation=Strict`,
    body: bodyWith(many(badMembers, (i) => `"u${i}":0`)),
    status: 400,
  },
  [`${badMembers} unknown fields, with warnings`]: {
    body: bodyWith(many(badMembers, (i) => `"u${i}":0`)),
    status: 201,
  },
  'duplicates below a long key with Strict validation': {
    path: `${configMaps}?fieldValidation=Strict`,
    body: bodyWith(`"${big}":{${many(100, (i) => `"d${i}":0,"d${i}":0`)}}`),
    status: 400,
  },
  'a long unknown field': { path: `${configMaps}?fieldValidation=Strict`, body: bodyWith(`"${big}":0`), status: 400 },
  'a long kind': { body: bodyWith(`"kind":"${big}"`), status: 400 },
  'a gzip body': { body: bodyWith('"data":{}'), headers: { 'content-encoding': 'gzip' }, status: 415 },
  'a brotli body': { body: bodyWith('"data":{}'), headers: { 'content-encoding': 'br' }, status: 415 },
  'a body in two encodings': {
    body: bodyWith('"data":{}'),
    headers: { 'content-encoding': 'identity, gzip' },
    status: 415,
  },
  'an identity-encoded body': { body: bodyWith('"data":{}'), headers: { 'content-encoding': 'identity' }, status: 201 },
  'an HTML form': { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' }, status: 415 },
  'a type named __proto__': { body: 'a=b', headers: { 'content-type': '__proto__' }, status: 415 },
}

/**
 * Maximum size of the response to a rejected body. No input may make the server send much more than the client sent.
 */
const maxRefusalBytes = 256 * 1024

const table = { ...nesting, ...duplicates, ...numbers, ...text, ...base64, ...names, ...notObjects, ...forms, ...sizes }

test(`requests with ${Object.keys(table).length} hostile bodies get the expected responses`, {
  timeout: 300_000,
}, async (t) => {
  const server = await serve(t)
  const client = server.client()
  const assertAlive = survivalCheck(server)
  for (const [title, { body, status, expected, ...row }] of Object.entries(table)) {
    await t.test(title, async () => {
      const answer = await client.send(row.path ?? configMaps, {
        method: row.method ?? 'POST',
        raw: body,
        headers: row.headers ?? {},
      })
      const shown = showAnswer(answer)
      assert.equal(answer.status, status, shown.slice(0, 1000))
      if (expected !== undefined) assert.match(shown, expected)
      if (answer.status >= 400)
        assert.ok(answer.text.length < maxRefusalBytes, `${answer.text.length} bytes of refusal`)
      await assertAlive()
    })
  }
  await t.test('a server restarted after all hostile bodies returns the same objects', async () => {
    const before = await client.get(configMaps)
    await server.stop()
    await server.restart()
    assert.equal((await client.get(configMaps)).text, before.text)
  })
})

function showAnswer({ text, headers }: Answer): string {
  return `${text}\n${headers.warning ?? ''}\n`
}

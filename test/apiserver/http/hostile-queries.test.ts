/** Tests query parameters and continue tokens that are malformed, too large, forged or meant for another list. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import { sendHead } from '../../support/raw-http.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const e = encodeURIComponent

/** The queries, each with the status codes that the test accepts. */
const lists: readonly (readonly [query: string, ...codes: number[]])[] = [
  ...['abc', '1e3', '1.5', '0x10', ' 1', '+1', '\u0661', '9'.repeat(20), '1\n', 'NaN', '__proto__'].map(
    (value) => [`limit=${e(value)}`, 400] as const,
  ),
  ['limit=-1', 200, 400],
  ['limit=9223372036854775807', 200],
  ['limit=0', 200],
  ['limit=', 200, 400],
  ['limit=1&limit=abc', 200, 400],
  ...[
    'abc',
    '-1',
    '1.5',
    '18446744073709551616',
    '0x1',
    '+1',
    '01',
    '1e3',
    ' 1',
    '1\n',
    '\u0661',
    'NaN',
    '__proto__',
  ].map((value) => [`resourceVersion=${e(value)}`, 400] as const),
  ['resourceVersion=0', 200],
  ['resourceVersion=', 200],
  ['resourceVersionMatch=Exact', 422],
  ['resourceVersionMatch=NotOlderThan', 422],
  ['resourceVersionMatch=Bogus&resourceVersion=1', 422],
  ['resourceVersionMatch=exact&resourceVersion=1', 422],
  ['resourceVersionMatch=Exact&resourceVersion=0', 422],
  ['resourceVersionMatch=Exact&resourceVersion=1', 200, 410],
  ['resourceVersionMatch=NotOlderThan&resourceVersion=0', 200],
  ['resourceVersionMatch=NotOlderThan&resourceVersion=abc', 400],
  ['watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1', 422],
  ['watch=1&resourceVersion=abc', 400],
  ['watch=1&resourceVersion=-1', 400],
  ['watch=1&timeoutSeconds=abc', 400],
  ['watch=1&limit=abc', 400],
  ['watch=1&limit=9223372036854775808', 400],
  ['watch=1&timeoutSeconds=1&limit=5', 200],
  ['watch=1&timeoutSeconds=1e3', 400],
  ['watch=1&labelSelector=%3D', 400],
  ['watch=1&timeoutSeconds=1&resourceVersion=1000000000', 200],
  ['timeoutSeconds=abc', 400],
  ['timeout=abc', 400],
  ...['-1s', '-0', '%2B30s', '-1h30m'].map((time): [string, number] => [`timeout=${time}`, 200]),
  ...['--1s', '-', '-abc', '%2B'].map((time): [string, number] => [`timeout=${time}`, 400]),
  ['timeout=1e99s', 400],
  [`timeout=${'9'.repeat(400)}s`, 400],
  ['timeout=0', 200],
  ...[
    '=',
    '==',
    '!',
    ',',
    'a=b=c',
    'a in',
    'a in (',
    'a in ((b))',
    'a in (b',
    'a notin b',
    'a > b',
    '(a)',
    'a b',
    'a=b,',
    ',a',
    'é=1',
    'a=é',
    '_=1',
    'a\0=b',
    `${'a'.repeat(64)}=b`,
    'a/b/c=d',
    '__proto__',
  ].map((value) => [`labelSelector=${e(value)}`, 400] as const),
  ['labelSelector=constructor', 200],
  ['labelSelector=!toString', 200],
  ['labelSelector=a,a=b,a!=b,a%20in%20(b),!a', 200],
  [`labelSelector=${e(Array.from({ length: 900 }, (_, i) => `a${i}=b`).join())}`, 200],
  [`labelSelector=${e(Array.from({ length: 5000 }, (_, i) => `a${i}=b`).join())}`, 400],
  [`labelSelector=a%20in%20(${'b,'.repeat(20_000)}c)`, 200],
  [`labelSelector=a%20in%20${'('.repeat(50_000)}`, 400],
  [`labelSelector=${'!'.repeat(60_000)}`, 400],
  [`labelSelector=${'a'.repeat(100_000)}`, 400],
  ...[
    '=',
    'x=y',
    'spec.foo=bar',
    '__proto__=x',
    'constructor=x',
    'metadata.name',
    'metadata.name>a',
    'metadata.name in (a)',
    'metadata=x',
    'metadata.labels=x',
  ].map((value) => [`fieldSelector=${e(value)}`, 400] as const),
  ['fieldSelector=metadata.name%3D__proto__', 200],
  ['fieldSelector=metadata.name%3Dconstructor', 200],
  ['fieldSelector=metadata.name%3Da%5C', 400],
  [`fieldSelector=${Array.from({ length: 3000 }, () => 'metadata.name!%3Da').join('%2C')}`, 200, 400],
  [`fieldSelector=metadata.name%3D${'a'.repeat(100_000)}`, 200, 400],
  ...['garbage', '.', 'a.b', 'e30.e30', '%00', '__proto__', 'x'.repeat(5000), 'eyJ2IjoxLCJyIjoxLCJrIjoiIn0.'].map(
    (value) => [`continue=${value}`, 400] as const,
  ),
  ['continue=', 200],
  ['__proto__=1&constructor=2&hasOwnProperty=3&toString', 200],
  ['%', 200],
  ['%zz=%ff&=&&&', 200],
  ['pretty=true', 200],
  [`${'a=1&'.repeat(10_000)}b`, 200],
]

test(`requests with ${lists.length} hostile queries get the expected status codes`, { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  const client = server.client()
  const assertAlive = survivalCheck(server)
  await client.post(configMaps, { metadata: { name: 'a', labels: { x: 'y' } } })
  for (const [query, ...codes] of lists) {
    await t.test(query.slice(0, 80), async () => {
      const { status, text } = await client.get(`${configMaps}?${query}`)
      assert.ok(codes.includes(status), `${status} ${text.slice(0, 300)}`)
      if (status >= 400) assert.ok(text.length < 10_000, `${text.length} bytes of refusal`)
      await assertAlive()
    })
  }
  await t.test(
    'a list at a resourceVersion that the server does not reach in time gets a 504 with Retry-After',
    async () => {
      const late = ['', '&resourceVersionMatch=NotOlderThan', '&resourceVersionMatch=Exact', '&limit=1']
      const answers = await Promise.all([
        ...late.map((rest) => client.get(`${configMaps}?resourceVersion=1000000000${rest}`)),
        client.get(`${configMaps}/a?resourceVersion=9223372036854775807`),
      ])
      for (const { status, headers, body } of answers) {
        assert.deepEqual([status, body.reason, headers['retry-after']], [504, 'Timeout', '1'])
        assert.equal(body.details.causes[0].reason, 'ResourceVersionTooLarge')
      }
      await assertAlive()
    },
  )
  await t.test('a request target above the header size limit is rejected', async () => {
    const { status } = await sendHead(server, [`GET ${configMaps}?labelSelector=${'a'.repeat(1024 * 1024)} HTTP/1.1`])
    assert.ok([414, 431].includes(status), String(status))
    await assertAlive()
  })
})

test('a continue token is valid only for the same list and the same user', async (t) => {
  const server = await serve(t, ['--authorization-mode=AlwaysAllow'])
  const admin = server.client()
  const alice = server.client('alice-token')
  const secrets = '/api/v1/namespaces/default/secrets'
  const elsewhere = '/api/v1/namespaces/kube-system/configmaps'
  for (const path of [configMaps, secrets, elsewhere])
    for (const name of ['a', 'b', 'c']) assert.equal((await admin.post(path, { metadata: { name } })).status, 201)
  const token = (await admin.get(`${configMaps}?limit=1`)).body.metadata.continue
  const rest = `limit=1&continue=${token}`
  assert.equal((await admin.get(`${configMaps}?${rest}`)).body.items[0].metadata.name, 'b')

  const [payload, signature] = token.split('.')
  const forged = Buffer.from(JSON.stringify({ v: 1, r: 1, k: 'objects/core/secrets/' })).toString('base64url')
  const foreign: readonly (readonly [typeof admin, string])[] = [
    [alice, `${configMaps}?${rest}`],
    [admin, `${secrets}?${rest}`],
    [admin, `${elsewhere}?${rest}`],
    [admin, `/api/v1/configmaps?${rest}`],
    [admin, `${configMaps}?${rest}&labelSelector=a`],
    [admin, `${configMaps}?${rest}&fieldSelector=metadata.name%3Da`],
    [admin, `${configMaps}?${rest}&resourceVersion=1`],
    [admin, `${configMaps}?continue=${forged}.${signature}`],
    [admin, `${configMaps}?continue=${payload}.`],
    [admin, `${configMaps}?continue=${payload}`],
    [admin, `${configMaps}?continue=.${signature}`],
    [admin, `${configMaps}?continue=${payload}.${'A'.repeat(22)}`],
  ]
  for (const [client, path] of foreign) assert.equal((await client.get(path)).status, 400, path)
  assert.equal((await admin.get(`${configMaps}?${rest}&resourceVersion=0`)).status, 200)
  await survivalCheck(server)()
})

/** Tests authentication with valid, invalid, expired and missing certificates and tokens, in each mode. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertifiedKey } from '../../../src/api/pki/authority.ts'
import { HttpClient } from '../../support/http-client.ts'
import { asIssuer, makeIdentity, pairOf } from '../../support/identities.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import { caOf, sendHead } from '../../support/raw-http.ts'
import { survivalCheck } from '../../support/survival-check.ts'
import { until } from '../../support/until.ts'

async function statusFor(server: Restartable, pair: CertifiedKey, token = ''): Promise<number> {
  const { certificate: cert, key } = pair
  const client = new HttpClient({ port: server.port, ca: caOf(server), token, cert, key })
  try {
    return (await client.get(configMaps)).status
  } finally {
    client.close()
  }
}

test('client certificates must be valid and issued by the CA', async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  const issuer = asIssuer(pairOf(server, 'ca'))
  const masters = { commonName: 'someone', organizations: ['system:masters'], usages: ['client auth'] } as const
  const otherCa = await makeIdentity({ commonName: 'orch-ca', usages: ['cert sign'], authority: true })
  const hour = 60 * 60 * 1000
  const table: { readonly [name: string]: readonly [CertifiedKey, number] } = {
    "the administrator's own": [pairOf(server, 'admin'), 200],
    'signed by our CA': [await makeIdentity({ ...masters, issuer }), 200],
    'signed by our CA, without privileged groups': [
      await makeIdentity({ commonName: 'someone', usages: ['client auth'], issuer }),
      403,
    ],
    'a group in another case': [await makeIdentity({ ...masters, organizations: ['System:Masters'], issuer }), 403],
    'a group with a NUL': [await makeIdentity({ ...masters, organizations: ['system:masters\0x'], issuer }), 403],
    'two groups in one value': [await makeIdentity({ ...masters, organizations: ['dev,system:masters'], issuer }), 403],
    'a name that looks like a group': [
      await makeIdentity({ commonName: 'x/O=system:masters', usages: ['client auth'], issuer }),
      403,
    ],
    'signed by another CA with the same name': [await makeIdentity({ ...masters, issuer: asIssuer(otherCa) }), 401],
    'self-signed': [await makeIdentity(masters), 401],
    expired: [await makeIdentity({ ...masters, issuer, from: -2 * hour, to: -hour }), 401],
    'not valid yet': [await makeIdentity({ ...masters, issuer, from: hour, to: 2 * hour }), 401],
    'server certificate': [await makeIdentity({ ...masters, usages: ['server auth'], issuer }), 401],
    "the server's own": [pairOf(server, 'serving'), 401],
  }
  for (const [name, [pair, status]] of Object.entries(table)) {
    await t.test(name, async () => {
      assert.equal(await statusFor(server, pair), status)
      await assertAlive()
    })
  }
  await t.test('a valid token is accepted despite an invalid certificate', async () => {
    assert.equal(await statusFor(server, await makeIdentity(masters), 'admin-token'), 200)
  })
  await t.test('a valid certificate takes precedence over an invalid token', async () => {
    assert.equal(await statusFor(server, pairOf(server, 'admin'), 'wrong'), 200)
  })
  await t.test(
    'a connection may stay open after its client certificate expires, but no longer authenticates the user',
    async () => {
      const brief = await makeIdentity({ ...masters, issuer, to: 2500 })
      const client = new HttpClient({
        port: server.port,
        ca: caOf(server),
        token: '',
        cert: brief.certificate,
        key: brief.key,
      })
      t.after(() => client.close())
      assert.equal((await client.get(configMaps)).status, 200)
      const ask = async () => (await client.get(configMaps)).status
      assert.equal(await until(ask, (status) => status !== 200), 401)
    },
  )
})

const wrongTokens = [
  'Bearer wrong-token',
  'bearer wrong-token',
  'BEARER wrong-token',
  'Bearer admin-token2',
  'Bearer admin-toke',
  'Bearer ADMIN-TOKEN',
  'Bearer admin-token,admin',
  'Bearer "admin-token"',
  'Bearer wrong admin-token',
  'Bearer __proto__',
  'Bearer constructor',
  'Bearer \u00e9',
  'Bearer \tadmin-token',
  `Bearer ${'x'.repeat(100_000)}`,
]

/** The token is the word that follows the scheme and one space. Any text after the token is ignored. */
const rightTokens = [
  'Bearer admin-token',
  'bearer admin-token',
  'BEARER admin-token',
  '  Bearer admin-token  ',
  'Bearer admin-token and-more',
]

/** A malformed Authorization header counts as no credentials, as in kube-apiserver. */
const malformed = [
  '',
  'Bearer',
  'Bearer ',
  'Bearer  admin-token',
  'Bearer   ',
  'Bearer\tadmin-token',
  'Bearer: admin-token',
  'Bearer=admin-token',
  'admin-token',
  'Basic YWRtaW46YWRtaW4=',
  'Token admin-token',
  'Negotiate admin-token',
  ', Bearer admin-token',
  `Basic ${'x'.repeat(50_000)}`,
]

test('a request with an invalid token is never treated as anonymous', async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  for (const authorization of wrongTokens) {
    const { status, text } = await sendHead(server, [`GET ${configMaps} HTTP/1.1`, `Authorization: ${authorization}`])
    assert.equal(status, 401, `${authorization.slice(0, 50)}: ${text.slice(0, 200)}`)
    assert.ok(!text.includes('wrong-token'), 'the token is repeated in the answer')
    // The server rejects the request even for public paths.
    const open = await sendHead(server, ['GET /livez HTTP/1.1', `Authorization: ${authorization}`])
    assert.equal(open.status, 401, authorization.slice(0, 50))
  }
  for (const authorization of rightTokens)
    assert.equal(
      (await sendHead(server, [`GET ${configMaps} HTTP/1.1`, `Authorization: ${authorization}`])).status,
      200,
      authorization,
    )
  for (const authorization of malformed) {
    const asked = async (path: string) =>
      await sendHead(server, [`GET ${path} HTTP/1.1`, `Authorization: ${authorization}`])
    const { status, text } = await asked(configMaps)
    assert.equal(status, 403, `${JSON.stringify(authorization.slice(0, 50))}: ${text.slice(0, 200)}`)
    assert.match(text, /User \\"system:anonymous\\" cannot list/)
    assert.equal((await asked('/livez')).status, 200, authorization)
  }
  await assertAlive()
  assert.ok(!server.output().includes('-token'), 'a token is in the log')
})

/** The flags, and the expected status codes for anonymous requests: a list of secrets, a create, and /livez. */
const anonymousTable: readonly (readonly [string, readonly [number, number, number]])[] = [
  ['', [403, 403, 200]],
  ['--anonymous-auth=true', [403, 403, 200]],
  ['--anonymous-auth=false', [401, 401, 401]],
  ['--authorization-mode=AlwaysAllow', [401, 401, 401]],
  ['--authorization-mode=AlwaysDeny,AlwaysAllow', [401, 401, 401]],
  ['--authorization-mode=AlwaysAllow,AlwaysDeny', [401, 401, 401]],
  ['--authorization-mode=AlwaysDeny,AlwaysAllow --anonymous-auth=auto', [401, 401, 401]],
  ['--authorization-mode=AlwaysDeny,AlwaysAllow --anonymous-auth=true', [200, 201, 200]],
  ['--authorization-mode=AlwaysAllow --anonymous-auth', [200, 201, 200]],
]

for (const [flags, expected] of anonymousTable) {
  test(`anonymous requests are handled as configured with ${flags || 'no flags'}`, async (t) => {
    const server = await serve(t, flags.split(' ').filter(Boolean))
    const nobody = server.client('')
    const answers = [
      await nobody.get('/api/v1/secrets'),
      await nobody.post(configMaps, { metadata: { name: 'a' } }),
      await nobody.get('/livez'),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      expected,
    )
    if (expected[0] === 401) assert.equal(answers[0]!.body.reason, 'Unauthorized')
    if (expected[0] === 403) assert.match(answers[0]!.body.message, /system:anonymous/)
    const allowing = flags.includes('AlwaysAllow')
    assert.equal((await server.client('bob-token').get(configMaps)).status, allowing ? 200 : 403)
    assert.equal((await server.client('wrong').get('/livez')).status, 401)
  })
}

test('anonymous users may read the overall health but not the individual checks', async (t) => {
  const nobody = (await serve(t)).client('')
  for (const path of ['/livez', '/readyz', '/healthz', '/version', '/version/', '/livez?verbose'])
    assert.equal((await nobody.get(path)).status, 200, path)
  for (const path of ['/livez/ping', '/readyz/store', '/healthz/ping', '/livez/', '/version/x', '/livezz'])
    assert.equal((await nobody.get(path)).status, 403, path)
})

/**
 * Tests service account tokens on a real server: requests, authentication, invalidation and forgeries. The test
 * provides the server's keys so that it can sign arbitrary tokens.
 */
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { type CompactJWSHeaderParameters, CompactSign, createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { endOfFile } from '../../support/end-of-file.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import type { Served } from '../../support/server.ts'
import { until } from '../../support/until.ts'

const owner = endOfFile()
const directory = mkdtempSync(join(tmpdir(), 'orch-tokens-'))
owner.after(async () => rmSync(directory, { recursive: true, force: true }))

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const issuer = 'https://tokens.example.com'
const accounts = '/api/v1/namespaces/default/serviceaccounts'
const secrets = '/api/v1/namespaces/default/secrets'
const pods = '/api/v1/namespaces/default/pods'
const reviews = '/apis/authentication.orch.io/v1/tokenreviews'

let server: Served
let admin: HttpClient

before(async () => {
  const pem = (key: KeyObject, type: 'pkcs8' | 'spki') => key.export({ type, format: 'pem' }).toString()
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text, { mode: 0o600 })
    return join(directory, name)
  }
  server = await serve(owner, [
    `--service-account-signing-key-file=${file('ec.pem', pem(ec.privateKey, 'pkcs8'))}`,
    `--service-account-key-file=${file('rsa.pub', pem(rsa.publicKey, 'spki'))}`,
    `--service-account-key-file=${file('ec.pub', pem(ec.publicKey, 'spki'))}`,
    `--service-account-issuer=${issuer}`,
    '--service-account-issuer=before',
    '--api-audiences=here, there',
    '--service-account-max-token-expiration=2h',
    '--service-account-jwks-uri=https://keys.example.com/all',
    '-v=9',
  ])
  admin = server.client()
})

async function make(path: string, object: object): Promise<{ uid: string; resourceVersion: string }> {
  const { status, body, text } = await admin.post(path, object)
  assert.equal(status, 201, text)
  return body.metadata
}

/** Secrets that must not appear in logs or metrics. */
const canaries: string[] = []

async function tokenOf(name: string, spec: object = {}): Promise<string> {
  const { status, body, text } = await admin.post(`${accounts}/${name}/token`, { spec })
  assert.equal(status, 201, text)
  canaries.push(body.status.token.split('.')[2])
  return body.status.token
}

/** Returns the status of a request with the token. All requests use the same connection. */
async function statusWith(token: string, client = server.client(token)): Promise<number> {
  return (await client.get('/api')).status
}

/** Waits until the status changes, and returns the new status. */
async function untilOther(status: number, ask: () => Promise<number>): Promise<number> {
  return await until(ask, (latest) => latest !== status, 60_000)
}

const review = async (token: string, audiences?: string[]) =>
  (await admin.post(reviews, { spec: { token, ...(audiences && { audiences }) } })).body.status

describe('a token from a TokenRequest', () => {
  it('a requested token contains the user, audiences, issuer and lifetime', async () => {
    const { uid } = await make(accounts, { metadata: { name: 'asked' } })
    const began = Math.floor(Date.now() / 1000)
    const { body } = await admin.post(`${accounts}/asked/token`, { spec: { expirationSeconds: 3600 } })
    const claims = decodeJwt(body.status.token)
    assert.deepEqual(body.spec, { audiences: ['here', 'there'], expirationSeconds: 3600 })
    assert.equal(Date.parse(body.status.expirationTimestamp), claims.exp! * 1000)
    assert.ok(claims.iat! >= began && claims.exp! - claims.iat! === 3600 && claims.nbf === claims.iat)
    assert.deepEqual(
      [claims.iss, claims.aud, claims.sub],
      [issuer, ['here', 'there'], 'system:serviceaccount:default:asked'],
    )
    assert.deepEqual(claims['orch.io'], { namespace: 'default', serviceaccount: { name: 'asked', uid } })
  })

  it('the lifetime of a requested token is limited to the maximum with a warning', async () => {
    await make(accounts, { metadata: { name: 'long' } })
    const { body, headers } = await admin.post(`${accounts}/long/token`, { spec: { expirationSeconds: 10_000 } })
    assert.equal(body.spec.expirationSeconds, 7200)
    assert.match(String(headers.warning), /requested expiration of 10000 seconds shortened to 7200 seconds/)
    const { exp, iat } = decodeJwt(body.status.token)
    assert.equal(exp! - iat!, 7200)
  })

  it('a token for a pod volume is valid for a year and stale after its requested lifetime', async () => {
    await make(accounts, { metadata: { name: 'volume' } })
    const spec = {
      serviceAccountName: 'volume',
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i' }],
    }
    await make(pods, { metadata: { name: 'volume' }, spec })
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'volume' }
    const ask = async (more: object) =>
      decodeJwt(await tokenOf('volume', { boundObjectRef, expirationSeconds: 3607, ...more })) as Claims
    const extended = await ask({})
    assert.equal(extended.exp! - extended.iat!, 365 * 24 * 3600)
    assert.equal(extended['orch.io'].warnafter, extended.iat! + 3607)
    for (const more of [{ expirationSeconds: 3600 }, { audiences: ['elsewhere'] }]) {
      const usual = await ask(more)
      assert.ok(usual.exp! - usual.iat! < 3700)
      assert.equal(usual['orch.io'].warnafter, undefined)
    }
  })
})

type Claims = ReturnType<typeof decodeJwt> & { 'orch.io': { warnafter?: number } }

describe('a token on an open connection becomes invalid when an object that it depends on is gone', () => {
  it('a token becomes invalid if its account is deleted, even if the account is recreated', async () => {
    await make(accounts, { metadata: { name: 'gone' } })
    const token = await tokenOf('gone')
    const client = server.client(token)
    assert.equal(await statusWith(token, client), 200)
    assert.equal((await admin.delete(`${accounts}/gone`)).status, 200)
    assert.equal(await statusWith(token, client), 401)
    await make(accounts, { metadata: { name: 'gone' } })
    assert.equal(await statusWith(token, client), 401)
    assert.equal((await review(token)).authenticated, undefined)
    assert.equal(await statusWith(await tokenOf('gone')), 200)
  })

  it('a token becomes invalid if its account is terminating', async () => {
    await make(accounts, { metadata: { name: 'held', finalizers: ['example.com/hold'] } })
    const token = await tokenOf('held')
    const client = server.client(token)
    assert.equal(await statusWith(token, client), 200)
    await admin.delete(`${accounts}/held`)
    assert.equal((await admin.get(`${accounts}/held`)).status, 200)
    assert.equal(await statusWith(token, client), 401)
  })

  it('a token becomes invalid if its Secret is deleted, even if the Secret is recreated', async () => {
    await make(accounts, { metadata: { name: 'bound' } })
    const nameless = { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Secret' } } }
    assert.equal((await admin.post(`${accounts}/bound/token`, nameless)).status, 400)
    await make(secrets, { metadata: { name: 'bound' } })
    const token = await tokenOf('bound', { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'bound' } })
    const client = server.client(token)
    assert.equal(await statusWith(token, client), 200)
    await admin.put(`${secrets}/bound`, { metadata: { name: 'bound' }, stringData: { a: 'b' } })
    assert.equal(await statusWith(token, client), 200)
    await admin.delete(`${secrets}/bound`)
    assert.equal(await statusWith(token, client), 401)
    await make(secrets, { metadata: { name: 'bound' } })
    assert.equal(await statusWith(token, client), 401)
  })

  it('a token is valid during the grace period of its pod, and invalid afterwards', async () => {
    await make(accounts, { metadata: { name: 'runner' } })
    const spec = {
      serviceAccountName: 'runner',
      automountServiceAccountToken: false,
      nodeName: 'n',
      terminationGracePeriodSeconds: 3,
      containers: [{ name: 'c', image: 'i' }],
    }
    await make(pods, { metadata: { name: 'p' }, spec })
    const token = await tokenOf('runner', { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } })
    const client = server.client(token)
    assert.equal(await statusWith(token, client), 200)
    const { body } = await admin.delete(`${pods}/p`)
    const end = Date.parse(body.metadata.deletionTimestamp)
    const first = await statusWith(token, client)
    if (Date.now() < end) assert.equal(first, 200)
    assert.equal(await untilOther(200, () => statusWith(token, client)), 401)
    assert.ok(Date.now() >= end)
  })
})

const account = { name: 'forged', uid: '' }
const legacy = (uid: string, secret: string) => ({
  iss: 'orch/serviceaccount',
  sub: 'system:serviceaccount:default:forged',
  'orch.io/serviceaccount/namespace': 'default',
  'orch.io/serviceaccount/secret.name': secret,
  'orch.io/serviceaccount/service-account.name': 'forged',
  'orch.io/serviceaccount/service-account.uid': uid,
})
const now = () => Math.floor(Date.now() / 1000)
const usual = () => ({
  iss: issuer,
  aud: ['here'],
  sub: 'system:serviceaccount:default:forged',
  exp: now() + 600,
  nbf: now(),
  'orch.io': { namespace: 'default', serviceaccount: { ...account } },
})

type Header = CompactJWSHeaderParameters

async function signed(claims: object | string, key: KeyObject = ec.privateKey, header: Header = { alg: 'ES256' }) {
  const text = typeof claims === 'string' ? claims : JSON.stringify(claims)
  return await new CompactSign(new TextEncoder().encode(text)).setProtectedHeader(header).sign(key)
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('tokens signed outside the server', () => {
  before(async () => {
    account.uid = (await make(accounts, { metadata: { name: 'forged' } })).uid
  })

  it('externally signed tokens are accepted if key, issuer and audience are configured', async () => {
    const good = {
      'as the server signs tokens': await signed(usual()),
      'signed with a second key': await signed(usual(), rsa.privateKey, { alg: 'RS256' }),
      'from a former issuer': await signed({ ...usual(), iss: 'before' }),
      'with an audience that is a string': await signed({ ...usual(), aud: 'there' }),
      'with a second audience': await signed({ ...usual(), aud: ['x', 'here'] }),
      'without a not-before time': await signed({ ...usual(), nbf: undefined }),
      'within the allowed clock skew': await signed({ ...usual(), nbf: now() + 30 }),
    }
    for (const [name, token] of Object.entries(good)) assert.equal(await statusWith(token), 200, name)
  })

  it('tokens with invalid claims are rejected', async () => {
    const holders = (more: object) => ({ 'orch.io': { ...usual()['orch.io'], ...more } })
    const wrong: { readonly [name: string]: object } = {
      'no expiry': { exp: undefined },
      'an expiry in the past': { exp: now() - 1 },
      'an expiry that is a string': { exp: String(now() + 600) },
      'an expiry of 1e99': { exp: 1e99 },
      'a negative expiry': { exp: -1 },
      'not yet valid': { nbf: now() + 120 },
      'a not-before time that is a string': { nbf: 'now' },
      'no audience': { aud: undefined },
      'an empty list of audiences': { aud: [] },
      'an audience that is a number': { aud: ['here', 1] },
      'another audience': { aud: ['Here'] },
      'another issuer': { iss: `${issuer}/` },
      'an issuer in another case': { iss: issuer.toUpperCase() },
      'no issuer': { iss: undefined },
      'a list of issuers': { iss: [issuer] },
      'no subject': { sub: undefined },
      'an empty subject': { sub: '' },
      'another subject': { sub: 'system:serviceaccount:default:asked' },
      'no account': { 'orch.io': undefined },
      'an account without a uid': holders({ serviceaccount: { name: 'forged' } }),
      'another uid': holders({ serviceaccount: { name: 'forged', uid: 'x' } }),
      'another namespace': holders({ namespace: 'kube-system' }),
      'a pod that does not exist': holders({ pod: { name: 'nobody', uid: 'x' } }),
      'a pod without a uid': holders({ pod: { name: 'nobody' } }),
      'a secret that does not exist': holders({ secret: { name: 'nobody', uid: 'x' } }),
      'a warnafter time that is a string': holders({ warnafter: 'later' }),
    }
    for (const [name, claims] of Object.entries(wrong))
      assert.equal(await statusWith(await signed({ ...usual(), ...claims })), 401, name)
    const twice = JSON.stringify(usual()).replace('{', '{"sub":"system:serviceaccount:kube-system:x",')
    assert.equal(await statusWith(await signed(twice)), 401, 'a duplicate claim')
    for (const text of ['[]', 'null', '"x"', '{', '']) assert.equal(await statusWith(await signed(text)), 401, text)
  })

  it('tokens without expiry are accepted only if a Secret contains them', async () => {
    const token = await signed(legacy(account.uid, 'holder'))
    assert.equal(await statusWith(token), 401)
    const type = 'orch.io/service-account-token'
    const annotations = { 'orch.io/service-account.name': 'forged' }
    await make(secrets, { metadata: { name: 'holder', annotations }, type, stringData: { token: 'another' } })
    assert.equal(await statusWith(token), 401)
    await admin.put(`${secrets}/holder`, { metadata: { name: 'holder', annotations }, type, stringData: { token } })
    assert.equal(await statusWith(token), 200)
    assert.equal(await statusWith(await signed(legacy('another', 'holder'))), 401)
    assert.equal(await statusWith(await signed({ ...legacy(account.uid, 'holder'), iss: issuer })), 401)
  })

  it('tokens become invalid when they expire on an open connection', async () => {
    const end = now() + 3
    const token = await signed({ ...usual(), exp: end })
    const client = server.client(token)
    const first = await statusWith(token, client)
    if (Date.now() < end * 1000) assert.equal(first, 200)
    assert.equal(await untilOther(200, () => statusWith(token, client)), 401)
    assert.ok(Date.now() >= end * 1000)
  })

  it('tokens that should have been renewed are counted as stale', async () => {
    const stale = { 'orch.io': { ...usual()['orch.io'], warnafter: now() - 1 } }
    assert.equal(await statusWith(await signed({ ...usual(), ...stale })), 200)
    assert.match((await admin.get('/metrics')).text, /^serviceaccount_stale_tokens_total 1$/m)
  })

  it('tokens with an invalid signature are rejected', async () => {
    const good = await signed(usual())
    const [header, payload, signature] = good.split('.') as [string, string, string]
    const pem = ec.publicKey.export({ type: 'spki', format: 'pem' })
    const unsigned = `${part({ alg: 'none' })}.${payload}`
    const hmac = `${part({ alg: 'HS256' })}.${payload}`
    const jwk = { ...stranger.publicKey.export({ format: 'jwk' }) }
    const zeros = Buffer.alloc(64).toString('base64url')
    const der = signBytes('sha256', Buffer.from(`${header}.${payload}`), ec.privateKey).toString('base64url')
    const wrong: { readonly [name: string]: string } = {
      'of nobody': `${unsigned}.`,
      'of nobody, with one': `${unsigned}.${signature}`,
      'signed with the public key as an HMAC secret': `${hmac}.${createHmac('sha256', pem).update(hmac).digest('base64url')}`,
      'of zeros': `${header}.${payload}.${zeros}`,
      'in another form': `${header}.${payload}.${der}`,
      'of another payload': `${header}.${part({ ...usual(), sub: 'system:serviceaccount:default:asked' })}.${signature}`,
      'by a stranger': await signed(usual(), stranger.privateKey),
      'signed with an unknown key embedded in the token': await signed(usual(), stranger.privateKey, {
        alg: 'ES256',
        jwk,
      }),
      'signed with an unknown key that the token links to': await signed(usual(), stranger.privateKey, {
        alg: 'ES256',
        jku: 'https://127.0.0.1:1/keys',
      }),
      'a key ID that is a file path': await signed(usual(), ec.privateKey, { alg: 'ES256', kid: '../../dev/null' }),
      'signed with another RSA scheme': await signed(usual(), rsa.privateKey, { alg: 'PS256' }),
      'with more': `${good}A`,
      'with another part': `${good}.x`,
      'with padding': `${good}==`,
      cut: good.slice(0, -2),
      'with changed last bits of the signature': `${good.slice(0, -1)}${lastBitsChanged(good.at(-1)!)}`,
      'of nothing': '..',
    }
    for (const [name, token] of Object.entries(wrong)) assert.equal(await statusWith(token), 401, name)
    assert.equal(await statusWith(good), 200)
  })

  it('tokens are rejected after any mutation', async () => {
    const good = await signed(usual())
    const client = server.client('')
    for (let i = 0; i < 200; i++) {
      const at = Math.floor((i * good.length) / 200)
      const other = `${good.slice(0, at)}${good[at] === 'A' ? 'B' : 'A'}${good.slice(at + 1)}`
      const { status } = await client.get('/api', { authorization: `Bearer ${other}` })
      assert.equal(status, 401, `character ${at}`)
    }
  })
})

/** Changes an unused bit in the last character of a signature. Four of the six bits of this character are unused. */
function lastBitsChanged(last: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return letters[letters.indexOf(last) ^ 1]!
}

describe('TokenReviews for service account tokens', () => {
  it('a TokenReview returns the matching audiences for every kind of token', async () => {
    await make(accounts, { metadata: { name: 'reviewed' } })
    const token = await tokenOf('reviewed', { audiences: ['vault', 'here'] })
    assert.deepEqual((await review(token)).audiences, ['here'])
    assert.deepEqual((await review(token, ['x', 'vault'])).audiences, ['vault'])
    const { authenticated, user, error } = await review(token, ['x'])
    assert.deepEqual([authenticated, user], [undefined, {}])
    assert.match(error, /token audiences \["vault" "here"\] is invalid for the target audiences \["x"\]/)
    assert.deepEqual((await review('alice-token')).audiences, ['here', 'there'])
    assert.deepEqual((await review('alice-token', ['there', 'x'])).audiences, ['there'])
    assert.equal((await review('alice-token', ['x'])).authenticated, undefined)
  })

  it('a TokenReview is limited in size and never returns an anonymous user', async () => {
    const token = await tokenOf('reviewed')
    const many = Array.from({ length: 10_000 }, (_, i) => `audience-${i}`)
    const { error } = await review(token, many)
    assert.ok(error.length < 5_000)
    assert.deepEqual((await review(token, [...many, 'there'])).audiences, ['there'])
    for (const odd of [' ', ' x', '\t']) assert.equal((await review(odd)).authenticated, undefined, JSON.stringify(odd))
  })
})

describe('token verification by other parties', () => {
  it('other parties can verify tokens with the published configuration and keys', async () => {
    const configuration = await admin.get('/.well-known/openid-configuration')
    assert.deepEqual(configuration.body, {
      issuer,
      jwks_uri: 'https://keys.example.com/all',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256'],
    })
    const keys = await admin.get('/openid/v1/jwks')
    assert.equal(keys.headers['content-type'], 'application/jwk-set+json')
    assert.match(String(keys.headers['cache-control']), /max-age=3600/)
    for (const key of keys.body.keys) assert.deepEqual([key.d, key.p, key.k], [undefined, undefined, undefined])
    await make(accounts, { metadata: { name: 'published' } })
    const token = await tokenOf('published')
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys.body), { issuer, audience: 'there' })
    assert.equal(payload.sub, 'system:serviceaccount:default:published')
  })

  it('reading the published configuration and keys requires permission', async () => {
    for (const path of ['/.well-known/openid-configuration', '/openid/v1/jwks']) {
      assert.equal((await server.client('').get(path)).status, 403)
      assert.equal((await server.client(await tokenOf('published')).get(path)).status, 200)
      assert.equal((await admin.post(path, {})).status, 405)
    }
    assert.ok((await admin.get('/')).body.paths.includes('/openid/v1/jwks'))
  })
})

it('metrics count the use of tokens without disclosing them', async () => {
  const { text } = await admin.get('/metrics')
  assert.match(text, /^serviceaccount_valid_tokens_total [1-9]/m)
  assert.match(text, /^serviceaccount_legacy_tokens_total 1$/m)
  assert.ok(canaries.length > 10)
  for (const canary of canaries) {
    assert.ok(!text.includes(canary), 'a token is in the metrics')
    assert.ok(!server.output().includes(canary), 'a token is in the log')
  }
  assert.doesNotMatch(server.output(), /PRIVATE KEY|eyJ/)
})

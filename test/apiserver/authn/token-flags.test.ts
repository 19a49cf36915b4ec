/** Tests the flags for service account tokens: startup errors and default keys. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { HttpClient } from '../../support/http-client.ts'
import { makeIdentity } from '../../support/identities.ts'
import { type Restartable, serve } from '../../support/in-process.ts'
import { startFailing } from '../../support/start-failing.ts'

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const publicPem = ec.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
const shortPem = short.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const locked = ec.privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'canary-phrase' })
  .toString()

const refusals: readonly (readonly [flags: string, file: string, told: RegExp])[] = [
  ['--service-account-key-file=FILE', 'nothing', /--service-account-key-file: .*no PEM key found/],
  ['--service-account-key-file=FILE', publicPem, /none of the files contains a private key for signing tokens/],
  ['--service-account-key-file=FILE', locked, /key 1: it is encrypted/],
  ['--service-account-key-file=FILE', shortPem, /key 1: an RSA key with 1024 bits is too short/],
  ['--service-account-key-file=/no/such/file', '', /--service-account-key-file: cannot read/],
  ['--service-account-signing-key-file=FILE', publicPem, /contains no private key/],
  ['--service-account-issuer=https:// a', '', /--service-account-issuer: .* contains a colon but is not a URL/],
  ['--service-account-max-token-expiration=59m', '', /must be between 1h and 2\^32 seconds/],
  ['--service-account-max-token-expiration=long', '', /is not a duration/],
  ['--service-account-jwks-uri=http://a/b', '', /is not an https URL/],
  ['--service-account-lookup=maybe', '', /is neither true nor false/],
]

test('an invalid service account key prevents startup, and the one-line error does not contain the key', async (t) => {
  for (const [flag, text, expected] of refusals) {
    const { code, errors } = await startFailing(t, (directory) => {
      const file = join(directory, 'keys.pem')
      writeFileSync(file, text)
      return [flag.replace('FILE', file)]
    })
    assert.equal(code, 1, flag)
    assert.match(errors, expected)
    assert.equal(errors.trim().split('\n').length, 1, errors)
    assert.doesNotMatch(errors, /BEGIN|MI[IG]|canary/)
  }
})

const accounts = '/api/v1/namespaces/default/serviceaccounts'

async function tokenFrom(client: HttpClient): Promise<string> {
  await client.post(accounts, { metadata: { name: 'a' } })
  const { body, status, text } = await client.post(`${accounts}/a/token`, {})
  assert.equal(status, 201, text)
  return body.status.token
}

/** Returns a token that is not bound to an existing Secret or account. */
async function unheldToken(): Promise<string> {
  const claims = {
    iss: 'orch/serviceaccount',
    sub: 'system:serviceaccount:default:nobody',
    'orch.io/serviceaccount/namespace': 'default',
    'orch.io/serviceaccount/secret.name': 'nothing',
    'orch.io/serviceaccount/service-account.name': 'nobody',
    'orch.io/serviceaccount/service-account.uid': 'none',
  }
  return await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(ec.privateKey)
}

const works = async (server: Restartable, token: string) => (await server.client(token).get('/api')).status === 200

test('the default signing key is stored, and its tokens stay valid after another key is configured', async (t) => {
  const server = await serve(t)
  const first = await tokenFrom(server.client())
  assert.equal(decodeJwt(first).iss, 'https://orch.default.svc')
  await server.stop()
  await server.restart()
  assert.ok(await works(server, first))
  const file = join(server.directory, 'signing.pem')
  writeFileSync(file, ec.privateKey.export({ type: 'sec1', format: 'pem' }))
  await server.stop()
  await server.restart([`--service-account-signing-key-file=${file}`])
  const second = await tokenFrom(server.client())
  assert.notEqual(decodeProtectedHeader(first).kid, decodeProtectedHeader(second).kid)
  assert.deepEqual([await works(server, first), await works(server, second)], [true, true])
  assert.equal(await works(server, await unheldToken()), false)
  await server.stop()
  await server.restart([
    `--service-account-key-file=${file}`,
    '--service-account-issuer=kept',
    '--api-audiences=here',
    '--service-account-lookup=false',
    '--service-account-extend-token-expiration=false',
  ])
  assert.deepEqual([await works(server, first), await works(server, second)], [false, false])
  const third = await tokenFrom(server.client())
  assert.deepEqual([decodeJwt(third).iss, decodeJwt(third).aud, await works(server, third)], ['kept', ['here'], true])
  assert.ok(await works(server, await unheldToken()))
  // The server does not publish the keys, because the issuer is not a URL.
  assert.equal((await server.client().get('/openid/v1/jwks')).status, 404)
})

test('without a signing key, tokens are signed with the configured serving key', async (t) => {
  const { certificate, key } = await makeIdentity({
    commonName: 'served',
    usages: ['server auth'],
    names: { dns: ['localhost'], ips: ['127.0.0.1'] },
  })
  const first = await serve(t)
  const certFile = join(first.directory, 'own.crt')
  const keyFile = join(first.directory, 'own.key')
  writeFileSync(certFile, certificate)
  writeFileSync(keyFile, key, { mode: 0o600 })
  await first.stop()
  await first.restart([`--tls-cert-file=${certFile}`, `--tls-private-key-file=${keyFile}`])
  const client = new HttpClient({ port: first.port, token: 'admin-token', ca: certificate })
  t.after(async () => client.close())
  const { keys } = (await client.get('/openid/v1/jwks')).body
  const { kid } = decodeProtectedHeader(await tokenFrom(client))
  assert.deepEqual(
    keys.map((each: { kid: string }) => each.kid),
    [kid],
  )
})

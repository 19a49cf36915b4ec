/**
 * Tests the renewal of ID tokens. A real provider issues the new token, the new token is stored in the kubeconfig, and
 * only one program at a time renews a token.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { parseConfigYaml } from '../../src/client/node/config-yaml.ts'
import { endOfFile } from '../support/end-of-file.ts'
import { serve } from '../support/in-process.ts'
import { clientId, clientSecret, OpenidProvider } from '../support/openid-provider.ts'
import { orchctl } from '../support/orchctl.ts'
import type { Served } from '../support/server.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-oidc-'))
const owner = endOfFile()
owner.after(() => rmSync(directory, { recursive: true, force: true }))

let provider: OpenidProvider
let server: Served
before(async () => {
  provider = await OpenidProvider.start(owner)
  const authority = join(directory, 'ca.crt')
  writeFileSync(authority, provider.authority.certificate)
  server = await serve(owner, [
    `--oidc-issuer-url=${provider.issuer}`,
    `--oidc-client-id=${clientId}`,
    `--oidc-ca-file=${authority}`,
    '--oidc-username-claim=email',
  ])
})

const carol = { sub: 'carol', email: 'carol@example.com', email_verified: true }
const base64 = (text: string) => Buffer.from(text).toString('base64')

function writeConfig(name: string, tokens: object): string {
  const path = join(directory, name)
  const config = {
    'client-id': clientId,
    'client-secret': clientSecret,
    'idp-issuer-url': provider.issuer,
    'idp-certificate-authority-data': base64(provider.authority.certificate),
    ...tokens,
  }
  const { url: address } = server
  const content = {
    clusters: [
      {
        name: 'c',
        cluster: { server: address, 'certificate-authority-data': base64(server.credentials().authority!) },
      },
    ],
    users: [
      { name: 'other', user: { token: 'untouched' } },
      { name: 'u', user: { 'auth-provider': { name: 'oidc', config } } },
    ],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(path, JSON.stringify(content))
  return path
}

interface Kept {
  readonly users: { readonly user: { readonly [field: string]: unknown } }[]
}

function keptIn(path: string): { [field: string]: string } {
  const { users } = parseConfigYaml(path, readFileSync(path, 'utf8')) as unknown as Kept
  assert.deepEqual(users[0]?.user, { token: 'untouched' })
  return (users[1]!.user['auth-provider'] as { config: { [field: string]: string } }).config
}

const whoami = async (path: string) => await orchctl(['auth', 'whoami', `--kubeconfig=${path}`])
const refreshes = () => provider.paths.filter((path) => path === '/token').length

/** Returns an expired ID token and a refresh token. */
async function expired(): Promise<{ 'id-token': string; 'refresh-token': string }> {
  const { refreshToken } = await provider.loginForLong(carol)
  const past = Math.floor(Date.now() / 1000) - 60
  return {
    'id-token': await provider.sign({ ...carol, iss: provider.issuer, aud: clientId, exp: past }),
    'refresh-token': refreshToken,
  }
}

test('an expired OIDC token is renewed, used and stored', async () => {
  const path = writeConfig('expired', await expired())
  const { code, stdout, stderr } = await whoami(path)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /carol@example.com/)
  const keptConfig = keptIn(path)
  const refreshCount = refreshes()
  assert.equal((await whoami(path)).code, 0)
  assert.equal(refreshes(), refreshCount, 'the token that was kept is used')
  assert.equal(keptIn(path)['id-token'], keptConfig['id-token'])
})

test('if several programs run concurrently, only one of them renews the OIDC token, and all use the new token', async () => {
  const path = writeConfig('shared', await expired())
  const refreshCount = refreshes()
  const ran = await Promise.all(Array.from({ length: 4 }, () => whoami(path)))
  assert.deepEqual(
    ran.map(({ code }) => code),
    [0, 0, 0, 0],
    ran.map(({ stderr }) => stderr).join(''),
  )
  assert.equal(refreshes(), refreshCount + 1)
})

test('a token that cannot be renewed is reported without secrets', async () => {
  const { 'id-token': idToken } = await expired()
  const without = await whoami(writeConfig('without', { 'id-token': idToken }))
  assert.match(without.stderr, /user "u": the id-token has expired and there is no refresh-token: log in again/)
  const refused = await whoami(writeConfig('refused', { 'id-token': idToken, 'refresh-token': 'canary-refresh' }))
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /cannot renew the id-token for user "u" at https:\S+: the service responded with status 400/,
  )
  assert.ok(!/canary/.test(refused.stderr))
})

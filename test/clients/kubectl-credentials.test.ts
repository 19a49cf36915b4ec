/** Tests kubectl with each type of credential that kubectl supports, and checks which user the server authenticates. */
import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../api/pki/openssl.ts'
import { authenticatedUser, until } from '../support/authenticated-user.ts'
import { asIssuer, makeIdentity, pairOf } from '../support/identities.ts'
import { type Restartable, serve } from '../support/in-process.ts'
import { clientId, OpenidProvider } from '../support/openid-provider.ts'
import { caOf } from '../support/raw-http.ts'
import { type Ran, runCommand } from '../support/run-command.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Returns the user that the server authenticates for this kubeconfig user. */
async function ask(directory: string, server: Restartable, user: object, flags: readonly string[] = []): Promise<Ran> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority-data': base64(caOf(server)) } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  const file = join(directory, 'config')
  const body = join(directory, 'body')
  writeFileSync(file, JSON.stringify(config))
  writeFileSync(body, '{"apiVersion":"ops.orch.io/v1","kind":"WhoAmI"}')
  const question = ['create', '--raw', '/apis/ops.orch.io/v1/whoamis', '-f', body]
  return await runCommand('kubectl', [`--kubeconfig=${file}`, ...flags, ...question], { input: '' })
}

test('kubectl authenticates with every type of credential', { timeout: 300_000 }, async (t) => {
  const directory = temporaryDirectory(t)
  const provider = await OpenidProvider.start(t)
  const server = await serve(t, [
    `--oidc-issuer-url=${provider.issuer}`,
    `--oidc-client-id=${clientId}`,
    `--oidc-ca-file=${provider.authority.certificateFile}`,
    '--oidc-username-prefix=-',
  ])
  const issuer = asIssuer(pairOf(server, 'ca'))
  const carl = await makeIdentity({ commonName: 'carl', organizations: ['dev'], usages: ['client auth'], issuer })
  const idToken = await provider.login({ sub: 'olga' })
  await until(
    () => authenticatedUser(server, { token: idToken }),
    ({ status }) => status === 201,
  )

  const who = async (user: object, flags: readonly string[] = []) => {
    const { code, stdout, stderr } = await ask(directory, server, user, flags)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout).status.user
  }
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }

  await t.test('kubectl authenticates with a certificate from inline data and from files', async () => {
    const data = { 'client-certificate-data': base64(carl.certificate), 'client-key-data': base64(carl.key) }
    assert.equal(await who(data), 'carl')
    const named = { 'client-certificate': file('carl.crt', carl.certificate), 'client-key': file('carl.key', carl.key) }
    assert.equal(await who(named), 'carl')
  })

  await t.test('kubectl authenticates with a token and with a token file', async () => {
    assert.equal(await who({ token: 'alice-token' }), 'alice')
    assert.equal(await who({ tokenFile: file('token', 'bob-token\n') }), 'bob')
    assert.equal(await who({}, ['--token=alice-token']), 'alice')
    assert.equal(await who({ token: 'admin-token' }, ['--as=joe', '--as-group=dev']), 'joe')
    const wrong = await ask(directory, server, { token: 'wrong' })
    assert.match(wrong.stderr, /You must be logged in to the server/)
  })

  await t.test('kubectl authenticates with an exec plugin that returns a token or a certificate', async () => {
    // The API version that every kubectl supports.
    const apiVersion = 'client.authentication.k8s.io/v1beta1'
    const plugin = (name: string, status: object) => {
      const answer = JSON.stringify({ apiVersion, kind: 'ExecCredential', status })
      const command = file(name, `#!/bin/sh\ncat <<'EOF'\n${answer}\nEOF\n`)
      chmodSync(command, 0o700)
      return { exec: { apiVersion, command, interactiveMode: 'Never' } }
    }
    assert.equal(await who(plugin('with-token', { token: 'alice-token' })), 'alice')
    const pair = { clientCertificateData: carl.certificate, clientKeyData: carl.key }
    assert.equal(await who(plugin('with-pair', pair)), 'carl')
  })

  await t.test('kubectl authenticates with an OpenID Connect token and with the oidc auth provider', async () => {
    assert.equal(await who({ token: idToken }), 'olga')
    const config = { 'idp-issuer-url': provider.issuer, 'client-id': clientId, 'id-token': idToken }
    assert.equal(await who({ 'auth-provider': { name: 'oidc', config } }), 'olga')
  })

  await t.test('the server rejects requests from kubectl with a user name and password', async () => {
    const { code, stderr } = await ask(directory, server, { username: 'admin', password: 'admin-token' })
    assert.notEqual(code, 0)
    assert.match(stderr, /User "system:anonymous" cannot create resource "whoamis"/)
  })

  await t.test('kubectl prints a warning if its certificate expires soon', async () => {
    const hours = 60 * 60 * 1000
    const soon = await makeIdentity({
      commonName: 'carl',
      usages: ['client auth'],
      issuer,
      from: -99 * hours,
      to: hours,
    })
    const user = { 'client-certificate-data': base64(soon.certificate), 'client-key-data': base64(soon.key) }
    const { code, stderr } = await ask(directory, server, user)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /Warning: the client certificate expires at .*: renew it/)
  })

  assert.doesNotMatch(server.output(), /-token| error /)
})

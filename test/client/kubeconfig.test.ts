/** Tests how kubeconfigs are found and merged, and how errors in kubeconfigs are reported. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parseConfigYaml } from '../../src/client/node/config-yaml.ts'
import { type ConfigChoice, readClientConfig } from '../../src/client/node/kubeconfig.ts'
import { usualFiles } from '../../src/client/node/kubeconfig-files.ts'
import { adminKubeconfig } from '../../src/client/node/kubeconfig-write.ts'
import { makeIdentity } from '../support/identities.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-config-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const server = 'https://127.0.0.1:6443'
const one = await makeIdentity({ commonName: 'one', usages: ['client auth'] })
const two = await makeIdentity({ commonName: 'two', usages: ['client auth'] })
const base64 = (text: string) => Buffer.from(text).toString('base64')

function file(name: string, content: unknown): string {
  const path = join(directory, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

function config(cluster: object, user: object, more: object = {}): object {
  return {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
    ...more,
  }
}

function read(choice: Omit<ConfigChoice, 'parse'>) {
  return readClientConfig({ ...choice, parse: parseConfigYaml })
}

test('a kubeconfig written by the server can be parsed', () => {
  const { certificate, key } = one
  const text = adminKubeconfig({ cluster: 'orch', server, authority: two.certificate, certificate, key })
  const { transport, namespace } = read({ files: [file('admin', text)] })
  assert.deepEqual(transport, { server, authority: two.certificate, certificate: one })
  assert.equal(namespace, undefined)
})

test('file paths in a kubeconfig are relative to the kubeconfig, and inline data takes precedence', async () => {
  for (const [name, text] of [
    ['ca.crt', two.certificate],
    ['u.crt', one.certificate],
    ['u.key', one.key],
    ['t', 'abc\n'],
  ])
    file(name!, text)
  const user = {
    'client-certificate': 'u.crt',
    'client-key': 'none',
    'client-key-data': base64(one.key),
    token: 'not-this',
    tokenFile: 't',
  }
  const files = [file('named', config({ server, 'certificate-authority': 'ca.crt' }, user))]
  const { transport } = read({ files })
  assert.deepEqual([transport.authority, transport.certificate], [two.certificate, one])
  assert.equal(await transport.token!(), 'abc')
  file('t', 'renewed')
  assert.equal(await transport.token!(), 'renewed')
})

test('if several kubeconfig files set a value, the first file takes precedence', async () => {
  const first = file('first', { contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'n' } }] })
  const second = file('second', config({ server }, { token: 'second' }))
  const third = file('third', config({ server: 'https://third' }, { token: 'third' }, { 'current-context': 'y' }))
  const merged = read({ files: [first, join(directory, 'none'), second, third] })
  assert.deepEqual([merged.transport.server, merged.namespace], [server, 'n'])
  assert.equal(await merged.transport.token!(), 'second')
  assert.equal(read({ files: [third], context: 'x' }).transport.server, 'https://third')
  assert.equal(read({ files: [second], server: 'https://other' }).transport.server, 'https://other')
})

test('a kubeconfig needs no current context if a server or cluster is specified', () => {
  const alone = file('current-less', { clusters: [{ name: 'c', cluster: { server } }] })
  const none = join(directory, 'none')
  assert.equal(read({ files: [alone], server: 'https://other' }).transport.server, 'https://other')
  assert.equal(read({ files: [alone], clusterName: 'c' }).transport.server, server)
  assert.equal(read({ files: [none], server: 'https://other' }).transport.server, 'https://other')
  assert.throws(() => read({ files: [none], clusterName: 'c' }), /no kubeconfig found/)
  assert.throws(() => read({ files: [alone] }), /no current-context is set/)
  assert.throws(() => read({ files: [none], server: 'https://other', context: 'x' }), /no kubeconfig found/)
})

test('the default kubeconfig locations are searched in order', () => {
  const home = join(directory, 'home')
  const at = (KUBECONFIG?: string) => usualFiles({ env: { KUBECONFIG }, home, directory: '/d' })
  assert.deepEqual(at(), ['/d/.orch/admin.kubeconfig'])
  assert.deepEqual(at(''), ['/d/.orch/admin.kubeconfig'])
  assert.deepEqual(at('/a::b:/a'), ['/a', '/d/b'])
  mkdirSync(join(home, '.kube'), { recursive: true })
  writeFileSync(join(home, '.kube/config'), '')
  assert.deepEqual(at(), [join(home, '.kube/config')])
})

const wrong: readonly (readonly [string, unknown, RegExp])[] = [
  ['is no YAML', 'a: [secret', /wrong is not valid YAML: see line \d+$/],
  ['is not an object', '[]', /wrong is not a kubeconfig$/],
  ['is empty', '', /wrong: no current-context is set/],
  [
    'names an unknown context',
    config({}, {}, { 'current-context': 'z' }),
    /wrong: context was not found for specified context: z; known are "[^"]+"/,
  ],
  ['names an unknown cluster', config({}, {}, { clusters: [] }), /wrong: no server found for cluster "c"$/],
  ['has an object in place of a list', config({}, {}, { users: {} }), /wrong: users is not a list of objects$/],
  [
    'has a duplicate name',
    config({}, {}, { users: [{ name: 'u' }, { name: 'u' }] }),
    /users contains "u" more than once$/,
  ],
  ['has no server', config({}, {}), /cluster "c": server is missing$/],
  [
    'has an invalid server address',
    config({ server: 'http://x' }, {}),
    /cluster "c": server is not a URL such as https/,
  ],
  ['has a number as token', config({ server }, { token: 5 }), /user "u": token is not a string$/],
  [
    'names a missing file',
    config({ server }, { tokenFile: 'none' }),
    /user "u": tokenFile names .*none, which does not exist/,
  ],
  [
    'has a certificate without a key',
    config({ server }, { 'client-certificate-data': base64(one.certificate) }),
    /client-key must be specified together$/,
  ],
  [
    'has a key that does not match its certificate',
    config({ server }, { 'client-certificate-data': base64(one.certificate), 'client-key-data': base64(two.key) }),
    /user "u": client-certificate and client-key are not a PEM certificate and its key/,
  ],
  [
    'has an invalid CA',
    config({ server, 'certificate-authority-data': 'secret' }, {}),
    /certificate-authority is not a PEM cert/,
  ],
  [
    'has a plugin without an API version',
    config({ server }, { exec: { command: 'secret' } }),
    /"u": exec: apiVersion is missing$/,
  ],
  [
    'has an invalid proxy address',
    config({ server, 'proxy-url': 'ftp://secret' }, {}),
    /proxy-url is not a URL such as/,
  ],
  [
    'names an unsupported auth provider',
    config({ server }, { 'auth-provider': { name: 'gcp' } }),
    /"gcp" is not supported, only oidc/,
  ],
  [
    'has an invalid boolean',
    config({ server, 'insecure-skip-tls-verify': 'secret' }, {}),
    /-verify is neither true nor false/,
  ],
  [
    'impersonates groups without a user',
    config({ server }, { 'as-groups': ['secret'] }),
    /as-groups is set without impersonating a user/,
  ],
]

for (const [fault, content, expected] of wrong) {
  test(`a kubeconfig that ${fault} is reported without quoting its contents`, () => {
    const files = [file('wrong', content)]
    assert.throws(
      () => read({ files }),
      ({ name, message }: Error) => name === 'ConfigError' && expected.test(message) && !message.includes('secret'),
    )
  })
}

test('a missing kubeconfig is reported', () => {
  assert.throws(
    () => read({ files: ['/nonexistent/a'] }),
    /no kubeconfig found: \/nonexistent\/a: no such file or directory$/,
  )
})

test('overrides take precedence over kubeconfig files, and a server override needs no file', () => {
  const files = [file('overridden', config({ server }, { token: 'from-file' }))]
  const { transport } = read({ files, user: { token: 'from-flag', as: 'alice', 'as-groups': ['a', 'b'] } })
  assert.equal(transport.token?.(), 'from-flag')
  assert.deepEqual(transport.headers, { 'impersonate-user': 'alice', 'impersonate-group': ['a', 'b'] })
  const bare = read({ files: ['/nonexistent/a'], server, cluster: { 'insecure-skip-tls-verify': true } })
  assert.deepEqual(bare, { transport: { server, insecure: true }, namespace: undefined, files: [] })
})

/** Tests credential plugins: how they run, their input, the accepted output, and the lifetime of the credentials. */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { parseConfigYaml } from '../../src/client/node/config-yaml.ts'
import { ExecCredentials } from '../../src/client/node/exec-credentials.ts'
import { HttpTransport } from '../../src/client/node/http-transport.ts'
import { readClientConfig } from '../../src/client/node/kubeconfig.ts'
import { Client } from '../../src/client/requests/client.ts'
import { endOfFile } from '../support/end-of-file.ts'
import { makeIdentity } from '../support/identities.ts'
import { serve } from '../support/in-process.ts'
import { orchctl } from '../support/orchctl.ts'
import { recordingServer } from '../support/recording-server.ts'
import type { Served } from '../support/server.ts'

const apiVersion = 'client.authentication.orch.io/v1'
const directory = mkdtempSync(join(tmpdir(), 'orch-exec-'))
const owner = endOfFile()
owner.after(() => rmSync(directory, { recursive: true, force: true }))

let server: Served
before(async () => {
  server = await serve(owner)
})

let files = 0

/**
 * Creates a plugin that prints the given text, counts its runs in `<path>.runs`, and stores its input in `<path>.told`.
 */
function plugin(output: string, more = ''): string {
  const path = join(directory, `plugin-${++files}`)
  writeFileSync(`${path}.out`, output)
  writeFileSync(
    path,
    `#!/bin/sh\necho run >> ${path}.runs\nprintf '%s' "$ORCH_EXEC_INFO$KUBERNETES_EXEC_INFO" > ${path}.told\n${more}\ncat ${path}.out\n`,
  )
  chmodSync(path, 0o755)
  return path
}

const runsOf = (path: string) => readFileSync(`${path}.runs`, 'utf8').trim().split('\n').length
const toldTo = (path: string) => JSON.parse(readFileSync(`${path}.told`, 'utf8'))

function credential(status: object, more: object = {}): string {
  return JSON.stringify({ kind: 'ExecCredential', apiVersion, status, ...more })
}

const aliceToken = credential({ token: 'alice-token' })

/** Creates a kubeconfig whose user gets credentials from the plugin. */
function config(exec: object, cluster: object = {}, user: object = {}): string {
  const { url, authority } = { url: server.url, authority: server.credentials().authority! }
  const path = join(directory, `config-${++files}`)
  const content = {
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': base64(authority), ...cluster } }],
    users: [{ name: 'u', user: { exec: { apiVersion, interactiveMode: 'Never', ...exec }, ...user } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(path, JSON.stringify(content))
  return path
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

async function whoami(kubeconfig: string, { input = false, args = [] as string[] } = {}) {
  const env = { PATH: process.env.PATH }
  const terminal = { out: false, err: false, input }
  return await orchctl(['auth', 'whoami', `--kubeconfig=${kubeconfig}`, ...args], { env, terminal })
}

async function nameOf(kubeconfig: string, how = {}): Promise<string> {
  const { code, stdout, stderr } = await whoami(kubeconfig, how)
  assert.equal(code, 0, stderr)
  return /alice|admin|bob/.exec(stdout)?.[0] ?? stdout
}

async function refusal(exec: object, how = {}): Promise<string> {
  const { code, stderr } = await whoami(config(exec), how)
  assert.equal(code, 1)
  return stderr
}

test('the token that a credential plugin prints authenticates the user in both API versions and under both profiles', async () => {
  for (const group of ['client.authentication.orch.io', 'client.authentication.k8s.io'])
    for (const version of ['v1', 'v1beta1']) {
      const command = plugin(credential({ token: 'alice-token' }, { apiVersion: `${group}/${version}` }))
      assert.equal(await nameOf(config({ command, apiVersion: `${group}/${version}` })), 'alice')
      assert.deepEqual(toldTo(command), {
        kind: 'ExecCredential',
        apiVersion: `${group}/${version}`,
        spec: { interactive: false },
      })
    }
})

test('a relative credential plugin path is resolved from the kubeconfig, and a bare name is looked up in PATH', async () => {
  mkdirSync(join(directory, 'bin'))
  writeFileSync(join(directory, 'bin/beside'), `#!/bin/sh\necho '${aliceToken}'\n`, { mode: 0o755 })
  assert.equal(await nameOf(config({ command: './bin/beside' })), 'alice')
  assert.match(await refusal({ command: 'beside' }), /cannot run the credential plugin beside: it does not exist/)
})

test('arguments and environment variables in the kubeconfig are passed to the credential plugin', async () => {
  const command = plugin(aliceToken, `printf '%s|' "$@" "$FIRST" "$SECOND" > ${directory}/passed`)
  const env = [
    { name: 'FIRST', value: 'a b' },
    { name: 'SECOND', value: '' },
  ]
  await nameOf(config({ command, args: ['--x', 'y z'], env }))
  assert.equal(readFileSync(join(directory, 'passed'), 'utf8'), '--x|y z|a b||')
})

test('credential plugin output without a kind is accepted in both versions, but the API version is required', async () => {
  for (const version of ['v1', 'v1beta1']) {
    const exec = { apiVersion: `client.authentication.orch.io/${version}` }
    const answer = credential({ token: 'alice-token' }, { ...exec, kind: undefined })
    assert.equal(await nameOf(config({ ...exec, command: plugin(answer) })), 'alice', version)
  }
  const untyped = credential({ token: 'canary' }, { kind: undefined, apiVersion: undefined })
  assert.match(await refusal({ command: plugin(untyped) }), /did not print an ExecCredential in/)
})

test('the error for a credential plugin that is missing, fails or prints invalid output does not contain its output', async () => {
  assert.match(
    await refusal({ command: 'no-such-binary', installHint: 'install it' }),
    /it does not exist\n\ninstall it/,
  )
  const failing = plugin('canary', 'exit 3')
  assert.match(await refusal({ command: failing }), /failed with exit code 3/)
  const wrong: [string, RegExp][] = [
    ['canary', /did not print an ExecCredential as JSON/],
    [
      credential({ token: 'canary' }, { apiVersion: 'client.authentication.orch.io/v1beta1' }),
      /did not print an ExecCredential in/,
    ],
    [credential({ token: 'canary' }, { kind: 'Canary' }), /did not print an ExecCredential in/],
    [JSON.stringify({ kind: 'ExecCredential', apiVersion }), /without a status/],
    [credential({}), /neither a token nor a certificate/],
    [credential({ clientCertificateData: 'canary' }), /only one of clientCertificateData and clientKeyData/],
    [
      credential({ clientCertificateData: 'canary', clientKeyData: 'canary' }),
      /did not print a matching PEM certificate/,
    ],
    [credential({ token: 'canary canary' }), /a token with spaces/],
    [credential({ token: 'canary', expirationTimestamp: 'tomorrow' }), /not in RFC 3339 format/],
    [`"${'canary'.repeat(200_000)}"`, /printed more than 1048576 bytes/],
  ]
  for (const [output, expected] of wrong) {
    const stderr = await refusal({ command: plugin(output) })
    assert.match(stderr, expected)
    assert.ok(!stderr.includes('canary'), stderr)
  }
})

test('the credential plugin configuration in the kubeconfig is validated before the plugin runs', async () => {
  const command = plugin(aliceToken)
  assert.match(await refusal({ command: '' }), /user "u": exec: command is missing/)
  assert.match(await refusal({ command, apiVersion: 'v1' }), /exec: apiVersion is none of/)
  assert.match(await refusal({ command, interactiveMode: '' }), /interactiveMode must be specified/)
  assert.match(await refusal({ command, interactiveMode: 'Foo' }), /interactiveMode is none of Never, IfAvailable/)
  assert.match(await refusal({ command, interactiveMode: 'Always' }), /needs a terminal/)
  assert.ok(!existsSync(`${command}.runs`))
})

test('a credential plugin is informed whether it may prompt, and v1beta1 allows prompts by default if there is a terminal', async () => {
  const command = plugin(credential({ token: 'alice-token' }, { apiVersion: `${apiVersion}beta1` }))
  const beta = { command, apiVersion: `${apiVersion}beta1`, interactiveMode: undefined }
  const interactive = async (exec: object, input: boolean) => {
    await nameOf(config({ ...beta, ...exec }), { input })
    return toldTo(command).spec.interactive
  }
  assert.equal(await interactive({}, true), true)
  assert.equal(await interactive({}, false), false)
  assert.equal(await interactive({ interactiveMode: 'Never' }, true), false)
  assert.equal(await interactive({ interactiveMode: 'Always' }, true), true)
})

test('a credential plugin receives the cluster information if its configuration requests this', async () => {
  const command = plugin(aliceToken)
  const extensions = [{ name: 'client.authentication.orch.io/exec', extension: { audience: 'a' } }]
  await nameOf(config({ command, provideClusterInfo: true }, { extensions }))
  assert.deepEqual(toldTo(command).spec.cluster, {
    server: server.url,
    'certificate-authority-data': base64(server.credentials().authority!),
    config: { audience: 'a' },
  })
  await nameOf(config({ command }, { extensions }))
  assert.equal(toldTo(command).spec.cluster, undefined)
})

test('a token from a flag or the kubeconfig takes precedence over the credential plugin', async () => {
  const command = plugin(aliceToken)
  assert.equal(await nameOf(config({ command }), { args: ['--token=bob-token'] }), 'bob')
  assert.ok(!existsSync(`${command}.runs`))
  assert.equal(await nameOf(config({ command }, {}, { token: 'bob-token' })), 'bob')
})

function transportOf(kubeconfig: string): HttpTransport {
  return new HttpTransport(readClientConfig({ files: [kubeconfig], parse: parseConfigYaml }).transport)
}

test('plugin credentials are used until they expire or are rejected, and concurrent requests share one plugin run', async (t) => {
  const {
    url,
    authority,
    requests: asked,
  } = await recordingServer(t, ({ headers }, response) => {
    response.statusCode = headers.authorization === 'Bearer old' ? 401 : 200
    response.end('{}')
  })
  const command = plugin(credential({ token: 'first' }))
  const http = transportOf(config({ command }, { server: url, 'certificate-authority-data': base64(authority) }))
  t.after(async () => http.close())
  const client = new Client(http.send)
  const read = async () => await client.read('/x')
  await Promise.all([read(), read(), read()])
  await read()
  assert.equal(runsOf(command), 1)
  assert.deepEqual([...new Set(asked.map(({ headers }) => headers.authorization))], ['Bearer first'])

  // The client replaces the rejected credentials and sends the request once more.
  const other = plugin(
    credential({ token: 'old' }),
    `[ -e ${directory}/renewed ] && echo '${credential({ token: 'new' })}' && exit; touch ${directory}/renewed`,
  )
  const second = transportOf(
    config({ command: other }, { server: url, 'certificate-authority-data': base64(authority) }),
  )
  t.after(async () => second.close())
  await new Client(second.send).read('/x')
  assert.equal(runsOf(other), 2)
  assert.equal(asked.at(-1)?.headers.authorization, 'Bearer new')
})

test('if the server also rejects new plugin credentials, the client returns the 401', async () => {
  const command = plugin(credential({ token: 'nobody' }))
  const { code, stderr } = await whoami(config({ command }))
  assert.equal(code, 1)
  assert.match(stderr, /Unauthorized|logged in/)
  assert.equal(runsOf(command), 2)
})

const pluginAt = (command: string) => ({
  command,
  args: [],
  env: {},
  apiVersion,
  infoVariable: 'ORCH_EXEC_INFO',
  installHint: undefined,
  provideClusterInfo: false,
  interactiveMode: 'Never' as const,
})

test('a credential plugin that does not exit is killed together with its child processes', async (t) => {
  const command = plugin(aliceToken, 'sleep 600 & echo $! > "$0.started"; wait')
  // Kills the child process, which would otherwise keep the output of this process open.
  t.after(() => process.kill(Number(readFileSync(`${command}.started`, 'utf8'))))
  const source = new ExecCredentials(pluginAt(command), { cluster: {}, interactive: false, timeoutMs: 300 })
  await assert.rejects(source.current(new AbortController().signal), /did not exit within 0\.3 s$/)
})

test('the wall clock determines whether plugin credentials have expired', async () => {
  let now = Date.parse('2030-01-01T00:00:00Z')
  const clock = { now: () => now, monotonic: () => now }
  const command = plugin(credential({ token: 't', expirationTimestamp: '2030-01-01T00:00:05Z' }))
  const { signal } = new AbortController()
  const source = new ExecCredentials(pluginAt(command), { cluster: {}, interactive: false, clock })
  for (const [seconds, runs] of [
    [0, 1],
    [4, 1],
    [6, 2],
  ] as const) {
    now = Date.parse('2030-01-01T00:00:00Z') + seconds * 1000
    await source.current(signal)
    assert.equal(runsOf(command), runs)
  }
})

test('a new client certificate is used on a new connection', async (t) => {
  const [one, two] = await Promise.all(
    ['one', 'two'].map((commonName) => makeIdentity({ commonName, usages: ['client auth'] })),
  )
  const print = ({ certificate, key }: typeof one & object) =>
    credential({ clientCertificateData: certificate, clientKeyData: key, expirationTimestamp: '2020-01-01T00:00:00Z' })
  const { url, authority, requests: asked } = await recordingServer(t)
  const command = plugin(print(one!))
  const http = transportOf(config({ command }, { server: url, 'certificate-authority-data': base64(authority) }))
  t.after(async () => http.close())
  const client = new Client(http.send)
  await client.read('/x')
  await client.read('/x')
  writeFileSync(`${command}.out`, print(two!))
  await client.read('/x')
  assert.deepEqual(
    asked.map(({ certificate, connection }) => [certificate, connection]),
    [
      ['one', 1],
      ['one', 1],
      ['two', 2],
    ],
  )
})

/**
 * Tests that a client with only a token and the address of a real `orch up` can join its cluster over TLS. The program
 * `orch` creates a token, joins a node and reports an incorrect token. All other commands run in this process.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { parseFlags, UsageError } from '../../../src/base/flags/flags.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { parserFor } from '../../../src/client/node/config-parser.ts'
import { HttpTransport } from '../../../src/client/node/http-transport.ts'
import { readClientConfig } from '../../../src/client/node/kubeconfig.ts'
import { parsePlainYaml } from '../../../src/client/node/plain-yaml.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { nodeAgentFlags } from '../../../src/server/flags/node-agent.ts'
import { startNodeAgent } from '../../../src/server/node-agent/node-agent.ts'
import { NodeCredentials } from '../../../src/server/node-agent/node-credentials.ts'
import { joinFlags, join as runJoin } from '../../../src/tools/joining/join.ts'
import { JoinError } from '../../../src/tools/joining/join-error.ts'
import { tokenCommand } from '../../../src/tools/joining/token-commands.ts'
import { orchctl } from '../../support/orchctl.ts'
import { type Ran, runCommand } from '../../support/run-command.ts'
import { root, startUp } from '../../support/server.ts'
import { openTestLog } from '../../support/test-log.ts'
import { until } from '../../support/until.ts'

type Run = (command: 'join' | 'token', ...args: string[]) => Promise<Ran>

const orch: Run = (...args) => runCommand(join(root, 'bin/orch'), args)

/** Runs a command in this process, and returns what the program would print. */
const orchHere: Run = async (command, ...args) => {
  let stdout = ''
  let stderr = ''
  try {
    if (command === 'token') await tokenCommand(args, (line) => (stdout += `${line}\n`))
    else await runJoin(parseFlags(joinFlags, args), (line) => (stderr += `${line}\n`))
    return { code: 0, stdout, stderr }
  } catch (error) {
    // The program reports any other error as a bug.
    if (!(error instanceof UsageError || error instanceof JoinError)) throw error
    return { code: 1, stdout, stderr: `${stderr}orch: ${error.message}\n` }
  }
}

interface Request {
  readonly spec: { readonly signerName: string }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('nodes and users can join a cluster', async (t) => {
  const server = await startUp(t, ['--allowed-proxy-cidrs=127.0.0.1/32'])
  const config = `--kubeconfig=${server.directory}/admin.kubeconfig`
  const admin = server.client()
  const made = await orch('token', 'create', config, '--ttl=1h', '--description=for n1')
  assert.equal(made.code, 0, made.stderr)
  const [, url = '', token = '', hash = ''] =
    /^orch join --server (\S+) --token (\S+) --ca-cert-hash (\S+) --node-name NAME --kubeconfig FILE\n$/.exec(
      made.stdout,
    ) ?? []
  const [id = ''] = token.split('.')
  const out = (name: string) => join(server.directory, `${name}.kubeconfig`)
  const joinWith = (run: Run, name: string, ...flags: string[]) =>
    run('join', `--server=${url}`, `--node-name=${name}`, `--kubeconfig=${out(name)}`, ...flags)
  const joinAs = (name: string, ...flags: string[]) => joinWith(orchHere, name, ...flags)

  await t.test('without credentials, a client can read cluster-info but no other objects', async () => {
    const { token: _, ...bare } = server.credentials()
    const transport = new HttpTransport(bare)
    const stranger = new Client(transport.send)
    const path = '/api/v1/namespaces/kube-public/configmaps'
    // The server allows anonymous clients to read the ConfigMap as soon as the server is ready.
    const { data } = await until(
      () => stranger.read<{ data: { kubeconfig: string } }>(`${path}/cluster-info`).catch(() => ({ data: undefined })),
      ({ data }) => data !== undefined,
    )
    assert.ok(data !== undefined)
    assert.ok(parsePlainYaml(data.kubeconfig) !== undefined)
    assert.match(data.kubeconfig, new RegExp(`server: "${server.url}"`))
    for (const other of [path, '/api/v1/namespaces/kube-system/secrets'])
      await assert.rejects(stranger.read(other), { code: 403 })
    transport.close()
  })

  await t.test('the join command creates a working kubeconfig that only its owner can read', async () => {
    const { code, stderr } = await joinWith(orch, 'n1', `--token=${token}`, `--ca-cert-hash=${hash}`)
    assert.equal(code, 0, stderr)
    assert.equal(statSync(out('n1')).mode & 0o777, 0o600)
    const who = await orchctl([`--kubeconfig=${out('n1')}`, 'auth', 'whoami'])
    assert.match(who.stdout, /system:node:n1[\s\S]*system:nodes/)
  })

  await t.test('a node that joined with a token cannot read a Secret by binding a pod to itself', async () => {
    await admin.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'private' }, stringData: { a: 'b' } })
    const config = await readClientConfig({ files: [out('n1')], parse: await parserFor([out('n1')]) })
    const transport = new HttpTransport(config.transport)
    const node = new Client(transport.send)
    const volumes = [{ name: 'v', secret: { secretName: 'private' } }]
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'own' } }
    const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], volumes }
    const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true }
    const made = node.create(pods, { ...pod, metadata: { ...pod.metadata, namespace: 'default' }, spec } as ApiObject)
    await assert.rejects(made, { code: 403, message: /can only create mirror pods/ })
    await assert.rejects(node.read('/api/v1/namespaces/default/secrets/private'), { code: 403 })
    transport.close()
  })

  await t.test('a token for one node cannot be used to join as another node', async () => {
    const bound = await orchHere('token', 'create', config, '--node-name=n4')
    assert.match(bound.stdout, / --node-name n4 /)
    const [, boundToken = ''] = /--token (\S+)/.exec(bound.stdout) ?? []
    const refused = await joinAs('n5', `--token=${boundToken}`, `--ca-cert-hash=${hash}`)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /the bootstrap token is not for the node n5/)
    const joined = await joinAs('n4', `--token=${boundToken}`, `--ca-cert-hash=${hash}`)
    assert.equal(joined.code, 0, joined.stderr)
  })

  await t.test('if no CA hash is specified, the join command verifies only the token and reports this', async () => {
    const { code, stderr } = await joinAs('n2', `--token=${token}`)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /--ca-cert-hash is not set/)
  })

  await t.test(
    'a wrong token secret, a wrong hash and an existing file are each rejected with a one-line error',
    async () => {
      const wrong = `${id}.ffffffffffffffff`
      for (const [run, flags, message] of [
        [orch, ['n3', `--token=${wrong}`], /does not match the token/],
        [
          orchHere,
          ['n3', `--token=${token}`, `--ca-cert-hash=sha256:${'0'.repeat(64)}`],
          /does not match --ca-cert-hash/,
        ],
        [orchHere, ['n3', '--token=short'], /a token must have the form/],
        [orchHere, ['n1', `--token=${token}`], /already exists/],
      ] as const) {
        const [name, ...rest] = flags
        const { code, stderr } = await joinWith(run, name, ...rest)
        assert.equal(code, 1)
        assert.match(stderr, message)
        assert.ok(!stderr.includes('ffffffffffffffff') && !stderr.includes('    at '), stderr)
      }
    },
  )

  await t.test(
    'a node agent joins with a token, runs pods, continues with its certificate and renews the certificate',
    async () => {
      const bootstrap = join(server.directory, 'bootstrap.kubeconfig')
      const config = {
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'c',
        clusters: [{ name: 'c', cluster: { server: url } }],
        users: [{ name: 'u', user: { token } }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      }
      writeFileSync(bootstrap, JSON.stringify(config))
      const root = join(server.directory, 'agent')
      const stopping = new AbortController().signal
      let port = ['--port=0']
      const start = (name: string, ...flags: string[]) =>
        startNodeAgent(parseFlags(nodeAgentFlags, [`--name=${name}`, `--root-dir=${root}`, ...port, ...flags]), {
          log: openTestLog(),
          stopping,
        })
      await assert.rejects(start('n9'), /--bootstrap-kubeconfig is required/)
      const agent = await start(
        'n9',
        `--bootstrap-kubeconfig=${bootstrap}`,
        '--node-labels=zone=a',
        '--capacity=pods=7',
      )
      const node = await until(
        async () => (await admin.get('/api/v1/nodes/n9')).body,
        ({ status }) => status?.capacity?.pods === '7',
      )
      assert.equal(node.metadata.labels.zone, 'a')
      const spec = { nodeName: 'n9', containers: [{ name: 'c', image: 'i' }] }
      const pods = '/api/v1/namespaces/default/pods'
      const phaseOf = async (name: string) => (await admin.get(`${pods}/${name}`)).body.status?.phase
      await admin.send(pods, { method: 'POST', body: { metadata: { name: 'p1' }, spec } })
      await until(
        () => phaseOf('p1'),
        (phase) => phase === 'Running',
      )
      // The nodes of `orch up` and other agents have other addresses.
      assert.match((await admin.get(`${pods}/p1`)).body.status.podIP, /^10\.(?:19[2-9]|2\d\d)\./)
      const taken = await joinAs('n9', `--token=${token}`)
      assert.equal(taken.code, 1)
      assert.match(taken.stderr, /was denied: the node n9 exists and its agent is alive/)
      await agent.stop()
      const file = join(root, 'kubeconfig')
      assert.equal(statSync(file).mode & 0o777, 0o600)
      await assert.rejects(start('n8', `--kubeconfig=${file}`), /does not belong to node n8/)
      const files = { nodeName: 'n9', kubeconfig: file, bootstrapKubeconfig: '', timeoutMs: 60_000 }
      const credentials = await NodeCredentials.open(files, { clock: systemClock, log: openTestLog(), stopping })
      const before = credentials.certificate
      await credentials.replace(vendorOf('orch'), new AbortController().signal)
      assert.notEqual(credentials.certificate, before)
      const who = await new Client(credentials.transport.send).read<{ metadata: object }>('/api/v1/nodes/n9')
      assert.ok(who.metadata)
      credentials.transport.close()
      port = [`--port=${await freePort()}`]
      const again = await start('n9')
      await approveServing()
      // The server authenticates as its own user, and the agent asks the server for that user's permissions.
      await until(
        async () => (await admin.get('/api/v1/nodes/n9/proxy/healthz')).text,
        (text) => text === 'ok',
      )
      await admin.send(pods, { method: 'POST', body: { metadata: { name: 'p2' }, spec } })
      await until(
        () => phaseOf('p2'),
        (phase) => phase === 'Running',
      )
      await again.stop()
    },
  )

  /** Approves serving certificates as an administrator would, because the loops do not approve them. */
  async function approveServing() {
    const path = '/apis/certificates.orch.io/v1/certificatesigningrequests'
    const { body } = await until(
      () => admin.get(path),
      ({ body }) => body.items.some(({ spec }: Request) => spec.signerName === vendorOf('orch').signers.nodeServing),
    )
    const { metadata } = body.items.find(
      ({ spec }: Request) => spec.signerName === vendorOf('orch').signers.nodeServing,
    )
    const conditions = [{ type: 'Approved', status: 'True', reason: 'ByHand' }]
    const headers = { 'content-type': 'application/merge-patch+json' }
    const sent = { method: 'PATCH', headers, body: { status: { conditions } } }
    assert.equal((await admin.send(`${path}/${metadata.name}/approval`, sent)).status, 200)
  }

  await t.test(
    'listed tokens show no secrets, and deleted tokens can be used neither to join nor to sign',
    async () => {
      const listed = await orchHere('token', 'list', config)
      assert.match(listed.stdout, new RegExp(`^${id} .*authentication,signing.*for n1$`, 'm'))
      assert.ok(!listed.stdout.includes(token.split('.')[1]!))
      assert.equal((await orchHere('token', 'delete', id, config)).stdout, `deleted token ${id}\n`)
      assert.match((await orchHere('token', 'delete', id, config)).stderr, /token \S+ not found/)
      assert.equal((await server.client(token).get('/api')).status, 401)
      const info = '/api/v1/namespaces/kube-public/configmaps/cluster-info'
      await until(
        async () => (await admin.get(info)).body.data,
        (data) => !(`jws-kubeconfig-${id}` in data),
      )
    },
  )
})

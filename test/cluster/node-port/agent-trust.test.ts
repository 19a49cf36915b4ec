/**
 * Tests mutual authentication between the API server and node agents. The certificate that the server presents to
 * agents grants no API access, and an agent must present a certificate for its node.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:https'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { type CertifiedKey, openAuthority } from '../../../src/api/pki/authority.ts'
import { readSubject } from '../../../src/api/pki/identity.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { localNode } from '../../../src/cluster/node-port/local-nodes.ts'
import { openLocalNodePort } from '../../../src/server/cluster/local-node-port.ts'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'
import { issuePair } from '../../support/issued-pair.ts'
import { TestNode } from '../../support/simulated-node.ts'
import { startProxy } from '../../support/tcp-proxy.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

const api = await startInProcess(allKinds, [])
const pki = join(api.directory, 'data/pki')
after(() => api.stop())
const authority = await openAuthority({ directory: pki, clock: systemClock })
const secrets = '/api/v1/namespaces/default/secrets'
const bare = {
  isReachable: true,
  pods: () => [],
  pod: () => undefined,
  usage: () => ({ startedAt: 0, memoryBytes: 0, pods: [] }),
}

const issue = (commonName: string, organizations: string[] = [], dns: string[] = []) =>
  issuePair(authority, { commonName, organizations, dns })

function write(name: string, text: string): string {
  const file = join(api.directory, name)
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

/**
 * Another server with the same CA, as if the two servers shared an etcd. The flags of this server configure the
 * connections to nodes.
 */
const given = issue('my-servers', ['system:masters'])
const foreign = await openAuthority({ directory: join(api.directory, 'foreign'), clock: systemClock })
const other = await startInProcess(
  allKinds,
  [
    '--tls-san=relayed',
    '--allowed-proxy-cidrs=127.0.0.0/8',
    '--kubelet-require-node-subject=false',
    `--kubelet-client-certificate=${write('client.crt', given.certificate)}`,
    `--kubelet-client-key=${write('client.key', given.key)}`,
    `--kubelet-certificate-authority=${write('foreign.crt', foreign.certificate)}`,
  ],
  async (data) => {
    // Create a data file. Otherwise, the server would find a directory with certificates but without data, and would
    // reject the directory.
    await (await LmdbStore.open({ directory: data })).close()
    cpSync(pki, join(data, 'pki'), { recursive: true })
    // Simulates a file left behind by an earlier version.
    const old = issue('kube-apiserver-kubelet-client', ['system:masters'])
    writeFileSync(join(data, 'pki/node-client.crt'), old.certificate)
    writeFileSync(join(data, 'pki/node-client.key'), old.key, { mode: 0o600 })
    appendFileSync(join(data, '../tokens.csv'), 'posing,system:apiserver-node-client,1\n')
  },
)
after(() => other.stop())

async function askAs({ certificate: cert, key }: CertifiedKey, to: InProcess, path = secrets): Promise<number> {
  const asked = request({ host: '127.0.0.1', port: to.port, path, ca: api.ca, cert, key, agent: false }).end()
  const [response] = await once(asked, 'response')
  response.resume()
  return response.statusCode
}

/** Creates a Node with this name whose agent listens on the given port of the local machine. */
async function addNode(to: InProcess, name: string, port: number) {
  to.server.localNodes.add(localNode({ ...bare, name }, { host: '127.0.0.1', port }))
  assert.equal((await to.client.post('/api/v1/nodes', { metadata: { name } })).status, 201)
}

test('API servers reject the certificate that they present to node agents', async () => {
  const own = await authority.nodeClientCertificate()
  const { commonNames, organizations } = readSubject(new X509Certificate(own.certificate).raw)
  assert.deepEqual([commonNames, organizations], [['system:apiserver-node-client'], []])
  const before = issue('kube-apiserver-kubelet-client', ['system:masters'])
  for (const server of [api, other])
    for (const pair of [own, before]) {
      assert.equal(await askAs(pair, server), 401)
      assert.equal(await askAs(pair, server, '/version'), 401, 'not even as an anonymous user')
    }
  assert.equal(await askAs(issue('someone', ['system:masters']), api), 200)
})

test('no other credential authenticates as the user in the node client certificate', async () => {
  const headers = { authorization: 'Bearer posing' }
  assert.equal((await other.client.send('/version', { headers })).status, 401)
  const review = { spec: { token: 'posing' } }
  const { body } = await other.client.post('/apis/authentication.orch.io/v1/tokenreviews', review)
  assert.notEqual(body.status.authenticated, true)
})

test('the user in the node client certificate may access only the ports of node agents', async () => {
  const isAllowed = async (resource: string, subresource: string, verb = 'create') => {
    const resourceAttributes = { verb, resource, subresource, name: 'n1' }
    const spec = { user: 'system:apiserver-node-client', groups: ['system:authenticated'], resourceAttributes }
    const { body } = await api.client.post('/apis/authorization.orch.io/v1/subjectaccessreviews', { spec })
    return body.status.allowed
  }
  for (const subresource of ['proxy', 'log', 'stats', 'metrics', 'spec'])
    assert.ok(await isAllowed('nodes', subresource))
  for (const [resource, subresource] of [
    ['nodes', ''],
    ['nodes', 'status'],
    ['pods', 'exec'],
    ['secrets', ''],
  ] as const)
    assert.equal(await isAllowed(resource, subresource, 'get'), false, `${resource}/${subresource}`)
})

test('a request proxied to an API server does not get the permissions of the proxying server', async (t) => {
  const forwarder = await startProxy(other.server.url)
  t.after(() => forwarder.close())
  await addNode(api, 'relayed', Number(new URL(forwarder.endpoint).port))
  for (const path of [secrets, '/version']) {
    const { status, body } = await api.client.get(`/api/v1/nodes/relayed/proxy${path}`)
    assert.equal(status, 500, path)
    assert.match(
      body.message,
      /x509: certificate is valid for another name: its common name is not system:node:relayed/,
    )
  }
})

test('a node agent must present a certificate for its node', async (t) => {
  let asked = 0
  const agent = createServer((_, response) => response.end(String(++asked))).listen(0, '127.0.0.1')
  t.after(() => agent.close())
  await once(agent, 'listening')
  await addNode(api, 'strict', (agent.address() as { port: number }).port)
  const show = (commonName: string) => {
    const { certificate: cert, key } = issue(commonName, ['system:nodes'], ['strict'])
    agent.setSecureContext({ cert, key })
  }
  const ask = async () => (await api.client.get('/api/v1/nodes/strict/proxy/x')).status
  for (const commonName of ['strict', 'system:node:other', 'system:node:strict.other', 'system:node:']) {
    show(commonName)
    assert.deepEqual([await ask(), asked], [500, 0], commonName)
    // The second connection must not resume the session of the first.
    assert.deepEqual([await ask(), asked], [500, 0], commonName)
  }
  show('system:node:strict')
  assert.deepEqual([await ask(), asked], [200, 1])
})

test('configuring another node client certificate does not affect simulated nodes', async (t) => {
  const port = await openLocalNodePort(other.server, { vendor: vendorOf('orch'), nodes: [new TestNode(t, 'n1')] })
  t.after(() => port.close())
  await other.client.post('/api/v1/nodes', { metadata: { name: 'n1' } })
  assert.equal((await other.client.get('/api/v1/nodes/n1/proxy/healthz')).text, 'ok')
  const renewed = new X509Certificate(readFileSync(join(other.directory, 'data/pki/node-client.crt')))
  assert.deepEqual(readSubject(renewed.raw).commonNames, ['system:apiserver-node-client'], 'replaced after an upgrade')
})

test('the API server rejects clients with the configured node client certificate or with a certificate that has the same subject', async () => {
  const again = issue('my-servers', ['system:masters'])
  for (const pair of [given, again]) assert.equal(await askAs(pair, other), 401)
  assert.equal(await askAs(issue('my-servers', ['others']), other), 403)
})

test('flags can allow a local node agent whose certificate was issued by another CA and does not name the node', async (t) => {
  const clients: string[] = []
  const { certificate: cert, key } = issuePair(foreign, { commonName: 'some-kubelet', ips: ['127.0.0.1'] })
  const options = { cert, key, ca: api.ca, requestCert: true, rejectUnauthorized: false }
  const agent = createServer(options, ({ socket }, response) => {
    clients.push(String((socket as TLSSocket).getPeerCertificate().subject.CN))
    response.end('here')
  }).listen(0, '127.0.0.1')
  t.after(() => agent.close())
  await once(agent, 'listening')
  const nodeAt = async (server: InProcess, Port: number) => {
    const name = `at-${Port}`
    await server.client.post('/api/v1/nodes', { metadata: { name } })
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }]
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port } } }
    await server.client.put(`/api/v1/nodes/${name}/status`, { metadata: { name }, status })
    return await server.client.get(`/api/v1/nodes/${name}/proxy/x`)
  }
  const { port } = agent.address() as { port: number }
  assert.equal((await nodeAt(other, port)).text, 'here')
  assert.deepEqual(clients, ['my-servers'])
  assert.match((await nodeAt(other, other.port)).body.message, /address not allowed/, 'the own port')
  assert.match((await nodeAt(api, port)).body.message, /address not allowed/, 'without the flag')
})

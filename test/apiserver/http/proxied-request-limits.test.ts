/**
 * Tests that requests forwarded to pods, services, nodes or aggregated servers leave enough file descriptors for
 * accepting clients, no matter how many objects a user connects to. Each forwarded request uses a separate connection.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ClientHttp2Session } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Node } from '../../../src/api/kinds/core/node.ts'
import { parseRange } from '../../../src/api/model/ip-range.ts'
import type { Destination } from '../../../src/apiserver/outbound/connections.ts'
import { noCredentials } from '../../../src/apiserver/outbound/credentials.ts'
import { HttpsRelay } from '../../../src/apiserver/outbound/https-relay.ts'
import { AddressPolicy } from '../../../src/apiserver/resources/allowed-address.ts'
import { NodeConnector } from '../../../src/apiserver/resources/node-connector.ts'
import { LocalNodes } from '../../../src/cluster/node-port/local-nodes.ts'
import { giveAccount } from '../../support/accounts.ts'
import { authorityExtensions, certificatesIn } from '../../support/openssl-certificates.ts'
import { openSession } from '../../support/raw-http.ts'
import { startWithFew } from '../../support/server.ts'
import { untilTrue } from '../../support/until.ts'

const openFiles = 400
const pods = '/api/v1/namespaces/default/pods'

/** Starts a request whose response never ends. Resolves to its status. */
async function begin(session: ClientHttp2Session, path: string, token: string): Promise<number> {
  const stream = session.request({ ':path': path, authorization: `Bearer ${token}` })
  stream.on('error', () => {})
  const [head] = (await once(stream, 'response')) as [{ ':status': number }]
  if (head[':status'] !== 200) stream.close()
  return head[':status']
}

test('the proxied requests of one user exhaust neither the file descriptors nor the request limit for other users', async (t) => {
  const upstream = createServer((_, response) => void response.write('goes on'))
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  t.after(() => {
    upstream.closeAllConnections()
    upstream.close()
  })
  const { port } = upstream.address() as AddressInfo
  const server = await startWithFew(t, openFiles, ['--allowed-proxy-cidrs=127.0.0.1/32'])
  const client = server.client()
  await giveAccount(client)
  const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default'
  const rules = [{ apiGroups: [''], resources: ['pods/proxy'], verbs: ['get'] }]
  await client.post(`${rbac}/roles`, { metadata: { name: 'proxy' }, rules })
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'proxy' }
  const subjects = ['alice', 'bob'].map((name) => ({ kind: 'User', name }))
  await client.post(`${rbac}/rolebindings`, { metadata: { name: 'proxy' }, roleRef, subjects })
  const names = Array.from({ length: 8 }, (_, i) => `p${i}`)
  for (const name of names) {
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }
    assert.equal((await client.post(pods, { metadata: { name }, spec })).status, 201)
    const status = { phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] }
    assert.equal((await client.put(`${pods}/${name}/status`, { metadata: { name }, status })).status, 200)
  }
  const statuses = new Map<number, number>()
  for (const name of names) {
    const session = openSession(server)
    t.after(() => session.destroy())
    session.on('error', () => {})
    const all = Array.from({ length: 64 }, () => begin(session, `${pods}/${name}:${port}/proxy/`, 'alice-token'))
    for (const status of await Promise.all(all)) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  t.diagnostic(JSON.stringify([...statuses]))
  // Excess requests get a 429, and no request fails for lack of file descriptors.
  assert.deepEqual([...statuses.keys()].sort(), [200, 429])
  assert.doesNotMatch(server.output(), /no free file descriptors/)
  const other = openSession(server)
  t.after(() => other.destroy())
  assert.equal(await begin(other, `${pods}/p0:${port}/proxy/`, 'bob-token'), 200)
  // Even if two users send as many requests as possible, some capacity remains for administrators.
  const all = Array.from({ length: 64 }, () => begin(other, `${pods}/p1:${port}/proxy/`, 'bob-token'))
  assert.ok((await Promise.all(all)).includes(429))
  assert.equal(await begin(other, `${pods}/p2:${port}/proxy/`, 'admin-token'), 200)
})

/**
 * Starts an HTTPS server that keeps idle connections open forever, and a relay that forwards requests to this server.
 */
async function startUpstream(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-proxied-'))
  const make = certificatesIn(directory)
  const authority = make({ subject: '/CN=authority', extensions: authorityExtensions })
  const extensions = ['extendedKeyUsage=serverAuth', 'subjectAltName=IP:127.0.0.1']
  const { certificate: cert, key } = make({ subject: '/CN=system:node:n', issuer: authority, extensions })
  rmSync(directory, { recursive: true, force: true })
  const upstream = createHttpsServer({ cert, key }, (_, response) => void response.end('done'))
  upstream.keepAliveTimeout = 0
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  const relay = new HttpsRelay()
  t.after(() => {
    relay.close()
    upstream.closeAllConnections()
    upstream.close()
  })
  const named = { host: '127.0.0.1', port, serverName: '127.0.0.1', hostHeader: `127.0.0.1:${port}` }
  const send = async (to: Partial<Destination>) => {
    const destination = { ...named, authority: undefined, credentials: noCredentials, ...to }
    const request = { destination, method: 'GET', path: '/', headers: [], body: undefined, upgrade: undefined }
    const limits = { isEndless: false, timeoutMs: 10_000, signal: new AbortController().signal }
    const { body } = await relay.send({ ...request, ...limits })
    assert.equal(String(await body.toArray()), 'done')
  }
  const open = () => new Promise<number>((resolve) => upstream.getConnections((_, count) => resolve(count)))
  return { authority: authority.certificate, port, relay, send, open }
}

// If the connection were kept, it would stay open for a minute without counting toward the limit.
test('a proxied connection to a user-chosen port is closed after the request', async (t) => {
  const { send, open } = await startUpstream(t)
  await send({ isUnverified: true })
  await untilTrue(async () => (await open()) === 0)
})

for (const requiresNodeSubject of [true, false])
  test(`only a few idle connections to a node agent are kept open (requiresNodeSubject: ${requiresNodeSubject})`, async (t) => {
    const { authority, port, relay, send, open } = await startUpstream(t)
    const trust = async () => ({ authority, credentials: noCredentials })
    const ways = new NodeConnector({
      lookup: { getLatest: () => undefined } as never,
      relay,
      localNodes: new LocalNodes(),
      trust,
      localTrust: trust,
      requiresNodeSubject,
      addressTypes: ['InternalIP'],
      timeoutMs: 10_000,
      addresses: new AddressPolicy({
        allowed: [parseRange('127.0.0.1/32')!],
        ownAddress: () => undefined,
        advertised: '',
      }),
    })
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    }
    const destination = await ways.toAgent({ metadata: { name: 'n' }, status } as Node)
    await Promise.all(Array.from({ length: 10 }, () => send(destination)))
    await untilTrue(async () => (await open()) <= 2, 5_000)
  })

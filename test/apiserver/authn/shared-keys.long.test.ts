/**
 * Tests that servers on one etcd form one cluster without shared files. All servers use the CA and the service account
 * key that the first server created. A revocation on one server soon applies to all of them.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import { assertBelow } from '../../support/effort.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Cluster, startEtcd } from '../../support/etcd.ts'
import { HttpClient } from '../../support/http-client.ts'
import { pairOf } from '../../support/identities.ts'
import { type Restartable, serve, serveUp } from '../../support/in-process.ts'
import { someOf } from '../../support/long.ts'
import { startServer } from '../../support/server.ts'
import { startProxy } from '../../support/tcp-proxy.ts'
import { until } from '../../support/until.ts'

const owner = endOfFile()
const accounts = '/api/v1/namespaces/default/serviceaccounts'

let cluster: Cluster
let servers: readonly [Restartable, Restartable, Restartable]

before(async () => {
  cluster = await startEtcd()
  owner.after(() => cluster.stop())
  const start = () => serveUp(owner, [`--etcd-servers=${cluster.endpoints}`])
  // The servers start concurrently. Without coordination, each server would create its own keys.
  servers = await Promise.all([start(), start(), start()])
})

const caOf = (server: Restartable) => readFileSync(join(server.directory, 'data/pki/ca.crt'), 'utf8')

async function makeToken(server: Restartable, name: string): Promise<string> {
  const made = await server.client().post(accounts, { metadata: { name } })
  assert.equal(made.status, 201, made.text)
  const { status, body, text } = await server.client().post(`${accounts}/${name}/token`, {})
  assert.equal(status, 201, text)
  return body.status.token
}

it('an invalid key in the store prevents startup, and the one-line error does not contain the key', async (t) => {
  const server = await startServer(t)
  await server.stop()
  for (const key of someOf(['meta/service-account-key', 'meta/continue-key'], 1)) {
    const store = await LmdbStore.open({ directory: join(server.directory, 'data') })
    const { revision, value } = (await store.get(key))!
    const spoilt = await store.commit({ key, expected: revision, value: Buffer.from('canary') })
    await store.close()
    await assert.rejects(server.restart(), ({ message }: Error) => {
      assert.match(
        message,
        new RegExp(
          `^orch: the value stored as .* \\(${key}\\) is invalid: restore or delete it; if the value is encrypted, start with --encryption-provider-config$`,
          'm',
        ),
      )
      assert.doesNotMatch(message, /canary|\n {4}at /)
      return true
    })
    const mended = await LmdbStore.open({ directory: join(server.directory, 'data') })
    await mended.commit({ key, expected: (spoilt as { revision: number }).revision, value })
    await mended.close()
  }
  await server.restart()
})

describe('three servers on one etcd', { timeout: 300_000 }, () => {
  it('servers on one etcd share a CA, and each accepts the administrator certificates of the others', async () => {
    assert.equal(new Set(servers.map(caOf)).size, 1)
    for (const [i, one] of servers.entries()) {
      const other = servers[(i + 1) % servers.length]!
      const { certificate: cert, key } = pairOf(one, 'admin')
      const client = new HttpClient({ port: other.port, token: '', ca: caOf(one), cert, key })
      assert.equal((await client.get('/api/v1/secrets')).status, 200)
      client.close()
    }
  })

  it('servers on one etcd share one front proxy CA and publish no other CA', async () => {
    const cas = servers.map(({ directory }) => readFileSync(join(directory, 'data/pki/front-proxy/ca.crt'), 'utf8'))
    const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
    const { body } = await servers[1].client().get(path)
    assert.deepEqual([...new Set(cas)], [body.data['requestheader-client-ca-file']])
  })

  it("servers on one etcd accept each other's tokens as soon as the account exists", async () => {
    for (const [i, one] of servers.entries()) {
      const token = await makeToken(one, `at-${i}`)
      for (const other of servers) assert.equal((await other.client(token).get('/api')).status, 200)
    }
    const [keys, ...others] = await Promise.all(servers.map((server) => server.client().get('/openid/v1/jwks')))
    for (const other of others) assert.deepEqual(other.body, keys!.body)
  })

  it('a token revoked on one server is rejected by the others within a second, on an open connection', async () => {
    const [one, two] = servers
    let tries = 0
    await assertBelow(1_000, 'ms', async () => {
      const name = `revoked-${tries++}`
      const token = await makeToken(one, name)
      const used = two.client(token)
      assert.equal((await used.get('/api')).status, 200)
      await one.client().delete(`${accounts}/${name}`)
      const began = performance.now()
      let last = began
      for (let status = 200; status === 200 && performance.now() - began < 60_000; ) {
        last = performance.now()
        status = (await used.get('/api')).status
      }
      assert.equal((await used.get('/api')).status, 401)
      await one.client().post(accounts, { metadata: { name } })
      assert.equal((await used.get('/api')).status, 401)
      // Time until the last successful request.
      return last - began
    })
  })

  it('API requests cannot read the shared keys', async () => {
    const admin = servers[0].client()
    for (const path of ['/meta/authority', '/meta', '/api/v1/meta', '/apis/meta/authority'])
      assert.equal((await admin.get(path)).status, 404, path)
    for (const plural of ['secrets', 'configmaps'])
      assert.ok(
        !(await admin.get(`/api/v1/${plural}`)).text.includes(
          Buffer.from('-----BEGIN PRIVATE').toString('base64').slice(0, 20),
        ),
      )
    for (const server of servers) assert.doesNotMatch(server.output(), /PRIVATE KEY|eyJ/)
  })

  it('a server that had its own CA adopts the shared CA', async () => {
    const late = await serve(owner)
    const before = caOf(late)
    await late.stop()
    await late.restart([`--etcd-servers=${cluster.endpoints}`])
    assert.notEqual(caOf(late), before)
    assert.equal(caOf(late), caOf(servers[0]))
    const token = await makeToken(servers[1], 'late')
    assert.equal((await late.client(token).get('/api')).status, 200)
  })

  it('servers do not authenticate from caches that may be stale', async () => {
    const proxy = await startProxy(cluster.endpoints[0]!)
    owner.after(() => proxy.close())
    const far = await serve(owner, [`--etcd-servers=${proxy.endpoint}`])
    proxy.set('slow')
    for (let i = 0; i < 10; i++) {
      const token = await makeToken(servers[0], `far-${i}`)
      assert.equal((await far.client(token).get('/api')).status, 200, 'its account is known here late')
    }
    proxy.set('pass')
    const token = await makeToken(servers[0], 'cut-off')
    const used = far.client(token)
    assert.equal((await used.get('/api')).status, 200)
    proxy.set('cut')
    await servers[0].client().delete(`${accounts}/cut-off`)
    // The server relies on its caches until they may be stale, and then contacts the store, which is unreachable.
    await until(
      async () => (await used.get('/api?timeout=1s')).status,
      (status) => status !== 200,
      10_000,
    )
    const late = used.get('/api')
    proxy.set('pass')
    let { status } = await late
    for (const end = Date.now() + 60_000; status === 503 && Date.now() < end; ) status = (await used.get('/api')).status
    assert.equal(status, 401)
  })

  it('servers keep their shared keys after a restart', async () => {
    const [one, two] = servers
    const token = await makeToken(one, 'restarted')
    const before = caOf(one)
    await one.stop()
    await one.restart()
    assert.equal(caOf(one), before)
    assert.equal((await one.client(token).get('/api')).status, 200)
    assert.equal((await two.client(token).get('/api')).status, 200)
  })
})

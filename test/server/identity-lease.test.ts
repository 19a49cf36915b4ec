/** Tests identity Leases: each API server renews its own Lease, and expired Leases of other servers are deleted. */
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import type { Lease } from '../../src/api/kinds/coordination/lease.ts'
import { startEtcd } from '../support/etcd.ts'
import type { HttpClient } from '../support/http-client.ts'
import { serve } from '../support/in-process.ts'
import { until } from '../support/until.ts'

const leases = '/apis/coordination.orch.io/v1/namespaces/kube-system/leases'
const label = 'apiserver.orch.io/identity'

async function identityLeases(client: HttpClient): Promise<Lease[]> {
  const { status, body } = await client.get(`${leases}?labelSelector=${label}%3Dkube-apiserver`)
  assert.equal(status, 200)
  return body.items
}

/** Creates a Lease with the identity label. */
async function createLease(client: HttpClient, name: string, spec: object): Promise<void> {
  const metadata = { name, labels: { [label]: 'kube-apiserver' } }
  const { status } = await client.post(leases, { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata, spec })
  assert.equal(status, 201)
}

const microTime = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z')

test('a restarted server keeps its identity Lease and deletes expired identity Leases of other servers', async (t) => {
  const server = await serve(t, ['--emulated-version=1.28'])
  const client = server.client()
  const [own] = await until(
    () => identityLeases(client),
    (all) => all.length === 1,
  )
  assert.match(own!.metadata.name!, /^apiserver-[a-z0-9]{26}$/)
  assert.equal(own!.metadata.labels!['orch.io/hostname'], hostname())
  assert.equal(own!.spec!.leaseDurationSeconds, 3600)
  assert.match((await client.get('/metrics')).text, /name="identity-lease"/)
  const now = Date.now()
  await createLease(client, 'expired', { renewTime: microTime(now - 3_601_000), leaseDurationSeconds: 3600 })
  await createLease(client, 'incomplete', { leaseDurationSeconds: 3600 })
  await createLease(client, 'live', { renewTime: microTime(now - 60_000), leaseDurationSeconds: 3600 })
  await server.restart()
  const name = own!.metadata.name!
  const after = await until(
    () => identityLeases(server.client()),
    (all) => all.length === 2 && all[0]!.spec!.renewTime! > own!.spec!.renewTime!,
  )
  assert.deepEqual(
    after.map(({ metadata }) => metadata.name),
    [name, 'live'],
  )
  assert.notEqual(after[0]!.spec!.holderIdentity, own!.spec!.holderIdentity)
})

test('two servers on one etcd have one identity Lease each', async (t) => {
  const etcd = await startEtcd()
  t.after(() => etcd.stop())
  const flags = ['--emulated-version=1.36', `--etcd-servers=${etcd.endpoints.join()}`]
  const servers = [await serve(t, flags), await serve(t, flags)]
  await until(
    () => identityLeases(servers[0]!.client()),
    (all) => all.length === 2,
  )
})

for (const flags of [
  ['--emulated-version=1.23'],
  ['--emulated-version=1.36', '--feature-gates=APIServerIdentity=false'],
])
  test(`a server with ${flags.join(' ')} creates no Lease`, async (t) => {
    const client = (await serve(t, flags)).client()
    assert.doesNotMatch((await client.get('/metrics')).text, /name="identity-lease"/)
    assert.deepEqual(await identityLeases(client), [])
  })

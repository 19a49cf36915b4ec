/**
 * Tests that changes to roles and bindings take effect with the next request on the same server, and within a second on
 * another server.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startEtcd } from '../../support/etcd.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'

const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default'
const path = '/api/v1/namespaces/default/configmaps'
const subjects = [{ kind: 'User', name: 'bob' }]
const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }]
const roleRef = { kind: 'Role', name: 'reader' }

async function give(admin: HttpClient): Promise<void> {
  await admin.post(`${rbac}/roles`, { metadata: { name: 'reader' }, rules })
  await admin.post(`${rbac}/rolebindings`, { metadata: { name: 'reader' }, roleRef, subjects })
}

test('deleting any object that grants a permission revokes the permission with the next request', async (t) => {
  const server = await serve(t)
  const admin = server.client()
  const bob = server.client('bob-token')
  const may = async () => (await bob.get(path)).status
  assert.equal(await may(), 403)
  await give(admin)
  assert.equal(await may(), 200)
  const binding = { metadata: { name: 'reader' }, roleRef }
  const role = { metadata: { name: 'reader' } }
  await admin.put(`${rbac}/rolebindings/reader`, { ...binding, subjects: [{ kind: 'User', name: 'alice' }] })
  assert.equal(await may(), 403)
  await admin.put(`${rbac}/rolebindings/reader`, { ...binding, subjects })
  assert.equal(await may(), 200)
  await admin.put(`${rbac}/roles/reader`, role)
  assert.equal(await may(), 403)
  await admin.put(`${rbac}/roles/reader`, { ...role, rules })
  assert.equal(await may(), 200)
  // The user loses the permission only after both bindings that grant the role are removed.
  await admin.post(`${rbac}/rolebindings`, { ...binding, metadata: { name: 'again' }, subjects })
  await admin.delete(`${rbac}/rolebindings/reader`)
  assert.equal(await may(), 200)
  await admin.delete(`${rbac}/rolebindings/again`)
  assert.equal(await may(), 403)
  await give(admin)
  assert.equal(await may(), 200)
  await admin.delete(`${rbac}/roles/reader`)
  const { status, body } = await bob.get(path)
  assert.equal(status, 403)
  assert.match(body.message, /: RBAC: role\.rbac\.authorization\.orch\.io "reader" not found$/)
})

test('permissions survive a restart, and a restart repairs the default roles', async (t) => {
  const server = await serve(t)
  const admin = server.client()
  await give(admin)
  const roles = '/apis/rbac.authorization.orch.io/v1/clusterroles'
  const discoveryRole = (await admin.get(`${roles}/system:discovery`)).body
  const own = { verbs: ['get'], nonResourceURLs: ['/own'] }
  await admin.put(`${roles}/system:discovery`, { ...discoveryRole, rules: [own] })
  const basicUserRole = (await admin.get(`${roles}/system:basic-user`)).body
  basicUserRole.metadata.annotations['rbac.authorization.orch.io/autoupdate'] = 'false'
  await admin.put(`${roles}/system:basic-user`, { ...basicUserRole, rules: [own] })
  await admin.delete(`${roles}/view`)
  const bindings = '/apis/rbac.authorization.orch.io/v1/clusterrolebindings'
  await admin.delete(`${bindings}/cluster-admin`)
  await admin.post(bindings, {
    metadata: { name: 'cluster-admin' },
    roleRef: { kind: 'ClusterRole', name: 'view' },
    subjects,
  })
  assert.equal((await server.client('bob-token').get('/apis')).status, 403)

  await server.stop()
  await server.restart()
  const bob = server.client('bob-token')
  assert.equal((await bob.get(path)).status, 200)
  assert.equal((await bob.get('/apis')).status, 200)
  const mended = (await admin.get(`${roles}/system:discovery`)).body.rules
  assert.deepEqual([mended[0], mended.length], [own, discoveryRole.rules.length + 1], 'what was added stays')
  assert.deepEqual((await admin.get(`${roles}/system:basic-user`)).body.rules, [own], 'left alone, as it asks')
  assert.equal((await admin.get(`${roles}/view`)).status, 200)
  assert.equal((await admin.get(`${bindings}/cluster-admin`)).body.roleRef.name, 'cluster-admin')
})

test('granted and revoked permissions take effect on another server, even under load', async (t) => {
  const etcd = await startEtcd()
  t.after(() => etcd.stop())
  const flags = [`--etcd-servers=${etcd.endpoints}`]
  const one = await serve(t, flags)
  const other = await serve(t, flags)
  const admin = one.client()
  const bob = other.client('bob-token')
  const stop = new AbortController()
  let longest = 0
  const load = Promise.all(Array.from({ length: 8 }, () => write(other.client(), stop.signal)))
  try {
    for (let round = 0; round < 5; round++) {
      await give(admin)
      longest = Math.max(longest, await until(bob, 200))
      await admin.delete(`${rbac}/rolebindings/reader`)
      longest = Math.max(longest, await until(bob, 403))
    }
  } finally {
    stop.abort()
    await load
  }
  t.diagnostic(`felt after ${longest.toFixed(0)} ms at most`)
})

let written = 0

async function write(client: HttpClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await client.post(path, { metadata: { name: `load-${written++}` }, data: { k: 'v' } })
}

/** Returns the time until the response has the expected status. */
async function until(client: HttpClient, expected: number): Promise<number> {
  const begin = performance.now()
  for (;;) {
    const { status } = await client.get(`${path}?limit=1`)
    if (status === expected) return performance.now() - begin
    assert.ok(performance.now() - begin < 30_000, `still ${status}, not ${expected}`)
    await pause(5)
  }
}

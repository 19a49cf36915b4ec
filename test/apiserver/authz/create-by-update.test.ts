/** Tests that a PUT or apply of a missing object is a create and therefore also requires the create permission. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'

const server = await serve({ after })
const admin = server.client()
const bob = server.client('bob-token')
const rbac = '/apis/rbac.authorization.orch.io/v1/namespaces/default'
const leases = '/apis/coordination.orch.io/v1/namespaces/default/leases'

async function give(verbs: readonly string[], name: string): Promise<void> {
  const rules = [{ verbs, apiGroups: ['', 'coordination.orch.io'], resources: ['leases', 'configmaps'] }]
  await admin.post(`${rbac}/roles`, { metadata: { name }, rules })
  const roleRef = { kind: 'Role', name }
  await admin.post(`${rbac}/rolebindings`, { metadata: { name }, roleRef, subjects: [{ kind: 'User', name: 'bob' }] })
}

const lease = { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata: { name: 'l' } }
const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const apply = (name: string, query = '') =>
  bob.send(`${configMaps}/${name}?fieldManager=m${query}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: map(name),
  })

test('update and patch permissions alone do not allow creating objects', async () => {
  await give(['update', 'patch'], 'changer')
  await admin.post(configMaps, map('there'))
  assert.equal((await bob.put(`${leases}/l`, lease)).status, 403)
  assert.equal((await bob.put(`${leases}/l?dryRun=All`, lease)).status, 403)
  const refused = await apply('new')
  assert.equal(refused.status, 403)
  assert.match(refused.body.message, /configmaps "new" is forbidden: User "bob" cannot create resource "configmaps"/)
  assert.equal((await apply('new', '&dryRun=All')).status, 403)
  assert.equal((await apply('there')).status, 200)
  for (const path of [`${leases}/l`, `${configMaps}/new`]) assert.equal((await admin.get(path)).status, 404)
})

test('update and patch create objects if the user also has the create permission', async () => {
  await give(['create'], 'creator')
  assert.equal((await bob.put(`${leases}/l`, lease)).status, 201)
  assert.equal((await apply('new')).status, 201)
})

/**
 * Tests OwnerReferencesPermissionEnforcement: changing owners requires the delete permission, and blocking an
 * owner's deletion requires a permission on the owner.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

describe('OwnerReferencesPermissionEnforcement', async () => {
  const server = await serve({ after }, ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'])
  const admin = server.client()
  const alice = server.client('alice-token')
  const rbac = '/apis/rbac.authorization.orch.io/v1'
  const namespaces = {
    plain: ['get', 'create', 'update', 'patch'],
    deleting: ['get', 'create', 'update', 'patch', 'delete'],
  }
  let uid = ''
  for (const [name, verbs] of Object.entries(namespaces)) {
    await admin.post('/api/v1/namespaces', { metadata: { name } })
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }]
    const finalizers = {
      apiGroups: [''],
      resources: ['configmaps/finalizers'],
      resourceNames: ['held'],
      verbs: ['update'],
    }
    await admin.post(`${rbac}/namespaces/${name}/roles`, { metadata: { name: 'w' }, rules: [...rules, finalizers] })
    await admin.post(`${rbac}/namespaces/${name}/rolebindings`, {
      metadata: { name: 'w' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'w' },
      subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'alice' }],
    })
    const made = await admin.post(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'a' } })
    uid = made.body.metadata.uid
  }
  const path = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`
  const owner = (name: string, fields: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...fields })

  test('every write that changes owner references requires permission to delete the object, regardless of the method', async () => {
    const owned = { metadata: { name: 'a', ownerReferences: [owner('o')] } }
    const head = { apiVersion: 'v1', kind: 'ConfigMap' }
    const operations = [{ op: 'add', path: '/metadata/ownerReferences', value: [owner('o')] }]
    for (const [namespace, status] of [
      ['plain', 403],
      ['deleting', 200],
    ] as const) {
      const at = `${path(namespace)}/a?dryRun=All`
      for (const [method, target, type, body] of [
        ['PUT', at, 'application/json', { ...head, ...owned }],
        ['PATCH', at, 'application/merge-patch+json', owned],
        ['PATCH', at, 'application/strategic-merge-patch+json', owned],
        ['PATCH', at, 'application/json-patch+json', operations],
        ['PATCH', `${at}&fieldManager=f`, 'application/apply-patch+yaml', { ...head, ...owned }],
      ] as const) {
        const answer = await alice.send(target, { method, headers: { 'content-type': type }, body })
        assert.equal(answer.status, status, `${namespace} ${type}: ${answer.text}`)
        if (status === 403) assert.match(answer.body.message, /cannot set an ownerRef on a resource you can't delete/)
      }
    }
  })

  test('a user without delete permission may set owner references on create and keep existing references, but not remove them', async () => {
    const made = await alice.post(path('plain'), { metadata: { name: 'b', ownerReferences: [owner('o')] } })
    assert.equal(made.status, 201)
    const patch = (metadata: object, fields: object = {}) =>
      alice.send(`${path('plain')}/b`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { metadata, ...fields },
      })
    assert.equal((await patch({ ownerReferences: [owner('o')] }, { data: { k: 'v' } })).status, 200)
    assert.equal((await patch({ ownerReferences: null })).status, 403)
  })

  test('setting blockOwnerDeletion requires permission to update the finalizers of the owner', async () => {
    const create = (reference: object) =>
      alice.post(`${path('deleting')}?dryRun=All`, { metadata: { name: 'x', ownerReferences: [reference] } })
    const blocking = { blockOwnerDeletion: true }
    assert.equal((await create(owner('held', blocking))).status, 201)
    const refused = await create(owner('other', blocking))
    assert.equal(refused.status, 403)
    assert.match(refused.body.message, /can't set finalizers on: ConfigMap "other"/)
    assert.equal((await create(owner('other'))).status, 201)
    const unknown = await create({ ...owner('t', blocking), apiVersion: 'example.com/v1', kind: 'Thing' })
    assert.equal(unknown.status, 403)
    assert.match(unknown.body.message, /there is no kind Thing in example\.com\/v1/)
  })

  test('a user without permission may keep owner references that already block deletion', async () => {
    const blocked = owner('other', { blockOwnerDeletion: true })
    await admin.post(path('deleting'), { metadata: { name: 'c', ownerReferences: [blocked] } })
    const patch = async (reference: object) => {
      const body = { metadata: { ownerReferences: [reference] } }
      const headers = { 'content-type': 'application/merge-patch+json' }
      return (await alice.send(`${path('deleting')}/c`, { method: 'PATCH', headers, body })).status
    }
    assert.equal(await patch({ ...blocked, controller: true }), 200)
    assert.equal(await patch(owner('other')), 200)
    assert.equal(await patch(blocked), 403)
  })
})

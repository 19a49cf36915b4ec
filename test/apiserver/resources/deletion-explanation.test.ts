/** Tests explanations of pending deletions, from the server and in the output of `orchctl delete`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeletionExplanation } from '../../../src/api/kinds/ops/deletion-explanation.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { Client } from '../../../src/client/requests/client.ts'
import type { ResourceType } from '../../../src/client/requests/resource-type.ts'
import { StatusError } from '../../../src/client/requests/status-error.ts'
import { serve } from '../../support/in-process.ts'
import { orchctl } from '../../support/orchctl.ts'
import { configMap, configMaps } from '../../support/resource-types.ts'

const explanations: ResourceType = {
  group: 'ops.orch.io',
  version: 'v1',
  plural: 'deletionexplanations',
  namespaced: false,
}
const hold = ['example.com/hold']

test('the explanation of a pending deletion contains reasons and times, and only objects that the caller may read', async (t) => {
  const served = await serve({ after: (run) => t.after(run) })
  const client = new Client(served.transport())
  const make = (name: string, metadata: object = {}) => {
    const object = configMap(name)
    return client.create(configMaps, { ...object, metadata: { ...object.metadata, ...metadata } })
  }
  const ask = async (name: string, as = client) => {
    const spec = { resource: 'configmaps', namespace: 'default', name }
    const question = { apiVersion: 'ops.orch.io/v1', kind: 'DeletionExplanation', metadata: {}, spec }
    return ((await as.create(explanations, question)) as DeletionExplanation & ApiObject).status!
  }
  const owner = await make('owner')
  const { uid } = owner.metadata
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }
  await make('free', { ownerReferences: [reference] })
  await make('child', { ownerReferences: [{ ...reference, blockOwnerDeletion: true }], finalizers: hold })
  await make('bystander', { annotations: { note: uid } })

  assert.equal((await ask('owner')).deleting, false)
  await client.delete(configMaps, { namespace: 'default', name: 'owner' }, { propagationPolicy: 'Foreground' })
  const { deletionTimestamp } = (await client.get(configMaps, { namespace: 'default', name: 'owner' })).metadata
  const status = await ask('owner')
  assert.equal(status.since, deletionTimestamp)
  assert.deepEqual(status.reasons, [
    {
      finalizer: 'foregroundDeletion',
      message: 'the garbage collector deletes its dependents first; 1 of them block the deletion',
    },
  ])
  assert.equal(status.dependentCount, 2)
  assert.deepEqual(
    status.dependents?.map(({ name, blocks, finalizers = [] }) => [name, blocks, ...finalizers]),
    [
      ['child', true, ...hold],
      ['free', false],
    ],
  )

  // A user who may send this query for one object must not learn about other objects.
  const roles = { group: 'rbac.authorization.orch.io', version: 'v1', namespaced: false }
  const rbac = 'rbac.authorization.orch.io'
  const rules = [{ apiGroups: ['ops.orch.io'], resources: ['deletionexplanations'], verbs: ['create'] }]
  const get = { apiGroups: [''], resources: ['configmaps'], resourceNames: ['owner'], verbs: ['get'] }
  const role: ApiObject = {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'asks' },
    rules: [...rules, get],
  }
  await client.create({ ...roles, plural: 'clusterroles' }, role)
  await client.create(
    { ...roles, plural: 'clusterrolebindings' },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'asks' },
      subjects: [{ kind: 'User', name: 'bob', apiGroup: rbac }],
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'asks' },
    },
  )
  const bob = new Client(served.transport('bob-token'))
  const seen = await ask('owner', bob)
  assert.deepEqual([seen.dependentCount, seen.hiddenTypes], [0, ['configmaps']])
  await assert.rejects(ask('child', bob), (error) => error instanceof StatusError && error.code === 403)
  await assert.rejects(ask('nothing'), (error) => error instanceof StatusError && error.code === 404)

  const config = `--kubeconfig=${served.directory}/admin.kubeconfig`
  const { stderr } = await orchctl(['delete', 'configmap', 'owner', '--cascade=foreground', '--timeout=3s', config])
  assert.match(stderr, /^waiting for configmap "owner", which has been terminating since \S+Z:$/m)
  assert.match(stderr, /^ {2}finalizer foregroundDeletion: .*1 of them block the deletion$/m)
  assert.match(stderr, /^ {2}dependent ConfigMap "child", which blocks the deletion.* example\.com\/hold$/m)
  assert.equal(stderr.match(/^waiting for/gm)?.length, 1)
})

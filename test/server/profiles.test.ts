/**
 * Tests the differences between the profiles, apart from group names, and the responses to clients of the other
 * profile.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/authenticated-user.ts'
import { serve, serveUp } from '../support/in-process.ts'
import { configOf, orchctl } from '../support/orchctl.ts'

interface Managed {
  readonly metadata: { readonly managedFields?: readonly { readonly manager: string }[] }
}
const managersOf = ({ metadata }: Managed) => (metadata.managedFields ?? []).map(({ manager }) => manager)

test('the kubernetes profile uses Kubernetes field manager names', async (t) => {
  const server = await serveUp(t, ['--profile=kubernetes'])
  const client = server.client()
  assert.deepEqual(managersOf((await client.get('/api/v1/namespaces/default')).body), ['kube-apiserver'])
  const quotas = '/api/v1/namespaces/default/resourcequotas'
  await client.post(`${quotas}?fieldManager=me`, { metadata: { name: 'q' }, spec: { hard: { pods: '5' } } })
  const counted = await until(
    async () => (await client.get(`${quotas}/q`)).body,
    ({ status }) => status.used !== undefined,
  )
  assert.deepEqual(managersOf(counted).sort(), ['kube-controller-manager', 'me'])
  const config = readFileSync(join(server.directory, 'admin.kubeconfig'), 'utf8')
  assert.match(config, /^current-context: orch-kubernetes-admin@orch-kubernetes$/m)
})

test('the error for an API group of the other profile contains the profile of the server', async (t) => {
  const server = await serve(t)
  const client = server.client()
  const config = readFileSync(join(server.directory, 'admin.kubeconfig'), 'utf8')
  assert.match(config, /^current-context: orch-admin@orch$/m)
  const unknown = await client.get('/apis/storage.k8s.io/v1/storageclasses')
  assert.equal(unknown.status, 404)
  assert.match(unknown.body.message, /^the server could not find the requested resource: .*--profile=kubernetes$/)
  const elsewhere = await client.get('/apis/snapshot.storage.k8s.io/v1/volumesnapshots')
  assert.deepEqual([elsewhere.status, /profile/.test(elsewhere.text)], [404, false])
  const storageClass = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 's' },
    provisioner: 'p',
  }
  const sent = await client.post('/apis/storage.orch.io/v1/storageclasses', storageClass)
  assert.equal(sent.status, 400)
  assert.match(sent.body.message, /this path requires StorageClass in storage\.orch\.io\/v1: .*--profile=kubernetes$/)

  const file = join(server.directory, 'class.json')
  writeFileSync(file, JSON.stringify(storageClass))
  const { stderr } = await orchctl(['create', '-f', file], { env: { KUBECONFIG: configOf(server) } })
  assert.match(stderr, /no matches for kind "StorageClass" in version "storage\.k8s\.io\/v1": .*--profile=kubernetes/)
})

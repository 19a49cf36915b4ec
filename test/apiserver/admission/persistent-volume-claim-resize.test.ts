/** Tests PersistentVolumeClaimResize: a claim can grow if its class allows volume expansion. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const client = (await serve({ after })).client()
const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
const patch = (path: string, body: object) =>
  client.send(path, { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body })
const grow = (name: string, storage: string) =>
  patch(`${claims}/${name}`, { spec: { resources: { requests: { storage } } } })

async function bind(name: string, allowVolumeExpansion: boolean | undefined): Promise<void> {
  const storageClass = { metadata: { name }, provisioner: 'p', allowVolumeExpansion }
  assert.equal((await client.post('/apis/storage.orch.io/v1/storageclasses', storageClass)).status, 201)
  const spec = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: name,
    resources: { requests: { storage: '1Gi' } },
  }
  assert.equal((await client.post(claims, { metadata: { name }, spec })).status, 201)
  assert.equal((await patch(`${claims}/${name}/status`, { status: { phase: 'Bound' } })).status, 200)
}

test('a volume claim can grow only if its StorageClass allows expansion', async () => {
  for (const [name, allows, status] of [
    ['yes', true, 200],
    ['no', false, 403],
    ['silent', undefined, 403],
  ] as const) {
    await bind(name, allows)
    assert.equal((await grow(name, '2Gi')).status, status, name)
    assert.equal((await grow(name, status === 200 ? '2048Mi' : '1024Mi')).status, 200, name)
  }
  assert.equal((await grow('yes', '1Gi')).status, 422)
  await client.delete('/apis/storage.orch.io/v1/storageclasses/yes')
  const { status, body } = await grow('yes', '3Gi')
  assert.equal(status, 403)
  assert.match(body.message, /must support resize \(rejected by the admission plugin PersistentVolumeClaimResize\)/)
})

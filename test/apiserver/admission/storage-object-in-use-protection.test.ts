/** Tests StorageObjectInUseProtection: only new claims and volumes get the finalizer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const volumeSpec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/d' } }
const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
const volumes = '/api/v1/persistentvolumes'

test('new claims and volumes get exactly one protection finalizer, after any other finalizers', async (t) => {
  const client = (await serve(t)).client()
  const made = async (path: string, object: object) => (await client.post(path, object)).body.metadata.finalizers
  const own = ['example.com/a']
  assert.deepEqual(await made(claims, { metadata: { name: 'a' }, spec }), ['orch.io/pvc-protection'])
  assert.deepEqual(await made(claims, { metadata: { name: 'b', finalizers: own }, spec }), [
    ...own,
    'orch.io/pvc-protection',
  ])
  const knownFinalizers = ['orch.io/pv-protection', ...own]
  assert.deepEqual(
    await made(volumes, { metadata: { name: 'v', finalizers: knownFinalizers }, spec: volumeSpec }),
    knownFinalizers,
  )

  const bare = await client.put(`${claims}/a`, { metadata: { name: 'a' }, spec })
  assert.deepEqual([bare.status, bare.body.metadata.finalizers], [200, undefined])
  const deleted = await client.delete(`${volumes}/v`)
  assert.deepEqual([deleted.status, deleted.body.metadata.finalizers], [200, knownFinalizers])
  assert.equal((await client.get(`${volumes}/v`)).status, 200)
})

test('StorageObjectInUseProtection can be disabled', async (t) => {
  const client = (await serve(t, ['--disable-admission-plugins=StorageObjectInUseProtection'])).client()
  const made = await client.post(claims, { metadata: { name: 'a' }, spec })
  assert.deepEqual([made.status, made.body.metadata.finalizers], [201, undefined])
})

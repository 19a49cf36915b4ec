/** DefaultStorageClass: a claim that names no class gets the default one; of two, nobody knows which is meant. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../tools/server.ts'

const classes = '/apis/storage.orch.io/v1/storageclasses'
const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

test('the default class goes to claims that name none', async (t) => {
  const client = (await startServer(t)).client()
  const makeClass = (name: string, annotations: object) =>
    client.post(classes, { metadata: { name, annotations }, provisioner: 'example.com/p' })
  const claim = async (fields: object = {}, annotations: object = {}) => {
    const object = { metadata: { generateName: 'c-', annotations }, spec: { ...spec, ...fields } }
    const { status, body } = await client.post(claims, object)
    return [status, body.spec?.storageClassName]
  }
  await makeClass('plain', { 'storageclass.orch.io/is-default-class': 'yes' })
  assert.deepEqual(await claim(), [201, undefined])
  await makeClass('usual', { 'storageclass.orch.io/is-default-class': 'true' })
  assert.deepEqual(await claim(), [201, 'usual'])
  assert.deepEqual(await claim({ storageClassName: '' }), [201, ''])
  assert.deepEqual(await claim({ storageClassName: 'other' }), [201, 'other'])
  assert.deepEqual(await claim({}, { 'volume.beta.orch.io/storage-class': 'old' }), [201, undefined])
  await makeClass('older', { 'storageclass.beta.orch.io/is-default-class': 'true' })
  assert.deepEqual(await claim(), [403, undefined])
  assert.deepEqual(await claim({ storageClassName: 'plain' }), [201, 'plain'])
})

/**
 * Tests the default classes of claims and Ingresses. The default is set if no class is specified, and the object is
 * rejected if there are several default classes.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const client = (await serve({ after })).client()
const classes = '/apis/storage.orch.io/v1/storageclasses'
const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

test('claims without a class get the default StorageClass', async () => {
  const makeClass = (name: string, annotations: object) =>
    client.post(classes, { metadata: { name, annotations }, provisioner: 'example.com/p' })
  const claim = async (fields: object = {}, annotations: object = {}) => {
    const object = { metadata: { generateName: 'c-', annotations }, spec: { ...spec, ...fields } }
    const { status, body } = await client.post(claims, object)
    return [status, body.spec?.storageClassName ?? body.message]
  }
  await makeClass('plain', { 'storageclass.orch.io/is-default-class': 'yes' })
  assert.deepEqual(await claim(), [201, undefined])
  await makeClass('usual', { 'storageclass.orch.io/is-default-class': 'true' })
  assert.deepEqual(await claim(), [201, 'usual'])
  assert.deepEqual(await claim({ storageClassName: '' }), [201, ''])
  assert.deepEqual(await claim({ storageClassName: 'other' }), [201, 'other'])
  assert.deepEqual(await claim({}, { 'volume.beta.orch.io/storage-class': 'old' }), [201, undefined])
  await makeClass('older', { 'storageclass.beta.orch.io/is-default-class': 'true' })
  assert.deepEqual(await claim(), [
    403,
    'persistentvolumeclaims "c-" is forbidden: Internal error occurred: 2 default StorageClasses were found (rejected by the admission plugin DefaultStorageClass)',
  ])
  assert.deepEqual(await claim({ storageClassName: 'plain' }), [201, 'plain'])
})

test('Ingresses without a class get the default IngressClass', async () => {
  const root = '/apis/networking.orch.io/v1'
  const makeClass = (name: string, value: string) =>
    client.post(`${root}/ingressclasses`, {
      metadata: { name, annotations: { 'ingressclass.orch.io/is-default-class': value } },
      spec: { controller: 'example.com/c' },
    })
  const backend = { defaultBackend: { service: { name: 's', port: { number: 80 } } } }
  const ingress = async (fields: object = {}, annotations: object = {}) => {
    const object = { metadata: { generateName: 'i-', annotations }, spec: { ...backend, ...fields } }
    const { status, body } = await client.post(`${root}/namespaces/default/ingresses`, object)
    return [status, body.spec?.ingressClassName ?? body.message]
  }
  await makeClass('plain', 'yes')
  assert.deepEqual(await ingress(), [201, undefined])
  await makeClass('usual', 'true')
  assert.deepEqual(await ingress(), [201, 'usual'])
  assert.deepEqual(await ingress({ ingressClassName: 'plain' }), [201, 'plain'])
  assert.deepEqual(await ingress({}, { 'orch.io/ingress.class': 'old' }), [201, undefined])
  await makeClass('second', 'true')
  assert.deepEqual(await ingress(), [
    403,
    'ingresses.networking.orch.io "i-" is forbidden: Internal error occurred: 2 default IngressClasses were found, only 1 allowed (rejected by the admission plugin DefaultIngressClass)',
  ])
})

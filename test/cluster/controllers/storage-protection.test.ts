/** Tests the storage protection loops in a real `orch up`: deleted storage is removed only when it is unused. */

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { inDomainOf, type ObjectName, type ResourceType } from '../../../src/client/requests/resource-type.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import { serveUp } from '../../support/in-process.ts'
import { eventOf } from '../../support/resource-types.ts'
import { startUp } from '../../support/server.ts'

const pods: ResourceType = { group: '', version: 'v1', plural: 'pods', namespaced: true }
const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' }
const namespace = 'default'

async function begin(t: TestContext, flags: readonly string[] = []): Promise<Client> {
  return new Client((await serveUp(t, flags)).transport())
}

const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace },
  spec,
})

function pod(name: string, volume: object): ApiObject {
  const volumes = [{ name: 'v', ...volume }]
  const containers = [{ name: 'c', image: 'i' }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { containers, volumes, terminationGracePeriodSeconds: 0, automountServiceAccountToken: false },
  }
}

async function gone<T extends ApiObject>(client: Client, type: ResourceType<T>, name: ObjectName): Promise<void> {
  try {
    const { metadata } = await client.get(type, name)
    const fits = ({ type: event }: { type: string }) => event === 'DELETED'
    await eventOf(client, type, { name, resourceVersion: metadata.resourceVersion!, fits })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

test('an unused claim is deleted immediately', async (t) => {
  const client = await begin(t)
  const made = await client.create(kinds.PersistentVolumeClaim, claim('free'))
  assert.deepEqual(made.metadata.finalizers, ['orch.io/pvc-protection'])
  await client.delete(kinds.PersistentVolumeClaim, { namespace, name: 'free' })
  await gone(client, kinds.PersistentVolumeClaim, { namespace, name: 'free' })
})

test('a claim in use, including the claim of an ephemeral volume, remains until its pod is deleted', async (t) => {
  const client = await begin(t)
  const users = {
    used: { persistentVolumeClaim: { claimName: 'used' } },
    'p-v': { ephemeral: { volumeClaimTemplate: { spec } } },
  }
  await client.create(kinds.PersistentVolumeClaim, claim('free'))
  for (const name of Object.keys(users)) await client.create(kinds.PersistentVolumeClaim, claim(name))
  await client.create(pods, pod('user', users.used))
  await client.create(pods, pod('p', users['p-v']))
  for (const name of [...Object.keys(users), 'free'])
    await client.delete(kinds.PersistentVolumeClaim, { namespace, name })
  // Once the unused claim is deleted, the loop has processed all claims.
  await gone(client, kinds.PersistentVolumeClaim, { namespace, name: 'free' })
  for (const name of Object.keys(users)) {
    const { metadata } = await client.get(kinds.PersistentVolumeClaim, { namespace, name })
    assert.ok(metadata.deletionTimestamp)
    assert.deepEqual(metadata.finalizers, ['orch.io/pvc-protection'])
  }
  for (const name of ['user', 'p']) await client.delete(pods, { namespace, name })
  for (const name of Object.keys(users)) await gone(client, kinds.PersistentVolumeClaim, { namespace, name })
})

test('a volume is deleted when no claim is bound to it', async (t) => {
  const client = await begin(t)
  const volume = (name: string) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' } },
  })
  for (const name of ['bound', 'free']) await client.create(kinds.PersistentVolume, volume(name))
  const user = claim('user')
  await client.create(kinds.PersistentVolumeClaim, { ...user, spec: { ...user.spec, volumeName: 'bound' } })
  await eventOf(client, kinds.PersistentVolumeClaim, {
    name: { namespace, name: 'user' },
    fits: (event) => event.type !== 'BOOKMARK' && event.object.status?.phase === 'Bound',
  })
  for (const name of ['bound', 'free']) await client.delete(kinds.PersistentVolume, { name })
  await gone(client, kinds.PersistentVolume, { name: 'free' })
  assert.ok((await client.get(kinds.PersistentVolume, { name: 'bound' })).metadata.deletionTimestamp)
  await client.delete(kinds.PersistentVolumeClaim, { namespace, name: 'user' })
  await gone(client, kinds.PersistentVolume, { name: 'bound' })
})

test('existing claims and volumes get the protection finalizer, and other finalizers are kept', async (t) => {
  const client = await begin(t, ['--disable-admission-plugins=StorageObjectInUseProtection'])
  const bare = claim('bare')
  await client.create(kinds.PersistentVolumeClaim, {
    ...bare,
    metadata: { ...bare.metadata, finalizers: ['example.com/mine'] },
  })
  const name = { namespace, name: 'bare' }
  const both = ['example.com/mine', 'orch.io/pvc-protection']
  await eventOf(client, kinds.PersistentVolumeClaim, {
    name,
    fits: (event) => event.type !== 'BOOKMARK' && event.object.metadata.finalizers?.join() === both.join(),
  })
  await client.delete(kinds.PersistentVolumeClaim, name)
  await eventOf(client, kinds.PersistentVolumeClaim, {
    name,
    fits: (event) => event.type !== 'BOOKMARK' && event.object.metadata.finalizers?.join() === 'example.com/mine',
  })
  await client.patch(kinds.PersistentVolumeClaim, name, { patch: { merge: { metadata: { finalizers: null } } } })
  await gone(client, kinds.PersistentVolumeClaim, name)
})

test('a claim with the default class gets a directory, can grow, and is deleted together with the directory', async (t) => {
  const server = await startUp(t)
  const client = new Client(server.transport())
  const name = { namespace, name: 'plain' }
  const { storageClassName: _, ...plain } = spec
  await client.create(kinds.PersistentVolumeClaim, { ...claim('plain'), spec: plain } as never)
  const bound = await eventOf(client, kinds.PersistentVolumeClaim, {
    name,
    fits: (event) => event.type !== 'BOOKMARK' && event.object.status?.phase === 'Bound',
  })
  assert.ok(bound.type !== 'BOOKMARK')
  assert.equal(bound.object.spec?.storageClassName, 'standard')
  const volume = await client.get(kinds.PersistentVolume, { name: bound.object.spec?.volumeName ?? '' })
  const path = volume.spec?.hostPath?.path ?? ''
  assert.equal(path, `${server.directory}/data/volumes/${volume.metadata.name}`)
  assert.ok(existsSync(path))
  await client.patch(kinds.PersistentVolumeClaim, name, {
    patch: { merge: { spec: { resources: { requests: { storage: '4Gi' } } } } },
  })
  await eventOf(client, kinds.PersistentVolumeClaim, {
    name,
    fits: (event) => event.type !== 'BOOKMARK' && event.object.status?.capacity?.storage === '4Gi',
  })
  await client.delete(kinds.PersistentVolumeClaim, name)
  await gone(client, kinds.PersistentVolumeClaim, name)
  await gone(client, kinds.PersistentVolume, { name: volume.metadata.name! })
  assert.equal(existsSync(path), false)
})

test('--default-storage-class=false omits the default class, and --volume-directory sets where volumes are stored', async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'orch-volumes-'))
  t.after(() => rmSync(place, { recursive: true }))
  const client = await begin(t, ['--default-storage-class=false', `--volume-directory=${place}/v`])
  const classes = { group: 'storage.orch.io', version: 'v1', plural: 'storageclasses', namespaced: false }
  assert.deepEqual((await client.list(classes)).items, [])
  const metadata = { name: 'own' }
  const own = { apiVersion: 'storage.orch.io/v1', kind: 'StorageClass', metadata, provisioner: 'orch.io/host-path' }
  await client.create(classes, own)
  await client.create(kinds.PersistentVolumeClaim, {
    ...claim('elsewhere'),
    spec: { ...spec, storageClassName: 'own' },
  })
  await eventOf(client, kinds.PersistentVolumeClaim, {
    name: { namespace, name: 'elsewhere' },
    fits: (event) => event.type !== 'BOOKMARK' && event.object.status?.phase === 'Bound',
  })
  assert.equal(readdirSync(`${place}/v`).filter((file) => file.startsWith('pvc-')).length, 1)
})

test('a VolumeAttributesClass is deleted when no claim uses it', async (t) => {
  const client = await begin(t, ['--emulated-version=1.34'])
  const classes = inDomainOf(vendorOf('orch'), kinds.VolumeAttributesClass)
  const sent = { metadata: { name: 'gold' }, driverName: 'd', parameters: { iops: '1' } }
  const made = await client.create(classes, sent as Parameters<typeof client.create<kinds.VolumeAttributesClass>>[1])
  assert.deepEqual(made.metadata.finalizers, ['orch.io/vac-protection'])
  const used = claim('user')
  await client.create(kinds.PersistentVolumeClaim, { ...used, spec: { ...spec, volumeAttributesClassName: 'gold' } })
  await client.delete(classes, { name: 'gold' })
  assert.ok((await client.get(classes, { name: 'gold' })).metadata.deletionTimestamp)
  await client.delete(kinds.PersistentVolumeClaim, { namespace, name: 'user' })
  await gone(client, classes, { name: 'gold' })
})

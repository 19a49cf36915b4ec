/** Tests claims and volumes: binding, phases, reclaiming and provisioning. */

import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, before, test } from 'node:test'
import type { PersistentVolume } from '../../../src/api/kinds/core/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../src/api/kinds/core/persistent-volume-claim.ts'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import type { ApiObject } from '../../../src/api/model/object.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import type { ResourceType } from '../../../src/client/requests/resource-type.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import type { Transport } from '../../../src/client/requests/transport.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { holdRequests } from '../../support/held-requests.ts'
import { type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until, untilTrue } from '../../support/until.ts'

const classes: ResourceType = { group: 'storage.orch.io', version: 'v1', plural: 'storageclasses', namespaced: false }
const nodes: ResourceType = { group: '', version: 'v1', plural: 'nodes', namespaced: false }
const events: ResourceType = { group: '', version: 'v1', plural: 'events', namespaced: true }
const namespace = 'default'
const loops = [
  'persistentvolume-binder',
  'host-path-provisioner',
  'ephemeral-volume',
  'pv-protection',
  'pvc-protection',
  'garbagecollector',
]

const owner = endOfFile()
let server: LoopServer
let root: string

before(async () => {
  server = await loopServer(owner, ['--disable-admission-plugins=ServiceAccount'])
  root = join(server.directory, 'volumes')
})
afterEach(async () => {
  await server.end()
})

function begin(through?: (send: Transport) => Transport): void {
  server.run(loops, { options: { volumeDirectory: root }, ...(through === undefined ? {} : { through }) })
}

interface Wanted {
  readonly size?: string
  readonly modes?: string[]
  readonly className?: string
  readonly spec?: object
  readonly annotations?: { [key: string]: string }
  readonly labels?: { [key: string]: string }
}

async function makeVolume(
  name: string,
  { size = '1Gi', modes = ['ReadWriteOnce'], className = '', spec = {}, labels = {} }: Wanted = {},
) {
  const own = {
    capacity: { storage: size },
    accessModes: modes,
    storageClassName: className,
    hostPath: { path: `/x/${name}` },
  }
  const object = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name, labels }, spec: { ...own, ...spec } }
  return await server.client.create(kinds.PersistentVolume, object as PersistentVolume)
}

async function makeClaim(
  name: string,
  { size = '1Gi', modes = ['ReadWriteOnce'], className = '', spec = {}, annotations = {} }: Wanted = {},
): Promise<PersistentVolumeClaim> {
  const own = { accessModes: modes, resources: { requests: { storage: size } }, storageClassName: className }
  const object = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace, annotations },
    spec: { ...own, ...spec },
  }
  return await server.client.create(kinds.PersistentVolumeClaim, object as PersistentVolumeClaim)
}

async function makeClass(name: string, more: object = {}): Promise<void> {
  const object = {
    apiVersion: 'storage.orch.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'orch.io/host-path',
  }
  await server.client.create(classes, { ...object, ...more })
}

const claim = (name: string) => server.client.get(kinds.PersistentVolumeClaim, { namespace, name })
const volume = (name: string) => server.client.get(kinds.PersistentVolume, { name })

async function claimIn(phase: string, name: string): Promise<PersistentVolumeClaim> {
  const find = async () =>
    (await server.client.list(kinds.PersistentVolumeClaim, { namespace, fieldSelector: `metadata.name=${name}` }))
      .items[0]
  return (await until(find, (found) => found?.status?.phase === phase))!
}

async function volumeIn(phase: string, name: string): Promise<PersistentVolume> {
  return await until(
    () => volume(name),
    ({ status }) => status?.phase === phase,
  )
}

async function gone<T extends ApiObject>(type: ResourceType<T>, name: string): Promise<void> {
  const place = type.namespaced ? { namespace, name } : { name }
  const isThere = async () => {
    try {
      await server.client.get(type, place)
      return true
    } catch (error) {
      if (!isNotFound(error)) throw error
      return false
    }
  }
  await untilTrue(async () => !(await isThere()))
}

async function eventOf(name: string, reason: string): Promise<ApiObject> {
  const fieldSelector = `involvedObject.name=${name},reason=${reason}`
  const { items } = await until(
    () => server.client.list(events, { fieldSelector }),
    ({ items }) => items.length > 0,
  )
  return items[0]!
}

test('a claim is bound to the smallest volume that matches its class, modes, size and labels', async () => {
  begin()
  await makeVolume('m-small', { size: '500Mi' })
  await makeVolume('m-class', { className: 'other' })
  await makeVolume('m-modes', { modes: ['ReadOnlyMany'] })
  await makeVolume('m-block', { spec: { volumeMode: 'Block' } })
  await makeVolume('m-large', { size: '9Gi', labels: { tier: 'fast' } })
  await makeVolume('m-right', { size: '2Gi', labels: { tier: 'fast' } })
  await makeVolume('m-unlabelled', { size: '1Gi' })
  for (const name of ['m-small', 'm-right', 'm-large', 'm-unlabelled']) await volumeIn('Available', name)
  await makeClaim('m', { spec: { selector: { matchLabels: { tier: 'fast' } } } })
  const { spec, status, metadata } = await claimIn('Bound', 'm')
  assert.equal(spec?.volumeName, 'm-right')
  assert.deepEqual([status?.capacity, status?.accessModes], [{ storage: '2Gi' }, ['ReadWriteOnce']])
  assert.deepEqual(metadata.annotations, {
    'pv.orch.io/bind-completed': 'yes',
    'pv.orch.io/bound-by-controller': 'yes',
  })
  const bound = await volumeIn('Bound', 'm-right')
  const { name, uid } = bound.spec?.claimRef ?? {}
  assert.deepEqual([name, uid], ['m', metadata.uid])
  assert.equal(bound.metadata.annotations?.['pv.orch.io/bound-by-controller'], 'yes')
  await makeClaim('m-none', { size: '90Gi' })
  await eventOf('m-none', 'FailedBinding')
  assert.equal((await claim('m-none')).status?.phase, 'Pending')
  await makeVolume('m-huge', { size: '100Gi' })
  assert.equal((await claimIn('Bound', 'm-none')).spec?.volumeName, 'm-huge')
})

test('a claim and a volume that name each other are bound, and mismatches are reported in an Event', async () => {
  begin()
  const claimRef = { namespace, name: 'n-claim' }
  await makeVolume('n-volume', { spec: { claimRef } })
  await makeVolume('n-tiny', { size: '1Mi' })
  await makeClaim('n-other', { spec: { volumeName: 'n-volume' } })
  await eventOf('n-other', 'FailedBinding')
  await makeClaim('n-claim', { spec: { volumeName: 'n-volume' } })
  const bound = await claimIn('Bound', 'n-claim')
  const { spec, metadata } = await volumeIn('Bound', 'n-volume')
  assert.equal(spec?.claimRef?.uid, bound.metadata.uid)
  assert.equal(metadata.annotations?.['pv.orch.io/bound-by-controller'], undefined)
  await makeClaim('n-mismatch', { spec: { volumeName: 'n-tiny' } })
  assert.match(String((await eventOf('n-mismatch', 'VolumeMismatch')).message), /too small/)
})

test('volumes become Released or Failed depending on the reclaim policy, and a claim whose volume is missing becomes Lost', async () => {
  begin()
  for (const [name, policy] of [
    ['p-keep', 'Retain'],
    ['p-fail', 'Delete'],
  ] as const) {
    await makeVolume(name, { spec: { persistentVolumeReclaimPolicy: policy } })
    await makeClaim(name, { spec: { volumeName: name } })
    await claimIn('Bound', name)
    await server.client.delete(kinds.PersistentVolumeClaim, { namespace, name })
  }
  await volumeIn('Released', 'p-keep')
  await volumeIn('Failed', 'p-fail')
  await eventOf('p-fail', 'VolumeFailedDelete')
  await makeVolume('p-lost')
  await makeClaim('p-lost', { spec: { volumeName: 'p-lost' } })
  await claimIn('Bound', 'p-lost')
  await volumeIn('Bound', 'p-lost')
  await server.client.delete(kinds.PersistentVolume, { name: 'p-lost' })
  await server.client.patch(
    kinds.PersistentVolume,
    { name: 'p-lost' },
    { patch: { merge: { metadata: { finalizers: null } } } },
  )
  await claimIn('Lost', 'p-lost')
  await eventOf('p-lost', 'ClaimLost')
})

test('a stale volume cache does not make a bound claim Lost', async () => {
  const wire = holdRequests()
  const volumeLists = wire.holdAnswers(({ path }) => /^\/api\/v1\/persistentvolumes\?.*limit=/.test(path))
  wire.hold(({ path }) => /^\/api\/v1\/persistentvolumes\?.*watch=/.test(path))
  const claimLists = wire.hold(({ path }) => path.startsWith('/api/v1/persistentvolumeclaims?'))
  const { firstPass } = server.run(['persistentvolume-binder'], wire)
  await untilTrue(async () => volumeLists.count > 0)
  const annotations = { 'pv.orch.io/bind-completed': 'yes' }
  const { metadata } = await makeClaim('behind', { spec: { volumeName: 'p-behind' }, annotations })
  await makeVolume('p-behind', { spec: { claimRef: { namespace, name: 'behind', uid: metadata.uid } } })
  volumeLists.release()
  claimLists.release()
  await firstPass
  await claimIn('Bound', 'behind')
  const { items } = await server.client.list(events, { namespace, fieldSelector: 'involvedObject.name=behind' })
  assert.deepEqual(items, [])
})

test('the provisioner creates a directory with mode 0700 and removes it when the claim is deleted', async () => {
  begin()
  await makeClass('dir')
  await makeClaim('d', { className: 'dir', size: '3Gi' })
  const { spec, metadata } = await claimIn('Bound', 'd')
  assert.equal(spec?.volumeName, `pvc-${metadata.uid}`)
  assert.equal(metadata.annotations?.['volume.orch.io/storage-provisioner'], 'orch.io/host-path')
  const made = await volumeIn('Bound', `pvc-${metadata.uid}`)
  assert.equal(made.spec?.persistentVolumeReclaimPolicy, 'Delete')
  assert.equal(made.metadata.annotations?.['pv.orch.io/provisioned-by'], 'orch.io/host-path')
  assert.deepEqual(made.spec?.capacity, { storage: '3Gi' })
  assert.equal(made.spec?.nodeAffinity, undefined)
  const { path = '' } = made.spec?.hostPath ?? {}
  assert.equal(path, join(root, `pvc-${metadata.uid}`))
  assert.equal(lstatSync(path).mode & 0o777, 0o700)
  const outside = join(server.directory, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'precious'), 'kept')
  symlinkSync(outside, join(path, 'link'))
  await eventOf('d', 'ProvisioningSucceeded')
  await server.client.delete(kinds.PersistentVolumeClaim, { namespace, name: 'd' })
  await gone(kinds.PersistentVolumeClaim, 'd')
  await gone(kinds.PersistentVolume, `pvc-${metadata.uid}`)
  assert.equal(existsSync(path), false)
  assert.deepEqual(readdirSync(outside), ['precious'])
  await untilTrue(async () => readdirSync(root).length === 0)
})

/** Creates a provisioned volume that contains a file, and deletes the volume's claim while no loop runs. */
async function abandonedVolume(name: string): Promise<{ volume: string; file: string }> {
  begin()
  await makeClaim(name, { className: 'dir' })
  const { spec, metadata } = await claimIn('Bound', name)
  const file = join(root, spec!.volumeName!, 'data')
  writeFileSync(file, 'precious')
  await server.end()
  await server.client.patch(
    kinds.PersistentVolumeClaim,
    { namespace, name },
    { patch: { merge: { metadata: { uid: metadata.uid, finalizers: null } } } },
  )
  await server.client.delete(kinds.PersistentVolumeClaim, { namespace, name })
  return { volume: spec!.volumeName!, file }
}

test('the provisioner does not delete data because of a stale volume cache', async () => {
  const { volume: name, file } = await abandonedVolume('kept')
  server.run(['persistentvolume-binder'])
  await volumeIn('Released', name)
  await server.end()
  const wire = holdRequests()
  const lists = wire.holdAnswers(({ path }) => /^\/api\/v1\/persistentvolumes\?.*limit=/.test(path))
  const watches = wire.hold(({ path }) => /^\/api\/v1\/persistentvolumes\?.*watch=/.test(path))
  const { firstPass } = server.run(['host-path-provisioner'], { options: { volumeDirectory: root }, ...wire })
  await untilTrue(async () => lists.count > 0)
  const patch = { merge: { spec: { persistentVolumeReclaimPolicy: 'Retain' } } }
  await server.client.patch(kinds.PersistentVolume, { name }, { patch })
  lists.release()
  await firstPass
  assert.ok(existsSync(file))
  watches.release()
  await server.client.patch(
    kinds.PersistentVolume,
    { name },
    { patch: { merge: { spec: { persistentVolumeReclaimPolicy: 'Delete' } } } },
  )
  await untilTrue(async () => !existsSync(file))
})

test('the provisioner does not treat a directory on another machine as removed', async () => {
  const { volume: name, file } = await abandonedVolume('elsewhere')
  const away = `${root}-of-another-machine`
  renameSync(root, away)
  mkdirSync(root, { mode: 0o700 })
  server.run(['persistentvolume-binder', 'host-path-provisioner'], { options: { volumeDirectory: root } })
  await volumeIn('Released', name)
  await until(
    async () => (await server.client.list(events, { fieldSelector: `involvedObject.name=${name}` })).items,
    (items) => items.some(({ reason }) => reason === 'VolumeFailedDelete'),
  )
  assert.equal((await volume(name)).status?.phase, 'Released')
  await server.end()
  rmdirSync(root)
  renameSync(away, root)
  begin()
  await gone(kinds.PersistentVolume, name)
  assert.equal(existsSync(file), false)
})

test('the provisioner removes only its own directories, and a failing volume does not block other volumes', async () => {
  begin()
  await makeClaim('s', { className: 'dir' })
  await makeClaim('s-other', { className: 'dir' })
  const { metadata, spec } = await claimIn('Bound', 's')
  await claimIn('Bound', 's-other')
  // A user with write access to volumes changes a volume so that it points to a different directory.
  const stranger = join(server.directory, 'stranger')
  mkdirSync(stranger)
  const name = `pvc-${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}`
  await server.client.create(kinds.PersistentVolume, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.orch.io/provisioned-by': 'orch.io/host-path' } },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      claimRef: { namespace, name: 'nobody', uid: 'nobody-uid' },
      hostPath: { path: stranger },
    },
  } as PersistentVolume)
  await volumeIn('Failed', name)
  await server.client.delete(kinds.PersistentVolumeClaim, { namespace, name: 's' })
  await gone(kinds.PersistentVolume, spec!.volumeName!)
  assert.ok(existsSync(stranger))
  assert.ok(metadata.uid)
  await server.client.delete(kinds.PersistentVolumeClaim, { namespace, name: 's-other' })
  await gone(kinds.PersistentVolumeClaim, 's-other')
})

test('delayed binding uses the node that the scheduler selected, within the allowed topologies', async () => {
  begin()
  const node = (name: string, zone: string) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'orch.io/hostname': name, zone } },
  })
  for (const [name, zone] of [
    ['node-a', 'a'],
    ['node-b', 'b'],
  ] as const)
    await server.client.create(nodes, node(name, zone))
  const allowedTopologies = [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }]
  await makeClass('late', { volumeBindingMode: 'WaitForFirstConsumer', allowedTopologies })
  await makeClaim('w', { className: 'late' })
  await eventOf('w', 'WaitForFirstConsumer')
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'first', namespace },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'w' } }],
    },
  }
  await server.client.create(kinds.Pod, pod as Pod)
  const waits = await eventOf('w', 'WaitForPodScheduled')
  assert.equal((waits as ApiObject & { message: string }).message, 'waiting for pod first to be scheduled')
  await server.client.delete(kinds.Pod, { namespace, name: 'first' })
  assert.equal((await claim('w')).status?.phase, 'Pending')
  const select = (name: string, to: string) =>
    server.client.patch(
      kinds.PersistentVolumeClaim,
      { namespace, name },
      { patch: { merge: { metadata: { annotations: { 'volume.orch.io/selected-node': to } } } } },
    )
  await select('w', 'node-b')
  assert.match(
    String((await eventOf('w', 'ProvisioningFailed')).message),
    /none of the topologies that the StorageClass allows/,
  )
  await select('w', 'node-a')
  const { spec } = await claimIn('Bound', 'w')
  const { nodeAffinity } = (await volume(spec!.volumeName!)).spec ?? {}
  const [term] = nodeAffinity?.required?.nodeSelectorTerms ?? []
  assert.deepEqual(term?.matchExpressions, [{ key: 'orch.io/hostname', operator: 'In', values: ['node-a'] }])
  // An existing volume on the node takes precedence over provisioning.
  const affinity = (zone: string) => ({
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }] },
    },
  })
  await makeVolume('w-b', { className: 'late', spec: affinity('b') })
  await makeVolume('w-a', { className: 'late', spec: affinity('a') })
  for (const name of ['w-a', 'w-b']) await volumeIn('Available', name)
  await makeClaim('w-static', { className: 'late', annotations: { 'volume.orch.io/selected-node': 'node-a' } })
  assert.equal((await claimIn('Bound', 'w-static')).spec?.volumeName, 'w-a')
})

test('external provisioners are requested by annotation and Event, and a missing class is reported', async () => {
  begin()
  await makeClass('external', { provisioner: 'example.com/disk' })
  await makeClaim('e', { className: 'external' })
  await eventOf('e', 'ExternalProvisioning')
  const marked = await until(
    () => claim('e'),
    ({ metadata }) => metadata.annotations !== undefined,
  )
  assert.equal(marked.metadata.annotations?.['volume.orch.io/storage-provisioner'], 'example.com/disk')
  assert.equal(marked.metadata.annotations?.['volume.beta.orch.io/storage-provisioner'], 'example.com/disk')
  await makeClaim('e-later', { className: 'later' })
  await eventOf('e-later', 'ProvisioningFailed')
  await makeClass('later')
  await claimIn('Bound', 'e-later')
})

test('a claim that is bound soon gets no Event, and Events have the same sources as in Kubernetes', async () => {
  let now = 0
  const clock = { ...systemClock, monotonic: () => now }
  server.run(loops, { options: { volumeDirectory: root }, clock })
  await makeClaim('moment', { className: 'absent' })
  await makeClaim('moment-unset', { spec: { selector: { matchLabels: { moment: 'yes' } } } })
  for (const name of ['moment', 'moment-unset']) await claimIn('Pending', name)
  await makeVolume('moment', { className: 'absent' })
  await makeVolume('moment-unset', { labels: { moment: 'yes' } })
  for (const name of ['moment', 'moment-unset']) await claimIn('Bound', name)
  await makeClaim('moment-never', { className: 'absent' })
  await claimIn('Pending', 'moment-never')
  now += 1000
  const { source } = (await eventOf('moment-never', 'ProvisioningFailed')) as { source?: unknown }
  assert.deepEqual(source, { component: 'persistentvolume-controller' })
  // Events are written in order, so any Events about the other claims would exist by now.
  const { items } = await server.client.list(events, { namespace })
  const about = items.map((event) => (event as { involvedObject?: { name?: string } }).involvedObject?.name)
  assert.deepEqual(
    about.filter((name) => name === 'moment' || name === 'moment-unset'),
    [],
  )
})

test('the claim of an ephemeral volume matches its template and is owned by the Pod', async () => {
  begin()
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'dir' }
  const pod = (name: string, ...names: string[]) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i' }],
      volumes: names.map((volume) => ({
        name: volume,
        ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: 'b' } }, spec } },
      })),
    },
  })
  await makeClaim('q-taken')
  await server.client.create(kinds.Pod, pod('q', 'taken', 'free') as never)
  assert.match(
    String((await eventOf('q', 'FailedBinding')).message),
    /ephemeral volume taken: .*not created for the pod/,
  )
  const made = await claimIn('Bound', 'q-free')
  const [owner] = made.metadata.ownerReferences ?? []
  assert.deepEqual([owner?.kind, owner?.name, owner?.controller], ['Pod', 'q', true])
  assert.deepEqual(made.metadata.labels, { a: 'b' })
  const { volumeName, volumeMode, ...own } = made.spec ?? {}
  assert.deepEqual(own, spec)
  await server.client.delete(kinds.Pod, { namespace, name: 'q' }, { gracePeriodSeconds: 0 })
  await gone(kinds.PersistentVolumeClaim, 'q-free')
  await gone(kinds.PersistentVolume, volumeName!)
  assert.equal(volumeMode, 'Filesystem')
  assert.ok(await claim('q-taken'))
})

test('if the manager is killed during any write, the next manager finishes binding volumes', async () => {
  for (let allowed = 0; allowed < 8; allowed++) {
    let writes = 0
    const stopped = Promise.withResolvers<void>()
    begin((send) => async (request) => {
      const isWrite = request.method !== 'GET' && !request.path.includes('/events')
      if (isWrite && writes++ >= allowed) {
        stopped.resolve()
        throw new Error('the manager has ended')
      }
      return await send(request)
    })
    const name = `k-${allowed}`
    await makeClaim(name, { className: 'dir' })
    const isBound = claimIn('Bound', name)
    await Promise.race([stopped.promise, isBound])
    await server.end()
    begin()
    const { spec, metadata } = await isBound
    assert.equal(spec?.volumeName, `pvc-${metadata.uid}`)
    await volumeIn('Bound', spec!.volumeName!)
    await server.client.delete(kinds.PersistentVolumeClaim, { namespace, name })
    await gone(kinds.PersistentVolume, spec!.volumeName!)
    await server.end()
  }
})

test('if a claim is deleted before it records its volume, the volume is released', async () => {
  let isTold = false
  begin((send) => async (request) => {
    if (!isTold && request.method === 'PUT' && request.path.endsWith('/persistentvolumeclaims/hasty')) {
      isTold = true
      await server.client.delete(kinds.PersistentVolumeClaim, { namespace, name: 'hasty' })
      await gone(kinds.PersistentVolumeClaim, 'hasty')
    }
    return await send(request)
  })
  await makeVolume('held', { className: 'hasty' })
  await makeClaim('hasty', { className: 'hasty' })
  await volumeIn('Released', 'held')
  await server.client.delete(kinds.PersistentVolume, { name: 'held' })
  await gone(kinds.PersistentVolume, 'held')
})

test('a claim can grow if the built-in provisioner created its volume; external controllers resize all other volumes', async () => {
  const grow = (name: string) =>
    server.client.patch(
      kinds.PersistentVolumeClaim,
      { namespace, name },
      { patch: { merge: { spec: { resources: { requests: { storage: '5Gi' } } } } } },
    )
  const size = async (name: string) => (await claim(name)).status?.capacity?.storage
  begin()
  await makeClass('growing', { allowVolumeExpansion: true })
  for (const name of ['g-a', 'g-b']) await makeClaim(name, { className: 'growing' })
  await makeVolume('g-other', { className: 'growing', spec: { claimRef: { namespace, name: 'g-other' } } })
  await makeClaim('g-other', { className: 'growing', spec: { volumeName: 'g-other' } })
  for (const name of ['g-a', 'g-b', 'g-other']) await claimIn('Bound', name)
  await server.end()
  // The manager stops after expanding the volume of `g-a`, and cannot write the volume of `g-b`.
  const grown = Promise.withResolvers<void>()
  const other = (await claim('g-a')).spec?.volumeName
  const broken = (await claim('g-b')).spec?.volumeName
  server.run(['persistentvolume-expander'], {
    through: (send) => async (request) => {
      if (request.method === 'PATCH' && request.path.endsWith(`/${broken}`)) throw new Error('refused')
      const answer = await send(request)
      if (request.method === 'PATCH' && request.path.endsWith(`/${other}`)) grown.resolve()
      return answer
    },
  })
  for (const name of ['g-a', 'g-b', 'g-other']) await grow(name)
  await grown.promise
  await eventOf('g-other', 'ExternalExpanding')
  await server.end()
  server.run([...loops, 'persistentvolume-expander'], { options: { volumeDirectory: root } })
  for (const name of ['g-a', 'g-b']) {
    await until(
      () => size(name),
      (found) => found === '5Gi',
    )
    const { spec, status } = await claim(name)
    assert.deepEqual(status?.conditions ?? [], [])
    assert.deepEqual((await volume(spec!.volumeName!)).spec?.capacity, { storage: '5Gi' })
  }
  assert.equal(await size('g-other'), '1Gi')
})

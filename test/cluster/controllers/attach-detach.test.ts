/**
 * Tests attaching and detaching the volumes of Pods: VolumeAttachments, and the list of attached volumes in the node
 * status.
 */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { afterEach, before, test } from 'node:test'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const vendor = vendorOf('orch')
const attachments = inDomainOf(vendor, kinds.VolumeAttachment)
const namespace = 'default'
const driver = 'disk.example.com'
const loops = ['attachdetach', 'persistentvolume-binder']
const owner = endOfFile()
let server: LoopServer

before(async () => {
  server = await loopServer(owner, ['--disable-admission-plugins=ServiceAccount'])
  for (const name of ['node-1', 'node-2'])
    await server.client.create(kinds.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name } })
})
afterEach(async () => {
  await server.end()
})

function nameOf(handle: string, node: string, by = driver): string {
  return `csi-${createHash('sha256').update(`${handle}${by}${node}`).digest('hex')}`
}

async function makeStorage(name: string, by = driver): Promise<void> {
  const shared = { accessModes: ['ReadWriteOnce'], storageClassName: '' }
  await server.client.create(kinds.PersistentVolume, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { ...shared, capacity: { storage: '1Gi' }, csi: { driver: by, volumeHandle: `h-${name}` } },
  } as never)
  await server.client.create(kinds.PersistentVolumeClaim, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace },
    spec: { ...shared, volumeName: name, resources: { requests: { storage: '1Gi' } } },
  } as never)
}

async function makePod(name: string, claimName: string, nodeName: string): Promise<void> {
  await server.client.create(kinds.Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      nodeName,
      containers: [{ name: 'c', image: 'i' }],
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
    },
  } as never)
}

async function removePod(name: string): Promise<void> {
  await server.client.delete(kinds.Pod, { namespace, name }, { gracePeriodSeconds: 0 })
}

async function attached(): Promise<string[]> {
  const { items } = await server.client.list(attachments)
  return items.map(({ metadata }) => metadata.name ?? '').sort()
}

async function untilAttached(...names: string[]): Promise<void> {
  await until(attached, (found) => found.join() === names.sort().join())
}

async function setAttached(name: string): Promise<void> {
  await server.client.patch(
    attachments,
    { name },
    { patch: { merge: { status: { attached: true } } }, subresource: 'status' },
  )
}

async function untilNode(name: string, ...volumeNames: string[]): Promise<void> {
  const told = async () =>
    (await server.client.get(kinds.Node, { name })).status?.volumesAttached?.map((each) => each.name) ?? []
  await until(told, (found) => found.join() === volumeNames.join())
}

async function eventFor(name: string, reason: string): Promise<string> {
  const fieldSelector = `involvedObject.name=${name},reason=${reason}`
  const events = { group: '', version: 'v1', plural: 'events', namespaced: true }
  const { items } = await until(
    () => server.client.list(events, { fieldSelector }),
    ({ items }) => items.length > 0,
  )
  return String(items[0]?.message)
}

test('a volume is attached once per node while a Pod uses it, and the node status lists the volume', async () => {
  server.run(loops)
  await makeStorage('a')
  await makePod('a-1', 'a', 'node-1')
  await makePod('a-2', 'a', 'node-1')
  const name = nameOf('h-a', 'node-1')
  await untilAttached(name)
  const { spec } = await server.client.get(attachments, { name })
  assert.deepEqual(spec, { attacher: driver, nodeName: 'node-1', source: { persistentVolumeName: 'a' } })
  await setAttached(name)
  await untilNode('node-1', `orch.io/csi/${driver}^h-a`)
  assert.match(await eventFor('a-1', 'SuccessfulAttachVolume'), /succeeded for volume "a"/)
  // A ReadWriteOnce volume is not attached to a second node.
  await makePod('a-3', 'a', 'node-2')
  assert.match(await eventFor('a-3', 'FailedAttachVolume'), /Multi-Attach error/)
  assert.deepEqual(await attached(), [name])
  await removePod('a-1')
  await removePod('a-2')
  await untilAttached(nameOf('h-a', 'node-2'))
  await untilNode('node-1')
  await removePod('a-3')
  await untilAttached()
})

test('volumes of a driver that does not require attaching get no VolumeAttachment', async () => {
  server.run(loops)
  const quiet = 'quiet.example.com'
  const object = { apiVersion: 'storage.orch.io/v1', kind: 'CSIDriver', metadata: { name: quiet } }
  await server.client.create(inDomainOf(vendor, kinds.CSIDriver), {
    ...object,
    spec: { attachRequired: false },
  } as never)
  await makeStorage('q', quiet)
  await makeStorage('l')
  await makePod('q', 'q', 'node-1')
  await makePod('l', 'l', 'node-1')
  await untilAttached(nameOf('h-l', 'node-1'))
  for (const name of ['q', 'l']) await removePod(name)
  await untilAttached()
})

test('a volume in use stays attached until it is unmounted or six minutes have passed, even if the manager restarts', async () => {
  let now = 0
  const clock = { now: systemClock.now, monotonic: () => now }
  const setInUse = (...volumesInUse: string[]) =>
    server.client.patch(
      kinds.Node,
      { name: 'node-1' },
      { patch: { merge: { status: { volumesInUse } } }, subresource: 'status' },
    )
  server.run(loops, { clock })
  for (const name of ['u', 'late']) {
    await makeStorage(name)
    await makePod(name, name, 'node-1')
  }
  await untilAttached(nameOf('h-u', 'node-1'), nameOf('h-late', 'node-1'))
  await server.end()
  await setInUse(`orch.io/csi/${driver}^h-u`, `orch.io/csi/${driver}^h-late`)
  for (const name of ['u', 'late']) await removePod(name)
  server.run(loops, { clock })
  await makeStorage('seen')
  await makePod('seen', 'seen', 'node-1')
  const seen = nameOf('h-seen', 'node-1')
  await untilAttached(nameOf('h-u', 'node-1'), nameOf('h-late', 'node-1'), seen)
  await setInUse(`orch.io/csi/${driver}^h-late`)
  await untilAttached(nameOf('h-late', 'node-1'), seen)
  now += 6 * 60_000
  await removePod('seen')
  await untilAttached()
})

test('a failing volume attachment does not block other attachments, and the next manager completes it', async () => {
  await makeStorage('b-broken')
  await makeStorage('b-fine')
  const broken = nameOf('h-b-broken', 'node-1')
  server.run(loops, {
    through: (send) => async (request) => {
      const body = request.body === undefined ? '' : Buffer.from(request.body).toString()
      if (request.method === 'POST' && body.includes(broken)) throw new Error('refused')
      return await send(request)
    },
  })
  for (const name of ['b-broken', 'b-fine']) await makePod(name, name, 'node-1')
  await untilAttached(nameOf('h-b-fine', 'node-1'))
  await server.end()
  server.run(loops)
  await untilAttached(nameOf('h-b-fine', 'node-1'), broken)
})

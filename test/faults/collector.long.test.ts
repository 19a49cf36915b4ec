/**
 * Tests the garbage collector in separate processes, as users run it. A kind is defined while the collector is
 * starting, after kill -9, and during a change of the leader. Also tests that `orch controller-manager` continues to
 * run while the etcd of its server is restored.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ApiObject, OwnerReference } from '../../src/api/model/object.ts'
import { Client } from '../../src/client/requests/client.ts'
import type { ResourceType } from '../../src/client/requests/resource-type.ts'
import { startEtcd } from '../support/etcd.ts'
import { startManager } from '../support/manager.ts'
import { configMap, configMaps } from '../support/resource-types.ts'
import { type Served, startServer, startUp } from '../support/server.ts'
import { until, untilTrue } from '../support/until.ts'

const namespace = 'default'
const definitions: ResourceType = {
  group: 'apiextensions.orch.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  namespaced: false,
}
/** Delay between the collector's start and the definition of the kind. */
const delaysMs = [0, 300, 600]
const orphansEach = 5
/** Maximum time on a busy machine. */
const patienceMs = 180_000
let kinds = 0

function ownedBy({ apiVersion, kind, metadata: { name, uid } }: ApiObject): OwnerReference[] {
  return [{ apiVersion, kind, name: name!, uid: uid! }]
}

async function makeMap(client: Client, name: string, ownerReferences: OwnerReference[] = []): Promise<ApiObject> {
  const object = configMap(name, {}, namespace)
  return await client.create(configMaps, { ...object, metadata: { ...object.metadata, ownerReferences } })
}

async function define(client: Client, kind: string): Promise<ResourceType> {
  const plural = `${kind.toLowerCase()}s`
  const schema = { openAPIV3Schema: { type: 'object' } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  await client.create(definitions, {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: { group: 'example.com', names: { kind, plural }, scope: 'Namespaced', versions },
  } as ApiObject)
  const type: ResourceType = { group: 'example.com', version: 'v1', plural, namespaced: true }
  const isServed = () =>
    client.list(type).then(
      () => true,
      () => false,
    )
  await untilTrue(isServed)
  return type
}

/**
 * Defines a kind, and deletes two owners. The dependents of one owner are orphaned, and those of the other are deleted.
 */
async function orphanAndCollect(server: Served): Promise<void> {
  const client = new Client(server.transport())
  const kind = `Widget${++kinds}`
  const type = await define(client, kind)
  const make = (name: string, owner: ApiObject) =>
    client.create(type, {
      apiVersion: 'example.com/v1',
      kind,
      metadata: { name, namespace, ownerReferences: ownedBy(owner) },
    })
  const owner = await makeMap(client, `owner-${kind.toLowerCase()}`)
  for (let i = 0; i < orphansEach; i++) await make(`orphan-${i}`, owner)
  const place = (object: ApiObject) => ({ namespace, name: object.metadata.name! })
  await client.delete(configMaps, place(owner), { propagationPolicy: 'Orphan' })
  const isGone = async () => {
    const { items } = await client.list(configMaps, { namespace })
    return !items.some(({ metadata }) => metadata.uid === owner.metadata.uid)
  }
  await untilTrue(isGone, patienceMs)
  const other = await makeMap(client, `other-${kind.toLowerCase()}`)
  const dependent = await make('dependent', other)
  await client.delete(configMaps, place(other), { propagationPolicy: 'Background' })
  const left = await until(
    async () => (await client.list(type, { namespace })).items,
    (items) => !items.some(({ metadata }) => metadata.uid === dependent.metadata.uid),
    patienceMs,
  )
  assert.equal(left.length, orphansEach)
  for (const { metadata } of left) assert.equal(metadata.ownerReferences, undefined)
}

test('the garbage collector keeps orphaned objects of a kind that is defined just after the collector starts', {
  timeout: 600_000,
}, async (t) => {
  for (const delayMs of delaysMs) {
    const server = await startUp(t)
    await pause(delayMs)
    await orphanAndCollect(server)
    await server.kill()
    await server.restart()
    await pause(delayMs)
    await orphanAndCollect(server)
    await server.stop()
  }
})

test('the garbage collector keeps orphaned objects of a kind that is defined during a leader change', {
  timeout: 600_000,
}, async (t) => {
  const server = await startServer(t)
  const flags = ['--controllers=garbagecollector', '--leader-elect=true']
  let leader = startManager(t, server, flags)
  await leader.leads()
  for (const delayMs of delaysMs) {
    const next = startManager(t, server, flags)
    await leader.end('SIGTERM')
    await next.leads()
    await pause(delayMs)
    await orphanAndCollect(server)
    leader = next
  }
})

test('a manager that runs while etcd is restored keeps dependents whose owners exist', {
  timeout: 600_000,
}, async (t) => {
  const cluster = await startEtcd()
  t.after(() => cluster.stop())
  const server = await startServer(t, [`--etcd-servers=${cluster.endpoints}`])
  const manager = startManager(t, server, ['--controllers=garbagecollector'])
  await manager.leads()
  const client = new Client(server.transport())
  const isReady = async () => (await server.client().get('/readyz')).status === 200
  for (let i = 0; i < 25; i++) {
    const owner = await makeMap(client, `owner-${i}`)
    for (let j = 0; j < 4; j++) await makeMap(client, `dependent-${i}-${j}`, ownedBy(owner))
  }
  const uids = async () =>
    (await client.list(configMaps, { namespace })).items
      .filter(({ metadata: { name = '' } }) => /^(owner|dependent)-/.test(name))
      .map(({ metadata }) => metadata.uid!)
      .sort()
  const before = await uids()
  assert.equal(before.length, 125)
  await cluster.save()
  await untilTrue(isReady)
  for (let i = 0; i < 15; i++) await client.delete(configMaps, { namespace, name: `owner-${i}` })
  await until(uids, (left) => left.length === 50, patienceMs)
  await cluster.restore()
  await untilTrue(async () => (await isReady()) && (await uids()).length > 50)
  for (const name of ['late-1', 'late-2']) {
    await makeMap(client, name, [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: `never-${name}` }])
    await untilTrue(
      async () => !(await client.list(configMaps, { namespace })).items.some(({ metadata }) => metadata.name === name),
    )
  }
  assert.deepEqual(await uids(), before)
})

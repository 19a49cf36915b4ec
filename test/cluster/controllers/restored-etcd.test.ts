/**
 * Tests control loops that delete objects while etcd is restored from a backup. A restore recreates deleted objects
 * with their old UIDs and undoes unfinished deletions. Loops must not act on state from before the restore.
 */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { ApiObject, OwnerReference } from '../../../src/api/model/object.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import type { Client, DeleteOptions } from '../../../src/client/requests/client.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Cluster, startEtcd } from '../../support/etcd.ts'
import { holdRequests } from '../../support/held-requests.ts'
import { openLoopServer } from '../../support/loop-manager.ts'
import { configMaps, secrets } from '../../support/resource-types.ts'
import { until, untilTrue } from '../../support/until.ts'

type Policy = NonNullable<DeleteOptions['propagationPolicy']>

const policies: readonly Policy[] = ['Background', 'Foreground', 'Orphan']
const dependentsEach = 4
const namespace = 'default'

const owner = endOfFile()
let cluster: Cluster
let server: Awaited<ReturnType<typeof openLoopServer>>

before(async () => {
  cluster = await startEtcd()
  owner.after(() => cluster.stop())
  server = await openLoopServer(owner, [`--etcd-servers=${cluster.endpoints}`])
})

/**
 * Owners are Secrets and dependents are ConfigMaps, because the collector watches each type separately. The test delays
 * the watch of Secrets, so that the collector receives the restored dependents first.
 */
test('dependents with existing owners are kept after etcd is restored', { timeout: 300_000 }, async () => {
  const { client, start } = server
  const wire = holdRequests()
  const manager = start(['garbagecollector'], wire)
  await manager.firstPass
  for (const policy of policies) await makeFamily(client, policy)
  await caughtUp(client)
  await cluster.save()
  await untilTrue(() => answers(client))
  const before = await dependents(client)
  assert.equal(before.length, policies.length * dependentsEach)

  // The deletion of the owner with the orphan finalizer cannot finish before the restore. The foreground deletion of
  // the other owner waits for another finalizer.
  const finalizer = wire.hold(({ method, path }) => method === 'PATCH' && path.endsWith(ownerName('Orphan')))
  for (const policy of policies)
    await client.delete(secrets, { namespace, name: ownerName(policy) }, { propagationPolicy: policy })
  await until(
    () => dependents(client),
    (left) => left.length === dependentsEach + 1 && left.every((each) => !each.endsWith(' kept')),
  )
  await untilTrue(async () => finalizer.count > 0)
  const secretWatches = wire.hold(({ path }) => /^\/api\/v1\/secrets(\?|$)/.test(path))
  await cluster.restore()
  await untilTrue(() => answers(client))
  await caughtUp(client)
  assert.deepEqual(await dependents(client), before, 'while the owners are not listed')
  await untilTrue(async () => secretWatches.count > 0)
  finalizer.release()
  secretWatches.release()
  await caughtUp(client)
  assert.deepEqual(await dependents(client), before, 'when the owners are listed')
  const { items } = await client.list(secrets, { namespace })
  assert.equal(items.filter(({ metadata }) => metadata.name?.startsWith('owner-')).length, policies.length)
  await manager.stop()
})

test('a namespace whose deletion was undone by a restore keeps its objects', { timeout: 300_000 }, async () => {
  const { client, start } = server
  const wire = holdRequests()
  const deletions = wire.hold(({ method, path }) => method === 'DELETE' && path.includes('/doomed/configmaps'))
  const manager = start(['namespace'], wire)
  const name = 'doomed'
  await client.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', namespace: name } })
  await cluster.save()
  await untilTrue(() => answers(client))
  await client.delete(kinds.Namespace, { name })
  // The loop has read the terminating namespace, and now sends the request to delete the objects in it.
  await untilTrue(async () => deletions.count > 0)
  await cluster.restore()
  await untilTrue(() => answers(client))
  deletions.release()
  await client.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } })
  await client.delete(kinds.Namespace, { name: 'later' })
  await until(
    async () => (await client.list(kinds.Namespace)).items,
    (items) => !items.some(({ metadata }) => metadata.name === 'later'),
    60_000,
  )
  await manager.stop()
  assert.equal((await client.get(kinds.Namespace, { name })).metadata.deletionTimestamp, undefined)
  const { items } = await client.list(configMaps, { namespace: name })
  assert.deepEqual(
    items.map(({ metadata }) => [metadata.name, metadata.deletionTimestamp]),
    [['kept', undefined]],
  )
})

const ownerName = (policy: Policy) => `owner-${policy.toLowerCase()}`

/** Creates an owner and its dependents. One dependent has a finalizer that blocks a foreground deletion. */
async function makeFamily(client: Client, policy: Policy): Promise<void> {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: ownerName(policy), namespace } }
  const { name, uid } = (await client.create(secrets, secret)).metadata
  const reference = { apiVersion: 'v1', kind: 'Secret', name: name!, uid: uid!, blockOwnerDeletion: true }
  for (let i = 0; i < dependentsEach; i++) {
    const finalizers = policy === 'Foreground' && i === 0 ? ['example.com/hold'] : []
    await makeMap(client, { name: `dependent-${policy.toLowerCase()}-${i}`, ownerReferences: [reference], finalizers })
  }
}

async function makeMap(
  client: Client,
  metadata: { name: string; ownerReferences: OwnerReference[]; finalizers?: string[] },
): Promise<void> {
  await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, namespace } })
}

/** Returns each dependent with its UID and whether it is unchanged. */
async function dependents(client: Client): Promise<string[]> {
  const { items } = await client.list(configMaps, { namespace })
  return items.filter(({ metadata: { name = '' } }) => name.startsWith('dependent-')).map(describe)
}

function describe({ metadata }: ApiObject): string {
  const { name, uid, deletionTimestamp, ownerReferences = [] } = metadata
  const state = deletionTimestamp !== undefined ? 'deleted' : ownerReferences.length === 0 ? 'orphaned' : 'kept'
  return `${name} ${uid} ${state}`
}

/** Waits until the collector has processed an object that was created after all earlier changes. */
async function caughtUp(client: Client): Promise<void> {
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'no-such-uid' }
  await makeMap(client, { name: 'late', ownerReferences: [reference] })
  await untilTrue(async () => !(await exists(client, 'late')))
}

async function exists(client: Client, name: string): Promise<boolean> {
  try {
    await client.get(configMaps, { name, namespace })
    return true
  } catch (error) {
    if (!isNotFound(error)) throw error
    return false
  }
}

async function answers(client: Client): Promise<boolean> {
  return await client.list(configMaps, { namespace }).then(
    () => true,
    () => false,
  )
}

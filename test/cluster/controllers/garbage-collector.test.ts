/**
 * Tests the garbage collector against a real server, with its own service account. Covers the same cases as the
 * Kubernetes tests, and additional failure modes: cycles, types that appear and disappear, failed requests, and a
 * manager that stops halfway.
 */
import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { ApiObject, OwnerReference } from '../../../src/api/model/object.ts'
import { orAborted } from '../../../src/base/concurrency/abort.ts'
import type { DeleteOptions } from '../../../src/client/requests/client.ts'
import type { ResourceType } from '../../../src/client/requests/resource-type.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import type { Transport } from '../../../src/client/requests/transport.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { holdRequests } from '../../support/held-requests.ts'
import { type LoopServer, loopServer, type ManagerOptions } from '../../support/loop-manager.ts'
import { configMap, configMaps, secrets } from '../../support/resource-types.ts'
import { until, untilTrue } from '../../support/until.ts'

const namespaces: ResourceType = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }
const events: ResourceType = { group: '', version: 'v1', plural: 'events', namespaced: true }
const roles: ResourceType = {
  group: 'rbac.authorization.orch.io',
  version: 'v1',
  plural: 'clusterroles',
  namespaced: false,
}
const definitions: ResourceType = {
  group: 'apiextensions.orch.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  namespaced: false,
}
const widgets: ResourceType = { group: 'example.com', version: 'v1', plural: 'widgets', namespaced: true }

const owner = endOfFile()
let server: LoopServer

before(async () => {
  server = await loopServer(owner)
})
afterEach(async () => {
  await server.end()
})

async function collect(options?: ManagerOptions): Promise<void> {
  await server.run(['garbagecollector'], options).firstPass
}

interface Made {
  readonly namespace?: string
  readonly finalizers?: string[]
}

function ref({ apiVersion, kind, metadata: { name, uid } }: ApiObject, more: Partial<OwnerReference> = {}) {
  return { apiVersion, kind, name: name!, uid: uid!, ...more }
}

const blocking = { blockOwnerDeletion: true }

async function make(name: string, ownerReferences: OwnerReference[] = [], more: Made = {}): Promise<ApiObject> {
  const { namespace = 'default', finalizers = [] } = more
  const object = configMap(name, {}, namespace)
  const metadata = { ...object.metadata, ownerReferences, finalizers }
  return await server.client.create(configMaps, { ...object, metadata })
}

async function read(name: string, namespace = 'default'): Promise<ApiObject | undefined> {
  try {
    return await server.client.get(configMaps, { name, namespace })
  } catch (error) {
    if (!isNotFound(error)) throw error
    return undefined
  }
}

async function remove(name: string, propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']>) {
  await server.client.delete(configMaps, { namespace: 'default', name }, { propagationPolicy })
}

async function gone(...names: string[]): Promise<void> {
  for (const name of names)
    await until(
      () => read(name),
      (object) => object === undefined,
    )
}

async function change(name: string, metadata: object): Promise<void> {
  await server.client.patch(configMaps, { namespace: 'default', name }, { patch: { merge: { metadata } } })
}

/** Waits until the collector has processed an object that was created after all earlier changes. */
async function caughtUp(): Promise<void> {
  await make('late', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'no-such-uid' }])
  await gone('late')
}

function uids(object: ApiObject | undefined): string[] {
  return (object?.metadata.ownerReferences ?? []).map(({ uid }) => uid)
}

test('background deletion removes dependents at every level, but objects with another owner only lose the owner reference', async () => {
  await collect()
  const owner = await make('bg')
  const other = await make('bg-other')
  const child = await make('bg-child', [ref(owner)])
  await make('bg-grandchild', [ref(child)])
  const shared = await make('bg-shared', [ref(owner), ref(other)])
  await remove('bg', 'Background')
  await gone('bg-child', 'bg-grandchild')
  const kept = await until(
    () => read('bg-shared'),
    (object) => uids(object).length === 1,
  )
  assert.deepEqual(uids(kept), [other.metadata.uid])
  assert.equal(kept?.metadata.uid, shared.metadata.uid)
})

test('orphaned dependents remain without a reference to the owner', async () => {
  await collect()
  const owner = await make('or')
  const other = await make('or-other')
  await make('or-a', [ref(owner, blocking)])
  await make('or-b', [ref(other), ref(owner)])
  await remove('or', 'Orphan')
  await gone('or')
  await caughtUp()
  assert.deepEqual(uids(await read('or-a')), [])
  assert.deepEqual(uids(await read('or-b')), [other.metadata.uid])
})

test('foreground deletion removes a three-level tree of objects, starting with the leaves', async () => {
  const owner = await make('fg')
  const child = await make('fg-child', [ref(owner, blocking)])
  await make('fg-leaf', [ref(child, blocking)], { finalizers: ['example.com/hold'] })
  await collect()
  await remove('fg', 'Foreground')
  await until(
    () => read('fg-leaf'),
    (leaf) => leaf?.metadata.deletionTimestamp !== undefined,
  )
  await caughtUp()
  for (const name of ['fg', 'fg-child'])
    assert.deepEqual((await read(name))?.metadata.finalizers, ['foregroundDeletion'], name)
  await change('fg-leaf', { finalizers: null })
  await gone('fg-leaf', 'fg-child', 'fg')
})

test('foreground deletion does not wait for dependents without blockOwnerDeletion', async () => {
  await collect()
  const owner = await make('nb')
  await make('nb-child', [ref(owner)], { finalizers: ['example.com/hold'] })
  await make('nb-child-2', [ref(owner, blocking)])
  await remove('nb', 'Foreground')
  await gone('nb', 'nb-child-2')
  assert.ok((await read('nb-child'))?.metadata.deletionTimestamp)
  await change('nb-child', { finalizers: null })
})

test('a dependent no longer blocks a deletion once its owner reference is removed or blockOwnerDeletion is unset', async () => {
  await collect()
  for (const [name, references] of [
    ['unblocked', (owner: ApiObject) => [ref(owner, { blockOwnerDeletion: false })]],
    ['unowned', () => null],
  ] as const) {
    const owner = await make(name)
    await make(`${name}-child`, [ref(owner, blocking)], { finalizers: ['example.com/hold'] })
    await remove(name, 'Foreground')
    await until(
      () => read(`${name}-child`),
      (child) => child?.metadata.deletionTimestamp !== undefined,
    )
    await change(`${name}-child`, { ownerReferences: references(owner) })
    await gone(name)
    await change(`${name}-child`, { finalizers: null })
  }
})

test('a dependent with a remaining owner survives the foreground deletion of its other owner', async () => {
  await collect()
  const going = await make('mx-going')
  const staying = await make('mx-staying')
  await make('mx-both', [ref(going, blocking), ref(staying)])
  await make('mx-one', [ref(going, blocking)])
  await remove('mx-going', 'Foreground')
  await gone('mx-going', 'mx-one')
  assert.deepEqual(uids(await read('mx-both')), [staying.metadata.uid])
})

test('ownership cycles are deleted with every propagation policy, regardless of which object is deleted first', async () => {
  await collect()
  const circle = async (prefix: string) => {
    const names = [1, 2, 3].map((i) => `${prefix}-${i}`)
    const objects: ApiObject[] = []
    for (const name of names)
      objects.push(await make(name, objects.length === 0 ? [] : [ref(objects.at(-1)!, blocking)]))
    await change(names[0]!, { ownerReferences: [ref(objects[2]!, blocking)] })
    return names
  }
  for (const policy of ['Background', 'Foreground'] as const) {
    const names = await circle(policy.toLowerCase())
    await remove(names[0]!, policy)
    await gone(...names)
  }
  const names = await circle('all')
  for (const name of names) await remove(name, 'Foreground')
  await gone(...names)
  const self = await make('self')
  await change('self', { ownerReferences: [ref(self, blocking)] })
  await remove('self', 'Foreground')
  await gone('self')
})

test('dependents of an owner that does not exist or has another UID are deleted, and dependents of existing owners remain', async () => {
  const owner = await make('ab')
  await make('ab-kept', [ref(owner)])
  await make('ab-never', [{ ...ref(owner), uid: 'another-uid' }])
  await make('ab-name', [{ ...ref(owner), name: 'renamed', uid: 'third-uid' }])
  await collect()
  await gone('ab-never', 'ab-name')
  await caughtUp()
  assert.ok(await read('ab-kept'))
})

test('an owner in another namespace is reported and treated as absent', async () => {
  await collect()
  await server.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } })
  const owner = await make('cn', [], { namespace: 'elsewhere' })
  await make('cn-right', [ref(owner)], { namespace: 'elsewhere' })
  await make('cn-wrong', [ref(owner)])
  await gone('cn-wrong')
  await caughtUp()
  assert.ok(await read('cn-right', 'elsewhere'))
  const { items } = await until(
    () => server.client.list(events, { namespace: 'default', fieldSelector: 'involvedObject.name=cn-wrong' }),
    ({ items }) => items.length > 0,
  )
  assert.deepEqual([items[0]?.type, items[0]?.reason], ['Warning', 'OwnerRefInvalidNamespace'])
  assert.match(String(items[0]?.message), /name: cn, .*does not exist in namespace "default"/)
})

test('objects are kept if the kind of their owner is unknown or the namespace of the owner cannot be determined', async () => {
  await collect()
  await make('un-kind', [{ apiVersion: 'example.com/v1', kind: 'Nothing', name: 'n', uid: 'n-uid' }])
  const role = { apiVersion: 'rbac.authorization.orch.io/v1', kind: 'ClusterRole' }
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'c-uid' }
  await server.client.create(roles, { ...role, metadata: { name: 'un-role', ownerReferences: [reference] } })
  await caughtUp()
  assert.ok(await read('un-kind'))
  assert.ok(await server.client.get(roles, { name: 'un-role' }))
})

function definition(): ApiObject {
  const schema = { openAPIV3Schema: { type: 'object' } }
  return {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Widget', plural: 'widgets' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}

async function makeWidget(name: string, ownerReferences: OwnerReference[] = []): Promise<ApiObject> {
  const metadata = { name, namespace: 'default', ownerReferences }
  return await server.client.create(widgets, { apiVersion: 'example.com/v1', kind: 'Widget', metadata })
}

async function served(): Promise<boolean> {
  try {
    await server.client.list(widgets)
    return true
  } catch (error) {
    if (!isNotFound(error)) throw error
    return false
  }
}

test('custom kinds support cascading deletion and orphaning, and dependents are deleted if the kind of their owner is removed', async () => {
  await collect()
  await server.client.create(definitions, definition())
  await untilTrue(served)
  const name = (name: string) => ({ name, namespace: 'default' })
  const owner = await makeWidget('w')
  await makeWidget('w-child', [ref(owner)])
  await make('w-map', [ref(owner)])
  await server.client.delete(widgets, name('w'), { propagationPolicy: 'Background' })
  await gone('w-map')
  await untilTrue(async () => (await server.client.list(widgets)).items.length === 0)
  const orphaned = await makeWidget('w-orphaning')
  await make('w-orphan', [ref(orphaned)])
  await server.client.delete(widgets, name('w-orphaning'), { propagationPolicy: 'Orphan' })
  await untilTrue(async () => (await server.client.list(widgets)).items.length === 0)
  await caughtUp()
  assert.deepEqual(uids(await read('w-orphan')), [])
  const map = await make('w-owner')
  await makeWidget('w-of-map', [ref(map)])
  await remove('w-owner', 'Background')
  await untilTrue(async () => (await server.client.list(widgets)).items.length === 0)
  const last = await makeWidget('w-last')
  await make('w-last-map', [ref(last)])
  await caughtUp()
  await server.client.delete(definitions, { name: 'widgets.example.com' })
  await gone('w-last-map')
  await untilTrue(async () => !(await served()))
})

test('objects of a kind defined while the collector starts are collected, and orphaned objects remain', async () => {
  const wire = holdRequests()
  const definitionLists = wire.hold(({ path }) => /\/(customresourcedefinitions|apiservices)\b/.test(path))
  const { firstPass } = server.run(['garbagecollector'], wire)
  // The collector has discovered the types and is listing them.
  await untilTrue(async () => definitionLists.count === 2)
  await server.client.create(definitions, definition())
  await untilTrue(served)
  const owner = await make('st-owner')
  await makeWidget('st-orphan', [ref(owner)])
  definitionLists.release()
  await firstPass
  await remove('st-owner', 'Orphan')
  await gone('st-owner')
  const other = await make('st-other')
  await makeWidget('st-dependent', [ref(other)])
  await remove('st-other', 'Background')
  const left = await until(
    async () => (await server.client.list(widgets)).items,
    (items) => items.length < 2,
  )
  assert.deepEqual(
    left.map((widget) => [widget.metadata.name, uids(widget)]),
    [['st-orphan', []]],
  )
  await server.client.delete(definitions, { name: 'widgets.example.com' })
  await untilTrue(async () => !(await served()))
})

test('an orphaning deletion keeps a dependent that the collector has not observed yet', async () => {
  const wire = holdRequests()
  const secretWatches = wire.hold(({ path }) => /^\/api\/v1\/secrets\?.*watch=/.test(path))
  await collect(wire)
  const owner = await make('lag')
  const metadata = { name: 'lag-orphan', namespace: 'default', ownerReferences: [ref(owner)] }
  const orphan = await server.client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata })
  await remove('lag', 'Orphan')
  await gone('lag')
  secretWatches.release()
  const late = { name: 'lag-late', namespace: 'default', ownerReferences: [ref(owner)] }
  await server.client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: late })
  const left = await until(
    async () => (await server.client.list(secrets, { namespace: 'default' })).items,
    (items) => !items.some((item) => item.metadata.name === 'lag-late'),
  )
  const found = left.find((item) => item.metadata.uid === orphan.metadata.uid)
  assert.deepEqual(found?.metadata.ownerReferences ?? [], [])
  assert.ok(found)
})

test('the collector deletes nothing until it can list all types', async () => {
  await make('in-garbage', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'never-uid' }])
  const owner = await make('in-owner')
  await make('in-child', [ref(owner, blocking)])
  await remove('in-owner', 'Foreground')
  let refused = 0
  let isBroken = true
  const deletes: string[] = []
  const through =
    (send: Transport): Transport =>
    async (request) => {
      if (request.method !== 'GET') deletes.push(`${request.method} ${request.path}`)
      if (!isBroken || !request.path.startsWith('/api/v1/secrets')) return await send(request)
      refused++
      throw new Error('cannot be listed')
    }
  server.run(['garbagecollector'], { through })
  await untilTrue(async () => refused >= 3)
  assert.deepEqual(deletes, [])
  isBroken = false
  await gone('in-garbage', 'in-child', 'in-owner')
})

test('an object that cannot be deleted does not block the deletion of other objects', async () => {
  const role = { apiVersion: 'rbac.authorization.orch.io/v1', kind: 'ClusterRole' }
  const owner = await server.client.create(roles, { ...role, metadata: { name: 'br-owner' } })
  const patch = { merge: { metadata: { ownerReferences: [ref(owner)] } } }
  await server.client.patch(namespaces, { name: 'default' }, { patch })
  for (const i of [1, 2, 3]) await make(`br-${i}`, [ref(owner)])
  await server.client.delete(roles, { name: 'br-owner' }, { propagationPolicy: 'Background' })
  server.run(['garbagecollector'])
  await gone('br-1', 'br-2', 'br-3')
  await server.client.patch(
    namespaces,
    { name: 'default' },
    {
      patch: { merge: { metadata: { ownerReferences: null } } },
    },
  )
})

test('the next manager completes foreground, orphan and background deletions that were interrupted', async () => {
  const count = 60
  const owners = { Background: 'k-bg', Foreground: 'k-fg', Orphan: 'k-or' } as const
  for (const prefix of Object.values(owners)) {
    const owner = await make(prefix)
    for (let i = 0; i < count; i++) await make(`${prefix}-${i}`, [ref(owner, blocking)])
  }
  for (const [policy, name] of Object.entries(owners)) await remove(name, policy as keyof typeof owners)
  let writes = 0
  const enough = Promise.withResolvers<void>()
  const through =
    (send: Transport): Transport =>
    async (request) => {
      if (request.method !== 'GET' && ++writes === 40) enough.resolve()
      if (request.method === 'GET' || writes <= 40) return await send(request)
      return await orAborted(new Promise<never>(() => {}), request.signal)
    }
  const interrupted = server.run(['garbagecollector'], { through })
  await enough.promise
  await interrupted.stop()
  await collect()
  const left = async () => (await server.client.list(configMaps, { namespace: 'default' })).items
  await until(left, (items) => items.every(({ metadata: { name = '' } }) => !/^k-(bg|fg|or$)/.test(name)))
  const orphans = (await left()).filter(({ metadata: { name = '' } }) => name.startsWith('k-or-'))
  assert.equal(orphans.length, count)
  for (const orphan of orphans) assert.deepEqual(uids(orphan), [])
})

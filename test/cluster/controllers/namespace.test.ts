/**
 * Tests the namespace loop in a real `orch up`. A deleted namespace is emptied and removed, or its status names the
 * objects that block its removal.
 */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Namespace } from '../../../src/api/kinds/core/namespace.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { isNotFound, StatusError } from '../../../src/client/requests/status-error.ts'
import { serveUp } from '../../support/in-process.ts'
import { kubectl } from '../../support/kubectl.ts'
import { longTest } from '../../support/long.ts'
import { configMap, configMaps, eventOf, secrets } from '../../support/resource-types.ts'
import { type ServerHandle, startUp } from '../../support/server.ts'

async function begin(t: TestContext, flags: readonly string[] = []) {
  const server = await serveUp(t, flags)
  return { server, client: new Client(server.transport()) }
}

async function createNamespace(client: Client, name: string): Promise<Namespace> {
  return await client.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
}

/** Creates the given number of objects in total. Every third object is a Secret. */
async function fill(client: Client, namespace: string, count: number): Promise<void> {
  const one = async (i: number) => {
    if (i % 3 > 0) return await client.create(configMaps, configMap(`c${i}`, { i: `${i}` }, namespace))
    return await client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: `s${i}` } })
  }
  for (let i = 0; i < count; i += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - i) }, (_, j) => one(i + j)))
}

async function gone(client: Client, name: string): Promise<void> {
  try {
    const { metadata } = await client.get(kinds.Namespace, { name })
    await eventOf(client, kinds.Namespace, {
      name: { name },
      resourceVersion: metadata.resourceVersion!,
      fits: ({ type }) => type === 'DELETED',
    })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Waits for the condition that reports remaining finalizers, and returns all conditions by type. */
async function heldConditions(client: Client, name: string): Promise<Map<string, string>> {
  const isHeld = ({ status }: Namespace) =>
    status?.conditions?.some(({ type, status }) => type === 'NamespaceFinalizersRemaining' && status === 'True')
  const event = await eventOf(client, kinds.Namespace, {
    name: { name },
    fits: (event) => event.type !== 'BOOKMARK' && isHeld(event.object) === true,
  })
  assert.ok(event.type !== 'BOOKMARK')
  assert.equal(event.object.status?.phase, 'Terminating')
  return new Map(
    event.object.status?.conditions?.map(({ type, status, reason }) => [type ?? '', `${status} ${reason}`]),
  )
}

async function hold(client: Client, namespace: string): Promise<void> {
  const held = configMap('held', {}, namespace)
  await client.create(configMaps, { ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } })
}

async function letGo(client: Client, namespace: string): Promise<void> {
  const patch = { merge: { metadata: { finalizers: null } } }
  await client.patch(configMaps, { namespace, name: 'held' }, { patch })
}

test('a namespace with 300 objects is deleted completely, and its name can be reused', async (t) => {
  const { client, server } = await begin(t)
  await createNamespace(client, 'full')
  await fill(client, 'full', 300)
  await client.delete(kinds.Namespace, { name: 'full' })
  await gone(client, 'full')
  for (const type of [configMaps, secrets]) assert.deepEqual((await client.list(type, { namespace: 'full' })).items, [])
  await createNamespace(client, 'full')
  await client.create(configMaps, configMap('again', {}, 'full'))
  assert.equal((await client.get(kinds.Namespace, { name: 'full' })).status?.phase, 'Active')
  assert.doesNotMatch(server.output(), / error /)
})

test('deleting a namespace does not affect other namespaces', async (t) => {
  const { client } = await begin(t)
  for (const name of ['a', 'ab']) await createNamespace(client, name)
  await fill(client, 'a', 6)
  await fill(client, 'ab', 6)
  await client.delete(kinds.Namespace, { name: 'a' })
  await gone(client, 'a')
  const { items } = await client.list(configMaps, { namespace: 'ab' })
  assert.equal(items.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt').length, 4)
})

test('conditions report the objects that block the deletion of a namespace', async (t) => {
  const { client } = await begin(t)
  await createNamespace(client, 'held')
  await hold(client, 'held')
  await fill(client, 'held', 12)
  await client.delete(kinds.Namespace, { name: 'held' })
  const conditions = await heldConditions(client, 'held')
  assert.deepEqual([...conditions].sort(), [
    ['NamespaceContentRemaining', 'True SomeResourcesRemain'],
    ['NamespaceDeletionContentFailure', 'False ContentDeleted'],
    ['NamespaceDeletionDiscoveryFailure', 'False ResourcesDiscovered'],
    ['NamespaceDeletionGroupVersionParsingFailure', 'False ParsedGroupVersions'],
    ['NamespaceFinalizersRemaining', 'True SomeFinalizersRemain'],
  ])
  const left = await client.list(configMaps, { namespace: 'held' })
  assert.deepEqual(
    left.items.map(({ metadata }) => metadata.name),
    ['held'],
  )
  await assert.rejects(
    client.create(configMaps, configMap('late', {}, 'held')),
    (error) => error instanceof StatusError && error.code === 403 && /being terminated/.test(error.message),
  )
  await letGo(client, 'held')
  await gone(client, 'held')
})

test('objects created while their namespace is being deleted are deleted too', async (t) => {
  const { client } = await begin(t)
  for (const name of ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']) {
    await createNamespace(client, name)
    const enough = Promise.withResolvers<void>()
    let created = 0
    const writers = Array.from({ length: 8 }, (_, writer) =>
      writeUntilRefused(client, `w${writer}`, name, () => {
        if (++created === 20) enough.resolve()
      }),
    )
    await enough.promise
    await client.delete(kinds.Namespace, { name })
    await Promise.all(writers)
    await gone(client, name)
    assert.deepEqual((await client.list(configMaps, { namespace: name })).items, [])
  }
})

async function writeUntilRefused(client: Client, prefix: string, namespace: string, onCreated: () => void) {
  for (let i = 0; i < 10_000; i++) {
    try {
      await client.create(configMaps, configMap(`${prefix}-${i}`, {}, namespace))
      onCreated()
    } catch (error) {
      assert.ok(error instanceof StatusError)
      assert.ok([403, 404].includes(error.code), error.message)
      return
    }
  }
  assert.fail('nobody refused to create')
}

test('a namespace with a foreign finalizer is not deleted until the finalizer is removed', async (t) => {
  const { client } = await begin(t)
  const spec = { finalizers: ['example.com/wait'] }
  await client.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'waits' }, spec })
  await fill(client, 'waits', 3)
  await client.delete(kinds.Namespace, { name: 'waits' })
  const isReleased = ({ spec }: Namespace) => spec?.finalizers?.length === 1
  const event = await eventOf(client, kinds.Namespace, {
    name: { name: 'waits' },
    fits: (event) => event.type !== 'BOOKMARK' && isReleased(event.object),
  })
  assert.ok(event.type !== 'BOOKMARK')
  assert.deepEqual(event.object.spec?.finalizers, ['example.com/wait'])
  assert.deepEqual((await client.list(configMaps, { namespace: 'waits' })).items, [])
  await client.update(kinds.Namespace, { ...event.object, spec: { finalizers: [] } }, { subresource: 'finalize' })
  await gone(client, 'waits')
})

longTest('a killed server resumes namespace deletion after its restart', async (t) => {
  const server = await startUp(t)
  const client = new Client(server.transport())
  for (const name of ['many', 'held']) await createNamespace(client, name)
  await fill(client, 'many', 300)
  await hold(client, 'held')
  for (const name of ['held', 'many']) await client.delete(kinds.Namespace, { name })
  await server.kill()
  await server.restart()
  const again = new Client(server.transport())
  await gone(again, 'many')
  assert.deepEqual((await again.list(configMaps, { namespace: 'many' })).items, [])
  await heldConditions(again, 'held')
  await stopAndRestart(server)
  await letGo(new Client(server.transport()), 'held')
  await gone(new Client(server.transport()), 'held')
})

async function stopAndRestart(server: ServerHandle): Promise<void> {
  assert.equal(await server.stop(), 0)
  await server.restart()
}

test('kubectl delete namespace waits for the deletion and reports it', async (t) => {
  const { client, server } = await begin(t, ['--profile=kubernetes'])
  await createNamespace(client, 'by-kubectl')
  await fill(client, 'by-kubectl', 30)
  const { stdout } = await kubectl(server, ['delete', 'namespace', 'by-kubectl', '--timeout=100s'])
  assert.equal(stdout, 'namespace "by-kubectl" deleted\n')
  await assert.rejects(client.get(kinds.Namespace, { name: 'by-kubectl' }), isNotFound)
})

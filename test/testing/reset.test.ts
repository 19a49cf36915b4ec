/** Tests snapshots, resets and forks: restored state, increasing versions, and watches that report the changes. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { Informer } from '../../src/client/informers/informer.ts'
import { isNotFound } from '../../src/client/requests/status-error.ts'
import { watch } from '../../src/client/requests/watch.ts'
import { startTestServer, type TestServer } from '../../src/testing/testing.ts'
import { untilTrue } from '../support/until.ts'
import { configMap, configMaps, namesIn, namespace, namespaces, secrets } from './tools.ts'

let server: TestServer
before(async () => {
  server = await startTestServer()
})
beforeEach(() => server.reset())
after(() => server.close())

const namesNow = async (at = server) => namesIn((await at.client.list(configMaps, { namespace: 'default' })).items)

test('resetting a test server deletes new objects and restores changed and deleted objects', async () => {
  const { client } = server
  await client.create(namespaces, namespace('kept'))
  await client.create(configMaps, configMap('changed', { k: 'before' }))
  const deleted = await client.create(configMaps, configMap('deleted'))
  await server.settled()
  const snapshot = await server.snapshot()
  await client.create(configMaps, configMap('new'))
  await client.update(configMaps, configMap('changed', { k: 'after' }))
  await client.delete(configMaps, { namespace: 'default', name: 'deleted' })
  await client.delete(namespaces, { name: 'kept' })
  await server.reset(snapshot)

  assert.deepEqual(await namesNow(), ['changed', 'deleted'])
  const changed = await client.get(configMaps, { namespace: 'default', name: 'changed' })
  assert.equal(changed.data?.k, 'before')
  const back = await client.get(configMaps, { namespace: 'default', name: 'deleted' })
  assert.equal(back.metadata.uid, deleted.metadata.uid)
  assert.ok(Number(back.metadata.resourceVersion) > Number(deleted.metadata.resourceVersion))
  assert.equal((await client.get(namespaces, { name: 'kept' })).metadata.deletionTimestamp, undefined)
  // An update based on the state before the reset causes a conflict.
  await assert.rejects(client.update(configMaps, deleted), { code: 409 })
  await server.reset()
  assert.deepEqual(await namesNow(), [])
  await assert.rejects(client.get(namespaces, { name: 'kept' }), isNotFound)
})

test('resetting a test server clears recorded calls and planned failures, and never reuses resource versions', async () => {
  const { client } = server
  const seenNames = new Set<string>()
  for (let round = 0; round < 5; round++) {
    const { metadata } = await client.create(configMaps, configMap('same'))
    assert.ok(!seenNames.has(metadata.resourceVersion!), 'a version was used twice')
    seenNames.add(metadata.resourceVersion!)
    server.failOnce({ verb: 'delete' }, { code: 500 })
    await server.reset()
    assert.deepEqual(server.calls.list(), [])
  }
  await client.create(configMaps, configMap('same'))
  await client.delete(configMaps, { namespace: 'default', name: 'same' })
})

for (const transport of ['in-process', 'tls'] as const)
  test(`a watch reports a reset of the test server as changes, and an informer follows immediately (${transport})`, async () => {
    await using fork = await server.fork({ transport })
    const ended = new AbortController()
    const informer = new Informer(fork.client, configMaps, {
      selection: { namespace: 'default' },
      onError: (error) => assert.fail(`the informer lost its watch: ${error}`),
    })
    const running = informer.run(ended.signal)
    await using _ = {
      [Symbol.asyncDispose]: () => {
        ended.abort()
        return running
      },
    }
    await informer.synced
    const { metadata } = await fork.client.create(configMaps, configMap('a'))
    const events = watch(fork.client, configMaps, {
      namespace: 'default',
      resourceVersion: metadata.resourceVersion!,
      signal: ended.signal,
    })[Symbol.asyncIterator]()
    const next = events.next()
    await fork.reset()
    const { value } = await next
    assert.equal(value.type, 'DELETED')
    assert.equal(value.object.metadata.name, 'a')
    await untilTrue(async () => informer.get({ namespace: 'default', name: 'a' }) === undefined)
    await fork.client.create(configMaps, configMap('b'))
    await untilTrue(async () => informer.get({ namespace: 'default', name: 'b' }) !== undefined)
    assert.equal(fork.calls.list({ verb: 'list' }).length, 0, 'it did not list again')
  })

test('resetting a test server adds and removes CustomResourceDefinitions', async () => {
  const { client } = server
  const definitions = {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    plural: 'customresourcedefinitions',
    namespaced: false,
  }
  const things = { group: 'example.com', version: 'v1', plural: 'things', namespaced: true }
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
  const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { namespace: 'default', name: 'a' } }
  for (let round = 0; round < 2; round++) {
    await client.create(definitions, definition as never)
    await client.create(things, thing)
    await server.reset()
    await assert.rejects(client.list(things), isNotFound)
  }
  await client.create(definitions, definition as never)
  await client.create(things, thing)
  const snapshot = await server.snapshot()
  await client.delete(things, { namespace: 'default', name: 'a' })
  await client.delete(definitions, { name: 'things.example.com' })
  await server.reset(snapshot)
  assert.deepEqual(namesIn((await client.list(things)).items), ['a'])
})

test('a fork of a test server starts with the same objects, versions, users and keys, and is independent of the original', async () => {
  const { client } = server
  const { metadata } = await client.create(configMaps, configMap('shared'))
  const alice = server.user('alice', { groups: ['system:masters'] })
  await using fork = await server.fork({ store: 'temporary', transport: 'tls' })
  await using same = await server.fork({})
  assert.notEqual(fork.url, server.url)
  const forked = await same.client.get(configMaps, { namespace: 'default', name: 'shared' })
  assert.deepEqual(forked.metadata, (await client.get(configMaps, { namespace: 'default', name: 'shared' })).metadata)
  assert.equal(forked.metadata.resourceVersion, metadata.resourceVersion)
  await fork.client.create(configMaps, configMap('own'))
  assert.deepEqual(await namesNow(fork), ['own', 'shared'])
  assert.deepEqual(await namesNow(), ['shared'])
  assert.deepEqual(await namesNow(same), ['shared'])
  const answer = await fork.user('x').transport({
    method: 'GET',
    path: '/api/v1/namespaces',
    body: undefined,
    signal: new AbortController().signal,
    headers: {},
  })
  assert.equal(answer.status, 403)
  for await (const _ of answer.body);
  const review = { group: 'authentication.k8s.io', version: 'v1', plural: 'tokenreviews', namespaced: false }
  const asked = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: {},
    spec: { token: alice.token },
  }
  const reviewed = (await fork.client.create(review, asked as never)) as unknown as {
    status: { user: { username: string } }
  }
  assert.equal(reviewed.status.user.username, 'alice')
  await fork.reset()
  assert.deepEqual(await namesNow(fork), ['shared'])
})

test('a snapshot of a test server can be restored only under the same profile', async () => {
  const snapshot = await server.snapshot()
  await assert.rejects(
    startTestServer({ profile: 'orch', from: snapshot }),
    /has the profile kubernetes and cannot be used by a server with the profile orch/,
  )
})

test('the time to reset a test server is proportional to the number of changes, and less than 10 ms of CPU time', async () => {
  const { client } = server
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'default', name: 's' } }
  const costs: number[] = []
  for (let round = 0; round < 15; round++) {
    await client.create(configMaps, configMap('a'))
    await client.create(secrets, secret)
    const began = process.cpuUsage()
    await server.reset()
    const { user, system } = process.cpuUsage(began)
    costs.push((user + system) / 1000)
  }
  costs.sort((a, b) => a - b)
  assert.ok(costs[7]! < 10, `half of the resets took more than ${costs[7]} ms`)
})

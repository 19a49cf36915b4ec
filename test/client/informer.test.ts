/** Tests the informer: even if servers and connections fail, the informer's copy equals a list from the server. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ApiObject } from '../../src/api/model/object.ts'
import { Informer } from '../../src/client/informers/informer.ts'
import { HttpTransport } from '../../src/client/node/http-transport.ts'
import { Client } from '../../src/client/requests/client.ts'
import { isNotFound } from '../../src/client/requests/status-error.ts'
import { type Transport, TransportError } from '../../src/client/requests/transport.ts'
import { serve } from '../support/in-process.ts'
import { long } from '../support/long.ts'
import { type ConfigMap, configMap, configMaps } from '../support/resource-types.ts'
import { type Served, startServer } from '../support/server.ts'
import { startProxy } from '../support/tcp-proxy.ts'
import { waitForCompaction } from '../support/wait-for-compaction.ts'

const inDefault = (name: string) => ({ namespace: 'default', name })
const backoff = { firstMs: 20, longestMs: 200 }

/** Starts an informer on a transport that the test can interrupt. The informer runs until the test ends. */
async function begin(t: TestContext, server: Served) {
  const send = server.transport()
  const state = { cut: new AbortController(), lists: 0, watches: 0 }
  const cuttable: Transport = async (request) => {
    if (state.cut.signal.aborted) throw new TransportError('cut')
    if (request.path.includes('watch=true')) state.watches++
    else state.lists++
    return await send({ ...request, signal: AbortSignal.any([request.signal, state.cut.signal]) })
  }
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const informer = new Informer(new Client(cuttable), configMaps, { streamingLists: false, onError, backoff })
  const stop = new AbortController()
  const replica = mirror(informer)
  const running = informer.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await running
  })
  assert.equal(await informer.synced, true)
  return { informer, replica, state, errors }
}

/** Builds a copy from all changes passed to handlers. Each change must be consistent with the previous state. */
function mirror(informer: Informer<ConfigMap>) {
  const cache = { objects: new Map<string, ConfigMap>(), changes: 0 }
  informer.onChange(({ key, previous, object }) => {
    cache.changes++
    assert.equal(cache.objects.get(key), previous)
    assert.ok(previous !== undefined || object !== undefined)
    if (object === undefined) cache.objects.delete(key)
    else cache.objects.set(key, object)
  })
  return cache
}

/** Resolves when the informer has an object with this name and value. */
async function waitForValue(informer: Informer<ConfigMap>, name: string, value: string): Promise<void> {
  const isThere = () => informer.get(inDefault(name))?.data?.k === value
  if (isThere()) return
  await new Promise<void>((resolve) => {
    const end = informer.onChange(() => {
      if (!isThere()) return
      end()
      resolve()
    })
  })
}

function byName(objects: Iterable<ApiObject>): ApiObject[] {
  return [...objects].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
}

async function assertSameAsList(client: Client, informer: Informer<ConfigMap>, replica: ReturnType<typeof mirror>) {
  const { items } = await client.list(configMaps)
  assert.deepEqual(byName(informer.objects()), byName(items))
  assert.deepEqual(byName(replica.objects.values()), byName(items))
}

/** Creates, changes and deletes objects in turn, using only a few names. Returns the number of writes. */
async function write(client: Client, writer: number, rounds: number): Promise<number> {
  let written = 0
  for (let i = 0; i < rounds; i++) {
    const name = `w${(i * 7 + writer) % 31}`
    const step = [
      () => client.create(configMaps, configMap(name, { writer: `${writer}`, i: `${i}` })),
      () => client.patch(configMaps, inDefault(name), { patch: { merge: { data: { i: `${i}` } } } }),
      () => client.delete(configMaps, inDefault(name)),
    ][(i + writer) % 3]!
    try {
      await step()
      written++
    } catch (error) {
      const exists = error instanceof Error && /already exists/.test(error.message)
      if (!exists && !isNotFound(error)) throw error
    }
  }
  return written
}

test('an informer that follows four concurrent writers ends up with the same objects as a list', async (t) => {
  const server = await serve(t)
  const client = new Client(server.transport())
  const { informer, replica, state, errors } = await begin(t, server)
  await informer.synced
  const before = replica.changes
  const written = await Promise.all([0, 1, 2, 3].map((writer) => write(client, writer, long ? 200 : 50)))
  await client.create(configMaps, configMap('last', { k: 'v' }))
  await waitForValue(informer, 'last', 'v')
  await assertSameAsList(client, informer, replica)
  // A single watch without interruptions reports every write and no other events.
  assert.equal(
    replica.changes - before,
    written.reduce((sum, count) => sum + count, 1),
  )
  assert.deepEqual([state, errors], [{ ...state, lists: 1, watches: 1 }, []])
  t.diagnostic(`${replica.changes} changes checked`)
})

test('an informer loses no change while its connection keeps breaking', async (t) => {
  const server = await serve(t)
  const client = new Client(server.transport())
  const { informer, replica, state } = await begin(t, server)
  const breaking = informer.onChange(() => {
    if (replica.changes % 25 > 0) return
    state.cut.abort(new TransportError('cut'))
    state.cut = new AbortController()
  })
  await Promise.all([0, 1, 2, 3].map((writer) => write(client, writer, long ? 100 : 60)))
  breaking()
  await client.create(configMaps, configMap('last', { k: 'v' }))
  await waitForValue(informer, 'last', 'v')
  await assertSameAsList(client, informer, replica)
  assert.equal(state.lists, 1)
  assert.ok(state.watches > 3, `${state.watches} watches`)
})

test('an informer resumes after a server restart without listing the objects again', async (t) => {
  const server = await startServer(t)
  const client = new Client(server.transport())
  await client.create(configMaps, configMap('a', { k: '1' }))
  const { informer, replica, state, errors } = await begin(t, server)
  await client.create(configMaps, configMap('b', { k: '1' }))
  await waitForValue(informer, 'b', '1')
  await server.kill()
  await server.restart()
  await client.delete(configMaps, inDefault('a'))
  await client.create(configMaps, configMap('c', { k: '2' }))
  await waitForValue(informer, 'c', '2')
  await assertSameAsList(client, informer, replica)
  assert.equal(state.lists, 1)
  assert.ok(errors.length > 0, 'the broken connection was told')
})

test('an informer whose resourceVersion has expired lists again and reports the missed changes', async (t) => {
  const server = await serve(t, ['--history-duration=1s'])
  const client = new Client(server.transport())
  for (const name of ['stays', 'changes', 'goes']) await client.create(configMaps, configMap(name, { k: '1' }))
  const { resourceVersion } = await client.list(configMaps)
  const { informer, replica, state } = await begin(t, server)
  const reconnect = cut(state)
  await client.delete(configMaps, inDefault('goes'))
  await client.patch(configMaps, inDefault('changes'), { patch: { merge: { data: { k: '2' } } } })
  await client.create(configMaps, configMap('comes', { k: '2' }))
  await server.stop()
  await server.restart()
  await waitForCompaction(client, resourceVersion)
  const before = replica.changes
  reconnect()
  await waitForValue(informer, 'comes', '2')
  await assertSameAsList(client, informer, replica)
  assert.equal(replica.changes - before, 3)
  assert.equal(state.lists, 2)
})

/** Interrupts the transport until the returned function is called. */
function cut(state: { cut: AbortController }): () => void {
  state.cut.abort(new TransportError('cut'))
  return () => {
    state.cut = new AbortController()
  }
}

test('an informer reconnects if the server stops responding', async (t) => {
  const server = await serve(t)
  const client = new Client(server.transport())
  const proxy = await startProxy(server.url)
  const http = new HttpTransport({ ...server.credentials(), server: proxy.endpoint, pingMs: 50 })
  const stop = new AbortController()
  const silence = Promise.withResolvers<unknown>()
  // The connection is restored after the informer has noticed that the server is silent.
  const onError = (error: unknown) => {
    proxy.set('pass')
    silence.resolve(error)
  }
  const informer = new Informer(new Client(http.send), configMaps, { onError, backoff })
  const replica = mirror(informer)
  const running = informer.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await running
    http.close()
    await proxy.close()
  })
  await client.create(configMaps, configMap('before', { k: '1' }))
  await waitForValue(informer, 'before', '1')
  proxy.set('mute')
  await client.create(configMaps, configMap('unheard', { k: '2' }))
  assert.ok((await silence.promise) instanceof TransportError)
  await waitForValue(informer, 'unheard', '2')
  await assertSameAsList(client, informer, replica)
})

test('an informer that is stopped before its first list is not synced', async (t) => {
  const server = await serve(t)
  const send = server.transport()
  await server.stop()
  const stop = new AbortController()
  const informer = new Informer(new Client(send), configMaps, { onError: () => stop.abort(), backoff })
  await informer.run(stop.signal)
  assert.equal(await informer.synced, false)
})

test('an informer applies a long list in slices, so other tasks can run in between', async (t) => {
  const server = await serve(t)
  const client = new Client(server.transport())
  await Promise.all(Array.from({ length: 200 }, (_, i) => client.create(configMaps, configMap(`long-${i}`))))
  const informer = new Informer(client, configMaps, { onError: (error) => assert.fail(String(error)) })
  const inTurn = { now: 0, most: 0 }
  informer.onChange(() => {
    for (const end = performance.now() + 0.5; performance.now() < end; );
    inTurn.most = Math.max(inTurn.most, ++inTurn.now)
  })
  const ticker = setInterval(() => {
    inTurn.now = 0
  })
  const stop = new AbortController()
  const running = informer.run(stop.signal)
  await informer.synced
  clearInterval(ticker)
  stop.abort()
  await running
  assert.ok(informer.size >= 200)
  assert.ok(inTurn.most <= 64, `${inTurn.most} handlers of half a millisecond were called in one turn`)
})

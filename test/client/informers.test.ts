/** Tests shared informers: all users share one indexed copy, which survives server restarts. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Informers } from '../../src/client/informers/informers.ts'
import { Client } from '../../src/client/requests/client.ts'
import { type Transport, TransportError } from '../../src/client/requests/transport.ts'
import { serve } from '../support/in-process.ts'
import { type ConfigMap, configMap, configMaps } from '../support/resource-types.ts'
import { until } from '../support/until.ts'
import { waitForCompaction } from '../support/wait-for-compaction.ts'

const backoff = { firstMs: 20, longestMs: 200 }

/** Creates informers that stop at the end of the test, and records their requests and errors. */
function informersOf(t: TestContext, send: Transport) {
  const asked = { lists: 0, watches: 0 }
  const counted: Transport = async (request) => {
    asked[request.path.includes('watch=true') ? 'watches' : 'lists']++
    return await send(request)
  }
  const errors: unknown[] = []
  const stop = new AbortController()
  const onError = (error: unknown) => void errors.push(error)
  const informers = new Informers(new Client(counted), {
    signal: stop.signal,
    streamingLists: false,
    onError,
    backoff,
  })
  t.after(async () => {
    stop.abort()
    await informers.ended()
  })
  return { informers, asked, errors }
}

/** Resolves once every copy contains the object with this name. */
async function reached(copies: readonly { get(name: object): unknown }[], name: string): Promise<void> {
  await until(
    async () => copies.filter((copy) => copy.get({ namespace: 'default', name }) === undefined).length,
    (missing) => missing === 0,
  )
}

test('informers for the same objects share one copy, and handlers added later get the existing objects', async (t) => {
  const server = await serve(t)
  const client = new Client(server.transport())
  const { informers, asked } = informersOf(t, server.transport())
  const first = informers.of(configMaps, { namespace: 'default' })
  assert.equal(informers.of({ ...configMaps }, { namespace: 'default' }), first)
  assert.notEqual(informers.of(configMaps), first)
  await client.create(configMaps, configMap('a'))
  assert.equal(await informers.synced(), true)
  await reached([first], 'a')
  const messages: string[] = []
  const end = first.onChange(({ key, previous, object }) =>
    messages.push(`${key} ${previous !== undefined} ${object?.kind}`),
  )
  assert.deepEqual(messages, ['default/a false ConfigMap'])
  end()
  await client.create(configMaps, configMap('b'))
  await reached([first], 'b')
  assert.equal(messages.length, 1)
  assert.deepEqual(asked, { lists: 2, watches: 2 })
})

test('informer indexes follow every change, regardless of when the indexes are created', async (t) => {
  const server = await serve(t)
  const client = new Client(server.transport())
  const { informers } = informersOf(t, server.transport())
  const copy = informers.of(configMaps, { namespace: 'default' })
  const valuesOf = ({ data = {} }: ConfigMap) => [data.colour, ...(data.more?.split(',') ?? [])]
  const early = copy.index(valuesOf)
  await client.create(configMaps, configMap('a', { colour: 'red' }))
  await client.create(configMaps, configMap('b', { colour: 'red', more: 'large,round' }))
  await client.create(configMaps, configMap('plain'))
  await reached([copy], 'plain')
  const late = copy.index(valuesOf)
  const names = (value: string) => {
    const namesByIndex = [early, late].map((index) =>
      index
        .get(value)
        .map(({ metadata }) => metadata.name)
        .sort(),
    )
    assert.deepEqual(namesByIndex[0], namesByIndex[1])
    return namesByIndex[0]
  }
  assert.deepEqual([names('red'), names('round'), names('blue')], [['a', 'b'], ['b'], []])
  await client.update(configMaps, configMap('a', { colour: 'blue' }))
  await client.delete(configMaps, { namespace: 'default', name: 'b' })
  await client.create(configMaps, configMap('end'))
  await reached([copy], 'end')
  assert.deepEqual([names('red'), names('blue')], [[], ['a']])
  assert.deepEqual([...early.values()], ['blue'])
})

test('an error in an informer handler is reported and affects neither the cache nor other handlers', async (t) => {
  const server = await serve(t)
  const client = new Client(server.transport())
  const { informers, errors, asked } = informersOf(t, server.transport())
  const copy = informers.of(configMaps, { namespace: 'default' })
  copy.onChange(({ key }) => {
    throw new Error(`no ${key}`)
  })
  const messages: string[] = []
  copy.onChange(({ key }) => messages.push(key))
  for (const name of ['a', 'b', 'c']) await client.create(configMaps, configMap(name))
  await reached([copy], 'c')
  assert.deepEqual(messages, ['default/a', 'default/b', 'default/c'])
  assert.deepEqual(errors.map(String), ['Error: no default/a', 'Error: no default/b', 'Error: no default/c'])
  assert.deepEqual(asked, { lists: 1, watches: 1 })
})

const informerCount = 100

for (const { reaction, flags, lists } of [
  { reaction: 'resume', flags: [], lists: 0 },
  { reaction: 'list again if the history was compacted', flags: ['--history-duration=1s'], lists: informerCount },
])
  test(`when a server with ${informerCount} informers restarts, the informers ${reaction}`, {
    timeout: 120_000,
  }, async (t) => {
    const server = await serve(t, flags)
    const client = new Client(server.transport())
    const gate = { isShut: false }
    const send = server.transport()
    const gated: Transport = async (request) => {
      if (gate.isShut) throw new TransportError('not now')
      return await send(request)
    }
    const sets = Array.from({ length: informerCount }, () => informersOf(t, gated))
    const copies = sets.map(({ informers }) => informers.of(configMaps, { namespace: 'default' }))
    const { metadata } = await client.create(configMaps, configMap('before'))
    await reached(copies, 'before')
    const count = (sort: 'lists' | 'watches') => sets.reduce((sum, { asked }) => sum + asked[sort], 0)
    assert.deepEqual([count('lists'), count('watches')], [informerCount, informerCount])
    gate.isShut = true
    await server.stop()
    await server.restart()
    for (let i = 0; i < 3; i++) await client.update(configMaps, configMap('before', { i: `${i}` }))
    if (lists > 0) {
      // The memory store loses its content when the server restarts, and compacts its history after a second.
      await server.stop()
      await server.restart()
      await waitForCompaction(client, metadata.resourceVersion ?? '')
    }
    const triedWhileAway = count('watches')
    gate.isShut = false
    await client.create(configMaps, configMap('after'))
    await reached(copies, 'after')
    const { items } = await client.list(configMaps, { namespace: 'default' })
    const byName = (a: ConfigMap, b: ConfigMap) => (a.metadata.name! < b.metadata.name! ? -1 : 1)
    for (const copy of copies) assert.deepEqual([...copy.objects()].sort(byName), items)
    assert.equal(count('lists') - informerCount, lists)
    assert.ok(count('watches') - triedWhileAway <= informerCount * 3, `${count('watches')} watches`)
  })

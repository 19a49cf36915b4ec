/** Tests that informers request streaming lists, or plain lists if the server does not support streaming lists. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { Informers } from '../../src/client/informers/informers.ts'
import { Client } from '../../src/client/requests/client.ts'
import { type Transport, TransportError } from '../../src/client/requests/transport.ts'
import { serve } from '../support/in-process.ts'
import { type ConfigMap, configMap, configMaps, secrets } from '../support/resource-types.ts'
import { until } from '../support/until.ts'

const newest = await serve({ after }, ['--emulated-version=1.36'])
const oldest = await serve({ after }, ['--emulated-version=1.23'])
for (const server of [newest, oldest])
  for (const name of ['a', 'b']) await new Client(server.transport()).create(configMaps, configMap(name))

/** Creates informers whose requests are recorded as `list`, `watch` and `stream`. */
function informersOver(t: TestContext, send: Transport, change: (send: Transport) => Transport = (same) => same) {
  const sent: string[] = []
  const errors: unknown[] = []
  const stop = new AbortController()
  const changed = change(send)
  const recording: Transport = async (request) => {
    const isStream = request.path.includes('sendInitialEvents=true')
    sent.push(isStream ? 'stream' : request.path.includes('watch=true') ? 'watch' : 'list')
    return await changed(request)
  }
  const informers = new Informers(new Client(recording), {
    signal: stop.signal,
    onError: (error) => void errors.push(error),
    backoff: { firstMs: 10, longestMs: 50 },
  })
  t.after(async () => {
    stop.abort()
    await informers.ended()
  })
  return { informers, sent, errors }
}

const namesIn = (informer: { objects(): Iterable<ConfigMap> }) =>
  [...informer.objects()].map(({ metadata }) => metadata.name).sort()

test('an informer with streaming lists needs a single request for both the list and the watch', async (t) => {
  const { informers, sent, errors } = informersOver(t, newest.transport())
  const informer = informers.of(configMaps, { namespace: 'default' })
  const empty = informers.of(secrets, { labelSelector: 'none' })
  assert.equal(await informers.synced(), true)
  assert.deepEqual(namesIn(informer), ['a', 'b'])
  assert.equal(empty.size, 0)
  const client = new Client(newest.transport())
  await client.create(configMaps, configMap('c', { k: '1' }))
  await until(
    async () => namesIn(informer).join(' '),
    (names) => names === 'a b c',
  )
  await client.delete(configMaps, { namespace: 'default', name: 'c' })
  await until(
    async () => namesIn(informer).join(' '),
    (names) => names === 'a b',
  )
  assert.deepEqual([sent, errors], [['stream', 'stream'], []])
})

test('if a server does not support streaming lists, informers try one streaming list per type and then use plain lists', async (t) => {
  const { informers, sent, errors } = informersOver(t, oldest.transport())
  const copies = [1, 2, 3].map((i) => informers.of(configMaps, { namespace: 'default', labelSelector: `none!=${i}` }))
  assert.equal(await informers.synced(), true)
  for (const informer of copies) assert.deepEqual(namesIn(informer), ['a', 'b'])
  await until(
    async () => sent.filter((sort) => sort === 'watch').length,
    (watches) => watches === 3,
  )
  assert.deepEqual([sent.toSorted(), errors], [['list', 'list', 'list', 'stream', 'watch', 'watch', 'watch'], []])
})

test('informers use plain lists for types without streaming lists, and streaming lists for other types', async (t) => {
  const { informers, sent, errors } = informersOver(t, newest.transport(), (send) => async (request) => {
    if (!request.path.includes('/secrets') || !request.path.includes('sendInitialEvents=true'))
      return await send(request)
    const body = once(Buffer.from('{"kind":"Status","status":"Failure","reason":"Invalid","code":422}'))
    return { status: 422, headers: { 'content-type': 'application/json' }, body }
  })
  const plain = informers.of(secrets, { namespace: 'default' })
  assert.equal(await informers.synced(), true)
  assert.equal(plain.size, 0)
  const streamed = informers.of(configMaps, { namespace: 'default' })
  informers.of(secrets, { labelSelector: 'none' })
  assert.equal(await informers.synced(), true)
  assert.deepEqual(namesIn(streamed), ['a', 'b'])
  const isList = (sort: string) => sort !== 'watch'
  assert.deepEqual([sent.filter(isList).toSorted(), errors], [['list', 'list', 'stream', 'stream'], []])
})

test('an interrupted streaming list starts again, and plain lists are used if the server ignores the parameters', async (t) => {
  let streams = 0
  const breaking = informersOver(t, newest.transport(), (send) => async (request) => {
    const response = await send(request)
    if (!request.path.includes('sendInitialEvents=true') || ++streams > 1) return response
    return { ...response, body: firstLine(response.body) }
  })
  const informer = breaking.informers.of(configMaps, { namespace: 'default' })
  assert.equal(await breaking.informers.synced(), true)
  assert.deepEqual(
    [namesIn(informer), breaking.sent],
    [
      ['a', 'b'],
      ['stream', 'stream'],
    ],
  )
  assert.ok(breaking.errors[0] instanceof TransportError)

  const bookmark = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}}\n'
  const ignoring = informersOver(t, newest.transport(), (send) => async (request) => {
    if (!request.path.includes('sendInitialEvents=true')) return await send(request)
    return { status: 200, headers: { 'content-type': 'application/json' }, body: once(Buffer.from(bookmark)) }
  })
  const other = ignoring.informers.of(configMaps, { namespace: 'default' })
  assert.equal(await ignoring.informers.synced(), true)
  assert.deepEqual(
    [namesIn(other), ignoring.sent.slice(0, 2)],
    [
      ['a', 'b'],
      ['stream', 'list'],
    ],
  )
})

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}

/** Yields the first line of a body and then throws an error. */
async function* firstLine(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    yield chunk.subarray(0, chunk.indexOf(10) + 1)
    throw new TransportError('broken')
  }
}

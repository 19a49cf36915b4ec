/** Tests the client's verbs and its network transport against a real server. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { constants, createSecureServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseJson, stringifyJson } from '../../src/api/json/portable-json.ts'
import { changeObject } from '../../src/client/informers/change-object.ts'
import { HttpTransport } from '../../src/client/node/http-transport.ts'
import { Client } from '../../src/client/requests/client.ts'
import { discover } from '../../src/client/requests/discovery.ts'
import { isConflict, isExpired, isNotFound, StatusError } from '../../src/client/requests/status-error.ts'
import { bytesOfText } from '../../src/client/requests/text-bytes.ts'
import { type Transport, TransportError } from '../../src/client/requests/transport.ts'
import { watch } from '../../src/client/requests/watch.ts'
import { serve } from '../support/in-process.ts'
import { configMap, configMaps } from '../support/resource-types.ts'
import { startServer } from '../support/server.ts'

const inDefault = (name: string) => ({ namespace: 'default', name })

test('all verbs of the client work, and error responses are thrown as StatusErrors', async (t) => {
  const client = new Client((await serve(t)).transport(), { userAgent: 'tester/1' })
  const created = await client.create(configMaps, configMap('a', { k: 'v' }))
  assert.equal(created.metadata.managedFields?.[0]?.manager, 'tester')
  assert.deepEqual(await client.get(configMaps, inDefault('a')), created)

  const updated = await client.update(configMaps, { ...created, data: { k: 'w' } })
  assert.deepEqual(updated.data, { k: 'w' })
  await assert.rejects(client.update(configMaps, created), isConflict)
  const merged = await client.patch(configMaps, inDefault('a'), { patch: { merge: { data: { m: '1' } } } })
  assert.deepEqual(merged.data, { k: 'w', m: '1' })
  const operations = [{ op: 'remove', path: '/data/k' }]
  const patched = await client.patch(configMaps, inDefault('a'), { patch: { json: operations } })
  assert.deepEqual(patched.data, { m: '1' })
  const strategic = { strategic: { metadata: { labels: { l: 'x' } } } }
  const labelled = await client.patch(configMaps, inDefault('a'), { patch: strategic, dryRun: true })
  assert.deepEqual(labelled.metadata.labels, { l: 'x' })

  const applied = { ...configMap('a', { m: '2' }), metadata: inDefault('a') }
  const apply = { fieldManager: 'applier', patch: { apply: applied } }
  await assert.rejects(client.patch(configMaps, inDefault('a'), apply), isConflict)
  const forced = { ...apply, patch: { apply: applied, force: true } }
  assert.deepEqual((await client.patch(configMaps, inDefault('a'), forced)).data, { m: '2' })

  const uid = 'another'
  await assert.rejects(client.delete(configMaps, inDefault('a'), { preconditions: { uid } }), isConflict)
  await client.delete(configMaps, inDefault('a'))
  await assert.rejects(client.get(configMaps, inDefault('a')), (error) => {
    assert.ok(isNotFound(error) && error instanceof StatusError)
    assert.deepEqual([error.reason, error.status.details], ['NotFound', { name: 'a', kind: 'configmaps' }])
    assert.equal(error.message, 'configmaps "a" not found')
    const asked = 'GET /api/v1/namespaces/default/configmaps/a'
    assert.deepEqual([error.request, String(error)], [asked, `StatusError: ${asked}: ${error.message}`])
    return true
  })
  // A query may contain data that must not be logged.
  await assert.rejects(client.read('/nowhere?token=secret', { query: { key: 'secret' } }), (error) => {
    assert.ok(error instanceof StatusError)
    assert.equal(error.request, 'GET /nowhere')
    return !String(error).includes('secret')
  })
  await assert.rejects(
    watch(client, configMaps, { resourceVersion: 'x' }).next(),
    /^StatusError: GET \/api\/v1\/configmaps: /,
  )
})

test('lists and collection deletes that span several pages cover all objects', async (t) => {
  const client = new Client((await serve(t)).transport())
  const names = Array.from({ length: 11 }, (_, i) => `c${i}`).sort()
  for (const name of names) await client.create(configMaps, configMap(name))
  const sizes: number[] = []
  for await (const page of client.pages(configMaps, { namespace: 'default', limit: 4 })) sizes.push(page.items.length)
  assert.deepEqual(sizes, [4, 4, 3])
  const { items } = await client.list(configMaps, { namespace: 'default', limit: 4 })
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    names,
  )
  assert.deepEqual(items[0], await client.get(configMaps, inDefault(names[0]!)))
  await client.deleteCollection(configMaps, { namespace: 'default', limit: 3 })
  assert.deepEqual((await client.list(configMaps, { namespace: 'default' })).items, [])
})

test('a list restarts if its continue token has expired', async (t) => {
  const server = await serve(t, ['--history-duration=1s'])
  const send = server.transport()
  const writer = new Client(send)
  for (const name of ['a', 'b', 'c', 'd', 'e']) await writer.create(configMaps, configMap(name))
  let tries = 0
  // Delay the request for the second page, while writes continue, until the continue token has expired.
  const slow: Transport = async (request) => {
    if (!request.path.includes('continue=')) return await send(request)
    for (;;) {
      await writer.patch(configMaps, inDefault('a'), { patch: { merge: { data: { i: `${tries++}` } } } })
      const response = await send(request)
      if (response.status === 410) return response
      for await (const _ of response.body);
      assert.ok(tries < 20_000, 'the page did not expire')
      await pause(20)
    }
  }
  const { items } = await new Client(slow).list(configMaps, { namespace: 'default', limit: 2 })
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['a', 'b', 'c', 'd', 'e'],
  )
  assert.ok(tries > 0)
  await assert.rejects(async () => {
    for await (const _ of new Client(slow).pages(configMaps, { namespace: 'default', limit: 2 }));
  }, isExpired)
})

test('concurrent changes to one object are not lost', async (t) => {
  const client = new Client((await serve(t)).transport())
  await client.create(configMaps, configMap('count', { n: '0' }))
  const add = async () => {
    for (let i = 0; i < 20; i++)
      await changeObject(client, configMaps, {
        name: inDefault('count'),
        change: (object) => ({ ...object, data: { n: String(Number(object.data!.n) + 1) } }),
      })
  }
  await Promise.all([add(), add(), add()])
  assert.equal((await client.get(configMaps, inDefault('count'))).data!.n, '60')
})

test('watches receive all their events even if there are more watches than fit on one connection', async (t) => {
  const client = new Client((await serve(t)).transport())
  const { resourceVersion } = await client.list(configMaps)
  const watches = Array.from({ length: 230 }, () => watch(client, configMaps, { resourceVersion }))
  const events = watches.map(async (events) => (await events.next()).value)
  await client.create(configMaps, configMap('seen'))
  for (const event of await Promise.all(events)) assert.equal(event?.type, 'ADDED')
  for (const events of watches) await events.return(undefined)
})

test('requests throw a TransportError while the server is unreachable, and succeed once it is reachable again', async (t) => {
  const server = await startServer(t)
  const client = new Client(server.transport())
  const { resourceVersion } = await client.list(configMaps)
  const asked = 'TransportError: GET /api/v1/configmaps: '
  const broken = assert.rejects(watch(client, configMaps, { resourceVersion }).next(), (error) =>
    String(error).startsWith(asked),
  )
  await client.create(configMaps, configMap('a', {}, 'default'), { dryRun: true })
  await server.kill()
  await broken
  await assert.rejects(client.list(configMaps), (error) => {
    assert.ok(error instanceof TransportError && String(error).startsWith(asked))
    return error.cause !== undefined
  })
  await server.restart()
  assert.deepEqual((await client.list(configMaps, { namespace: 'default' })).items, [])
})

test('whenever a transport is closed, its pending requests fail with network errors', async (t) => {
  const server = await serve(t)
  for (let turns = 0; turns < 6; turns++) {
    const http = new HttpTransport(server.credentials())
    const client = new Client(http.send)
    await client.list(configMaps)
    const asked = client.list(configMaps)
    for (let turn = 0; turn < turns; turn++) await undefined
    http.close()
    await assert.rejects(asked, TransportError, `closed after ${turns} turns`)
  }
})

test('a request that reaches a closing connection is sent again on another connection', async (t) => {
  const reached = await serve(t)
  const pki = join(reached.directory, 'data/pki')
  const [key, cert] = ['serving.key', 'serving.crt'].map((name) => readFileSync(join(pki, name)))
  const front = createSecureServer({ key: key!, cert: cert! })
  t.after(() => void front.close())
  let refused = 0
  let maxRefused = 1
  front.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {})
    if (refused++ < maxRefused) stream.close(constants.NGHTTP2_REFUSED_STREAM)
    else stream.respond({ ':status': 200 })
    if (stream.headersSent) stream.end(headers[':method'])
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const { port } = front.address() as AddressInfo
  const http = new HttpTransport({ ...reached.credentials(), server: `https://127.0.0.1:${port}` })
  t.after(() => http.close())
  const request = { method: 'POST', path: '/', headers: {}, body: Buffer.from('{}'), signal: t.signal }
  const { body } = await http.send(request)
  assert.equal(await text(Readable.from(body)), 'POST')
  assert.equal(refused, 2)
  maxRefused = Number.POSITIVE_INFINITY
  await assert.rejects(http.send(request), TransportError)
})

test('a response that is truncated because the client was closed is an error', async (t) => {
  const reached = await serve(t)
  const pki = join(reached.directory, 'data/pki')
  const [key, cert] = ['serving.key', 'serving.crt'].map((name) => readFileSync(join(pki, name)))
  const slow = createSecureServer({ key: key!, cert: cert! })
  t.after(() => void slow.close())
  slow.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200, 'content-type': 'application/json' })
    stream.write('{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[]}')
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  const { port } = slow.address() as AddressInfo
  const http = new HttpTransport({ ...reached.credentials(), server: `https://127.0.0.1:${port}` })
  const { body } = await http.send({ method: 'GET', path: '/', headers: {}, body: undefined, signal: t.signal })
  const chunks = body[Symbol.asyncIterator]()
  assert.equal((await chunks.next()).done, false)
  const rest = chunks.next()
  http.close()
  await assert.rejects(rest, TransportError)
})

test('a response that is not JSON causes a TransportError', async () => {
  const headers = { 'content-type': 'application/json' }
  for (const text of ['', '{"kind":', 'welcome'])
    await assert.rejects(
      new Client(async () => ({ status: 200, headers, body: Readable.from([Buffer.from(text)]) })).list(configMaps),
      TransportError,
      text,
    )
})

test('the client does not ping a closed connection', async (t) => {
  const server = await serve(t)
  const pingMs = 1000
  t.mock.timers.enable({ apis: ['setInterval'] })
  const http = new HttpTransport({ ...server.credentials(), pingMs })
  await new Client(http.send).list(configMaps)
  http.close()
  // The next ping is due before the connection reports its end. Sending the ping would throw an error.
  assert.doesNotThrow(() => t.mock.timers.tick(pingMs))
})

test('a client certificate authenticates its user', async (t) => {
  const server = await serve(t)
  const config = readFileSync(join(server.directory, 'admin.kubeconfig'), 'utf8')
  const pem = (field: string) =>
    Buffer.from(new RegExp(`${field}: (\\S+)`).exec(config)![1]!, 'base64').toString('utf8')
  const { authority = '' } = server.credentials()
  const certificate = { certificate: pem('client-certificate-data'), key: pem('client-key-data') }
  const http = new HttpTransport({ server: server.url, authority, certificate })
  t.after(() => http.close())
  assert.deepEqual((await new Client(http.send).list(configMaps, { namespace: 'default' })).items, [])
})

test('requests with an invalid token or to a server with an untrusted CA fail', async (t) => {
  const server = await serve(t)
  const stranger = new HttpTransport({ server: server.url })
  t.after(() => stranger.close())
  await assert.rejects(new Client(stranger.send).list(configMaps), TransportError)
  await assert.rejects(
    new Client(server.transport('wrong-token')).list(configMaps),
    (error) => error instanceof StatusError && error.code === 401,
  )
})

test('the client discovers the resource types of a server', async (t) => {
  const client = new Client((await serve(t)).transport())
  const { types, failures } = await discover(client)
  assert.deepEqual(failures, [])
  const match = types.find(({ plural }) => plural === 'configmaps')
  assert.deepEqual([match?.group, match?.version, match?.kind, match?.namespaced], ['', 'v1', 'ConfigMap', true])
  assert.ok(match?.verbs.includes('deletecollection'))
  assert.equal(types.find(({ plural }) => plural === 'namespaces')?.namespaced, false)
  assert.ok(types.every(({ plural }) => !plural.includes('/')))
})

test('aborting the signal ends the call', async (t) => {
  const client = new Client((await serve(t)).transport())
  const stop = new AbortController()
  const events = watch(client, configMaps, { signal: stop.signal })
  const next = events.next()
  stop.abort(new Error('enough'))
  await assert.rejects(next, /enough/)
  await assert.rejects(client.list(configMaps, { signal: stop.signal }), /enough/)
  const never = new Client(() => assert.fail('a request was sent although its signal had aborted'))
  await assert.rejects(never.list(configMaps, { signal: stop.signal }), /enough/)
})

test('a request with an invalid name is not sent', async (t) => {
  const client = new Client((await serve(t)).transport())
  for (const name of ['', '.', '..']) await assert.rejects(client.delete(configMaps, inDefault(name)), TypeError)
  await assert.rejects(client.get(configMaps, { name: 'a' }), TypeError)
  await assert.rejects(
    client.create(configMaps, { ...configMap('a'), metadata: { name: 'a' } }),
    /^TypeError: configmaps "a" is namespaced: specify a namespace$/,
  )
})

test('the client does not round integers and supports objects with any key', () => {
  const text = '{"__proto__":1,"big":9007199254740993,"deep":[-18446744073709551615],"digits":"9007199254740993"}'
  assert.deepEqual(parseJson('9007199254740993'), 9007199254740993n)
  assert.equal(stringifyJson(parseJson(text)), text)
})

test('encoding a string in the client does not overwrite strings that were encoded earlier', () => {
  const texts = [
    '',
    'a',
    'ä€😀',
    'lone \ud800 half',
    'x'.repeat(20_000),
    ...Array.from({ length: 3000 }, (_, i) => `{"n":${i}}€`),
  ]
  const all = texts.map((text) => bytesOfText(text))
  assert.deepEqual(
    all.map((bytes) => Buffer.from(bytes).toString('latin1')),
    texts.map((text) => Buffer.from(text).toString('latin1')),
  )
})

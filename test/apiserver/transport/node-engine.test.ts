/**
 * Tests `--http-engine=node`, which uses Node's HTTP modules instead of this server's own engine. A server with two
 * workers handles writes, watches, long lists, upgrades, and slow and truncated bodies over both protocols, and shuts
 * down gracefully. `node-engine.long.test.ts` replays the recorded cases. The limits that both engines share are tested
 * with only a listener.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:http2'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import type { ServerTransport } from '../../../src/apiserver/transport/server-transport.ts'
import { readServerFlags } from '../../../src/server/flags/command-line.ts'
import { closed, listen, open } from '../../support/listener.ts'
import { configMaps } from '../../support/paths.ts'
import { ask, openSession, openSocket, sendBytes, statusesOf, untilClosed } from '../../support/raw-http.ts'
import { startUp } from '../../support/server.ts'
import { soon, until } from '../../support/until.ts'

const flags = ['--http-engine=node', '--workers=2', '--nodes=1', '--shutdown-grace-period=20s', '--controllers=*']
const server = await startUp({ after }, flags)
const client = server.client()
const admin = 'Authorization: Bearer admin-token'
const bearer = { authorization: 'Bearer admin-token' }
const json = { ...bearer, 'content-type': 'application/json' }
const httpEngine = 'node'

interface Named {
  readonly metadata: { readonly name: string }
}

test('an unknown --http-engine is rejected', async () => {
  const reading = readServerFlags('apiserver', ['--http-engine=apache'])
  await assert.rejects(reading, /--http-engine.*"apache" is not one of orch, node/)
})

test('writes and watches work over HTTP/1.1 and HTTP/2', async (t) => {
  const session = openSession(server)
  t.after(() => session.destroy())
  const watching = session.request({ ':path': `${configMaps}?watch=1&fieldSelector=metadata.name%3Done`, ...bearer })
  let events = ''
  watching.on('data', (chunk) => (events += chunk))
  const types = () => [...events.matchAll(/"type":"([A-Z]+)"/g)].map(([, type]) => type)
  const { status, headers } = await client.post(configMaps, { metadata: { name: 'one' } })
  assert.equal(status, 201)
  assert.ok(headers.date !== undefined && headers['audit-id'] !== undefined)
  const update = JSON.stringify({ metadata: { name: 'one' }, data: { k: 'v' } })
  const put = await ask(session, { ':method': 'PUT', ':path': `${configMaps}/one`, ...json }, [update])
  assert.equal(put.status, 200, put.text)
  assert.equal((await client.delete(`${configMaps}/one`)).status, 200)
  await soon(() => types().length === 3)
  assert.deepEqual(types(), ['ADDED', 'MODIFIED', 'DELETED'])
  watching.close(constants.NGHTTP2_CANCEL)
  assert.equal((await ask(session, { ':method': 'HEAD', ':path': '/livez', ...bearer })).status, 200)
  assert.equal((await ask(session, { ':path': '/livez', authorization: 'Bearer wrong' })).status, 401)
})

test('a long list is complete over HTTP/1.1 and HTTP/2', async (t) => {
  const data = { text: 'x'.repeat(100_000) }
  for (let i = 0; i < 40; i++) await client.post(configMaps, { metadata: { name: `long-${i}` }, data })
  const session = openSession(server)
  t.after(() => session.destroy())
  const texts = [(await client.get(configMaps)).text, (await ask(session, { ':path': configMaps, ...bearer })).text]
  for (const text of texts) {
    const { items } = JSON.parse(text) as { items: Named[] }
    assert.equal(items.filter(({ metadata }) => metadata.name.startsWith('long-')).length, 40)
  }
})

test('exec upgrades the connection', async () => {
  const pods = '/api/v1/namespaces/default/pods'
  const names = async () => (await client.get('/api/v1/nodes')).body.items.map((each: Named) => each.metadata.name)
  const [nodeName] = await until(names, (found) => found.length > 0)
  const spec = { nodeName, containers: [{ name: 'c', image: 'i' }] }
  const created = () => client.post(pods, { metadata: { name: 'web' }, spec })
  await until(created, ({ status }) => status === 201 || status === 409)
  const phase = async () => (await client.get(`${pods}/web`)).body.status.phase
  await until(phase, (told) => told === 'Running')
  const script = join(import.meta.dirname, '../../support/websocket-client.mjs')
  const url = `${server.url.replace('https', 'wss')}${pods}/web/exec?container=c&stdout=true&command=echo&command=hi`
  const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: join(server.directory, 'data/pki/ca.crt') }
  const child = spawn(process.execPath, [script, url, 'v4.channel.k8s.io', 'admin-token', '[]'], { env })
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) lines.push(JSON.parse(line).message ?? '')
  assert.ok(lines.includes('\u0001hi\n'), JSON.stringify(lines))
  // Any response other than 101 closes the connection.
  const head = `GET ${pods}/none/exec?command=a HTTP/1.1\r\nHost: x\r\n${admin}\r\nConnection: Upgrade\r\n`
  const refused = await sendBytes(server, `${head}Upgrade: SPDY/3.1\r\n\r\n`)
  assert.deepEqual(statusesOf(refused), [404])
})

test('a chunked body is accepted, and a request with a truncated body is not executed', async (t) => {
  const body = JSON.stringify({ metadata: { name: 'slow' } })
  const head = `POST ${configMaps} HTTP/1.1\r\nHost: x\r\n${admin}\r\nContent-Type: application/json\r\n`
  const socket = await openSocket(server, 'http/1.1')
  const answered = untilClosed(socket)
  socket.write(`${head}Connection: close\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`)
  await once(socket, 'data')
  for (const part of body) socket.write(part)
  assert.deepEqual(statusesOf(await answered), [100, 201])

  const cut = JSON.stringify({ metadata: { name: 'cut' } })
  const broken = await openSocket(server, 'http/1.1')
  broken.write(`${head}Transfer-Encoding: chunked\r\n\r\n${cut.length.toString(16)}\r\n${cut}\r\nzz\r\n`)
  assert.deepEqual(statusesOf(await untilClosed(broken)), [400])
  const session = openSession(server)
  t.after(() => session.destroy())
  const stream = session.request({ ':method': 'POST', ':path': configMaps, ...json })
  stream.on('error', () => {})
  stream.write(cut)
  stream.close(constants.NGHTTP2_CANCEL)
  await once(stream, 'close')
  assert.equal((await ask(session, { ':path': `${configMaps}/cut`, ...bearer })).status, 404)
})

test('a response is sent even if the handler does not read the request body', async (t) => {
  const length = 4 * 1024 * 1024
  const socket = await openSocket(server, 'http/1.1')
  const answered = untilClosed(socket)
  socket.write(`POST ${configMaps} HTTP/1.1\r\nHost: x\r\n${admin}\r\nConnection: close\r\n`)
  socket.write(`Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`)
  socket.write(Buffer.alloc(length, 0x20))
  assert.deepEqual(statusesOf(await answered), [413])
  const session = openSession(server)
  t.after(() => session.destroy())
  const post = { ':method': 'POST', ':path': configMaps, ...json }
  assert.equal((await ask(session, post, [Buffer.alloc(length, 0x20)])).status, 413)
})

test('pipelined requests run one at a time', async () => {
  const get = (path: string, last = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${admin}\r\n${last}\r\n`
  const text = await sendBytes(server, `${get(configMaps)}${get('/none')}${get('/livez', 'Connection: close\r\n')}`)
  assert.deepEqual(statusesOf(text), [200, 404, 200])
  assert.deepEqual(statusesOf(await sendBytes(server, `${get('/livez')}no request\r\n\r\n`)), [200, 400])
  assert.ok(statusesOf(await sendBytes(server, get('/livez').repeat(500))).length <= 101)
})

test('slow and silent clients are disconnected', async (t) => {
  const rows: readonly (readonly [object, string, string, RegExp])[] = [
    [{ headers: 300 }, 'http/1.1', 'GET / HTTP/1.1\r\nHost: x\r\n', /^HTTP\/1\.1 408 /],
    [{ idle: 300 }, 'http/1.1', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', /^HTTP\/1\.1 200 /],
    [{ headers: 300 }, 'h2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0', /./],
  ]
  for (const [times, alpn, bytes, expected] of rows) {
    const socket = await open(await listen(t, { times, httpEngine }), alpn)
    const told = closed(t, socket)
    socket.write(bytes, 'latin1')
    assert.match(await told, expected)
  }
})

test('a client that does not read its response is disconnected, and its request is aborted', async (t) => {
  const waiting: ServerTransport[] = []
  const onRequest = async (transport: ServerTransport) => {
    waiting.push(transport)
    transport.open(200, [])
    while (!transport.signal.aborted) await transport.pass(Buffer.alloc(256 * 1024))
  }
  const port = await listen(t, { times: { stall: 300 }, onRequest, httpEngine })
  const socket = await open(port, 'http/1.1')
  t.after(() => socket.destroy())
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await soon(() => waiting[0]?.disconnected === true)
})

test('the server notices a client that disconnects before its upgrade is accepted', async (t) => {
  const waiting: ServerTransport[] = []
  const onRequest = (transport: ServerTransport) => void waiting.push(transport)
  const port = await listen(t, { onRequest, httpEngine, maySwitch: () => true })
  const head = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n'
  const leaving = await open(port, 'http/1.1')
  leaving.write(head)
  await soon(() => waiting.length === 1)
  const { signal } = waiting[0]!
  leaving.end()
  await soon(() => signal.aborted)

  // Another client has sent data after its request, and the server echoes this data.
  const staying = await open(port, 'http/1.1')
  t.after(() => staying.destroy())
  let text = ''
  staying.on('data', (chunk) => (text += chunk))
  staying.write(`${head}early `)
  await soon(() => waiting.length === 2)
  staying.write('late ')
  const switched = waiting[1]!.upgrade!.switch(['upgrade', 'echo'])
  switched.on('data', (chunk) => switched.write(chunk))
  staying.write('last')
  await soon(() => text.endsWith('\r\n\r\nearly late last'))
  assert.match(text, /^HTTP\/1\.1 101 /)
})

// This test must be the last, because it stops the server.
test('a stopping server lets running requests finish', { timeout: 120_000 }, async (t) => {
  const idle = await openSocket(server, 'http/1.1')
  const idleClosed = untilClosed(idle)
  const body = JSON.stringify({ metadata: { name: 'last' } })
  const socket = await openSocket(server, 'http/1.1')
  const answered = untilClosed(socket)
  const head = `POST ${configMaps} HTTP/1.1\r\nHost: x\r\n${admin}\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`)
  const session = openSession(server)
  t.after(() => session.destroy())
  const goaway = once(session, 'goaway')
  const stream = session.request({ ':method': 'POST', ':path': configMaps, ...json })
  const update = JSON.stringify({ metadata: { name: 'last-too' } })
  stream.write(update.slice(0, 10))
  const watching = session.request({ ':path': `${configMaps}?watch=1&resourceVersion=0`, ...bearer })
  await once(watching, 'response')
  watching.resume()
  const watchEnded = once(watching, 'close')

  const stopped = server.stop()
  await Promise.all([goaway, watchEnded, idleClosed])
  socket.write(body.slice(10))
  stream.end(update.slice(10))
  const [headers] = await once(stream, 'response')
  stream.resume()
  assert.equal(headers[':status'], 201)
  const text = await answered
  assert.deepEqual(statusesOf(text), [201])
  assert.match(text, /\r\nconnection: close\r\n/i)
  assert.equal(await stopped, 0)
  assert.doesNotMatch(server.output(), / error /)
})

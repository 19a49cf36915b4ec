/** Tests that hostile backends, and hostile clients of backends, cannot affect other backends or clients. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AggregatedServer, giveService } from '../../support/aggregated.ts'
import { serve } from '../../support/in-process.ts'
import { openSocket, sendHttp2, statusesOf, untilClosed } from '../../support/raw-http.ts'
import { until, untilTrue } from '../../support/until.ts'

const server = await serve({ after })
const client = server.client()
const backend = await AggregatedServer.start({ after })
const root = '/apis/a.example.com/v1'
const services = '/apis/apiregistration.orch.io/v1/apiservices'
await giveService(client)
assert.equal((await client.post(services, backend.apiService())).status, 201)
await until(
  () => client.get(`${root}/echo`),
  ({ status }) => status === 200,
)

const bearer = 'Authorization: Bearer admin-token'

/** Returns the head of an upgrade request. */
function upgradeHead(path: string, ...lines: readonly string[]): string {
  const head = [`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: Upgrade', 'Upgrade: echo', ...lines, '', '']
  return head.join('\r\n')
}

const refusals: readonly (readonly [path: string, status: number, message: RegExp])[] = [
  ['redirect', 502, /redirect \(302\), which is not forwarded/],
  ['hang?timeout=1s', 504, /returned no response within \d+ ms/],
  ['reset', 503, /the connection was closed/],
  ['huge-head', 503, /not valid HTTP/],
  ['odd-status', 502, /status 999/],
  ['uninvited-switch', 502, /unexpected protocol switch/],
]

test('malformed backend responses are not forwarded', async () => {
  const answers = await Promise.all(refusals.map(([path]) => client.get(`${root}/${path}`)))
  for (const [i, [path, status, message]] of refusals.entries()) {
    assert.equal(answers[i]!.status, status, path)
    assert.match(answers[i]!.body.message, message)
    assert.equal(answers[i]!.headers.location, undefined)
  }
  assert.equal((await client.get(`${root}/echo`)).status, 200)
})

test('a forwarded 304 response has no Location header, and duplicate headers are forwarded once', async () => {
  const { status, headers } = await client.get(`${root}/not-modified`)
  assert.deepEqual([status, headers.location, headers.etag], [304, undefined, '"a"'])
  const twice = { ':path': `${root}/many-heads`, authorization: 'Bearer admin-token' }
  assert.deepEqual(await sendHttp2(server, twice), { status: 200, text: '{}' })
})

test('an interrupted or timed-out response from a backend never looks complete to the client', async () => {
  await assert.rejects(client.get(`${root}/broken-off`))
  await assert.rejects(client.get(`${root}/drip?timeout=1s`))
})

test('bytes that follow a backend response are discarded', async () => {
  for (let i = 0; i < 3; i++) assert.equal((await client.get(`${root}/second-answer`)).text, '{}')
  assert.match((await client.get(`${root}/echo`)).text, /"method":"GET"/)
})

test('a forwarded request ends with its response, and the backend detects a truncated request body', async () => {
  const socket = await openSocket(server, 'http/1.1')
  socket.write(
    [`POST ${root}/early HTTP/1.1`, 'Host: a', bearer, 'Transfer-Encoding: chunked', '', '5', 'begin', ''].join('\r\n'),
  )
  await new Promise((done) => socket.once('data', done))
  // The server discards the rest of the request, and the connection remains usable.
  socket.write(`3\r\nend\r\n0\r\n\r\nGET ${root}/echo HTTP/1.1\r\nHost: a\r\n${bearer}\r\nConnection: close\r\n\r\n`)
  assert.deepEqual(statusesOf(await untilClosed(socket)), [200])
  await untilTrue(async () => backend.bodies.length > 0)
  assert.deepEqual(backend.bodies, ['cut'])
  // A client that does not complete its request does not keep the connection to the backend open.
  const slow = await openSocket(server, 'http/1.1')
  slow.write([`POST ${root}/early HTTP/1.1`, 'Host: a', bearer, 'Content-Length: 100', '', 'begin'].join('\r\n'))
  await untilTrue(async () => backend.bodies.length > 1)
  assert.deepEqual(backend.bodies, ['cut', 'cut'])
  slow.destroy()
})

test('a huge response from a backend is read only as fast as the client reads', async () => {
  const socket = await openSocket(server, 'http/1.1')
  socket.write([`GET ${root}/huge HTTP/1.1`, 'Host: a', bearer, '', ''].join('\r\n'))
  await new Promise((done) => socket.once('data', done))
  socket.pause()
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 20; i++) assert.equal((await client.get(`${root}/echo`)).status, 200)
  assert.ok(process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024)
  socket.destroy()
  // The backend is disconnected long before it has sent its whole gigabyte.
  await untilTrue(async () => backend.sent !== undefined)
  assert.ok(backend.sent! < 200, `${backend.sent} MB left the backend`)
})

test('a tunnel opens after the backend sends 101, and closing one side also closes the other side', async () => {
  const socket = await openSocket(server, 'http/1.1')
  socket.write(`${upgradeHead(`${root}/tunnel`, bearer)}early `)
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  await untilTrue(async () => text.includes('early'))
  socket.write('late')
  await untilTrue(async () => text.endsWith('welcome early late'))
  assert.match(text, /^HTTP\/1\.1 101 Switching Protocols\r\n/)
  assert.match(text, /upgrade: echo\r\n/)
  const call = backend.calls.findLast(({ url }) => url.endsWith('/tunnel'))!
  assert.equal(call.headers[call.headers.indexOf('X-Remote-User') + 1], 'admin')
  const closed = new Promise((done) => socket.on('close', done))
  socket.end()
  await closed
})

const second = [`GET ${root}/echo HTTP/1.1`, 'Host: a', 'X-Remote-User: root', '', ''].join('\r\n')

for (const [response, path, status] of [
  ['a response other than 101', 'refused', 400],
  ['a redirect', 'redirected-upgrade', 502],
  ['101 for another protocol', 'other-protocol', 502],
] as const)
  test(`${response} opens no tunnel, and the server discards later bytes from the client`, async () => {
    const socket = await openSocket(server, 'http/1.1')
    socket.write(`${upgradeHead(`${root}/${path}`, bearer)}${second}`)
    const text = await untilClosed(socket)
    assert.deepEqual(statusesOf(text), [status])
    assert.deepEqual(backend.smuggled, [])
  })

test('opening a tunnel requires permission, and the server ignores upgrade requests to paths that it handles itself', async () => {
  backend.calls.length = 0
  const refused = await openSocket(server, 'http/1.1')
  refused.write(`${upgradeHead(`${root}/tunnel`)}${second}`)
  assert.deepEqual(statusesOf(await untilClosed(refused)), [403])
  assert.deepEqual(backend.receivedCalls(), [])
  const local = await openSocket(server, 'http/1.1')
  local.write(upgradeHead('/version', bearer))
  // The server closes the connection, because data after an ignored upgrade request may be ambiguous.
  const answer = await untilClosed(local)
  assert.deepEqual(statusesOf(answer), [200])
  assert.match(answer, /^connection: close\r$/im)
})

test('a truncated or overlong body is forwarded as an incomplete request', async () => {
  const socket = await openSocket(server, 'http/1.1')
  socket.write([`POST ${root}/echo HTTP/1.1`, 'Host: a', bearer, 'Content-Length: 10', '', 'half'].join('\r\n'))
  await untilTrue(async () => backend.calls.some(({ method }) => method === 'POST'))
  socket.destroy()
  assert.equal((await client.get(`${root}/echo`)).status, 200)
})

test('a request that a backend forwards back to the server is rejected', async () => {
  const { headers } = (await client.get(`${root}/echo`)).body as { headers: string[] }
  const via = headers[headers.indexOf('via') + 1]!
  const { status, body } = await client.get(`${root}/echo`, { via: `1.1 proxy, ${via}` })
  assert.deepEqual([status, /would send the request back to this server/.test(body.message)], [502, true])
  assert.equal((await client.get(`${root}/echo`, { via: '1.1 proxy' })).status, 200)
})

test('a page from a backend is sandboxed, and its headers cannot affect the origin of the server', async () => {
  const { status, headers, text } = await client.get(`${root}/takeover`)
  assert.deepEqual([status, /relayed/.test(text)], [200, true])
  const relayed = ['content-type', 'etag', 'content-disposition']
  const ours = ['audit-id', 'cache-control', 'content-security-policy', 'date', 'transfer-encoding']
  const more = ['x-content-type-options', 'x-orch-pf-flowschema-uid', 'x-orch-pf-prioritylevel-uid']
  assert.deepEqual(Object.keys(headers).sort(), [...relayed, ...ours, ...more].sort())
  assert.equal(headers['content-security-policy'], 'sandbox')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal((await client.get(`${root}/not-modified`)).headers['content-security-policy'], 'sandbox')
})

test('service worker scripts from a backend are not relayed', async () => {
  assert.equal((await client.get(`${root}/worker`)).status, 200)
  assert.equal((await client.get(`${root}/worker`, { 'service-worker': 'script' })).status, 403)
})

test('multipart/x-mixed-replace is relayed as application/octet-stream', async () => {
  assert.equal((await client.get(`${root}/replaced`)).headers['content-type'], 'application/octet-stream')
})

test('a Location header that points to another host is removed', async () => {
  for (const to of ['https://elsewhere/', '//elsewhere/', '/\\elsewhere', '\\/elsewhere', 'javascript:alert(1)', ''])
    assert.equal(
      (await client.get(`${root}/made-elsewhere?to=${encodeURIComponent(to)}`)).headers.location,
      undefined,
      to,
    )
  const here = `${root}/namespaces/n/things/a`
  assert.equal((await client.get(`${root}/made-elsewhere?to=${encodeURIComponent(here)}`)).headers.location, here)
})

test('the server limits the number of warnings from a backend so that HTTP/2 clients accept the response', async () => {
  const head = { ':path': `${root}/warnings`, authorization: 'Bearer admin-token' }
  assert.deepEqual(await sendHttp2(server, head), { status: 200, text: '{}' })
  const { headers } = await client.get(`${root}/warnings`)
  const warnings = String(headers.warning).split(', ')
  assert.deepEqual([warnings.length, warnings[0], warnings.at(-1)], [50, '299 - "0"', '299 - "49"'])
  assert.equal(headers.vary, 'accept, accept-encoding')
})

/**
 * Tests requests from web pages of other origins. Such pages can neither write nor open a connection on behalf of the
 * user.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Answer } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import { openSocket, sendHead, sendHttp2, statusesOf, untilClosed } from '../../support/raw-http.ts'

const server = await serve({ after }, ['--cors-allowed-origins=^https://friend[.]example$'])
const client = server.client()
const own = `https://127.0.0.1:${server.port}`

interface Headers {
  readonly [name: string]: string
}

let count = 0

/** Sends a request with the given headers that creates a ConfigMap under a new name. */
async function create(headers: Headers): Promise<Answer & { readonly isStored: boolean }> {
  const name = `page-${++count}`
  const raw = JSON.stringify({ metadata: { name } })
  const answer = await client.send(configMaps, {
    method: 'POST',
    raw,
    headers: { 'content-type': 'application/json', ...headers },
  })
  const { status } = await client.get(`${configMaps}/${name}`)
  return Object.assign(answer, { isStored: status === 200 })
}

const foreign: readonly Headers[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  // Another port of this host, and this host without TLS, are other origins.
  { origin: `https://127.0.0.1:${server.port + 1}` },
  { origin: 'https://127.0.0.1' },
  { origin: `http://127.0.0.1:${server.port}` },
  { origin: `https://localhost:${server.port}` },
  { origin: `${own}.evil.example` },
  { origin: `${own}/` },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'unknown' },
  { 'sec-fetch-site': 'CROSS-SITE' },
  { origin: own, 'sec-fetch-site': 'cross-site' },
  { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  { origin: 'https://evil.example', 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
  { origin: 'https://evil.example', 'user-agent': '' },
  { origin: 'https://evil.example', 'user-agent': 'kiosk/1', 'sec-fetch-mode': 'websocket' },
  { origin: 'https://evil.example', 'user-agent': 'kiosk/1', 'accept-language': 'en' },
]

const accepted: readonly Headers[] = [
  {},
  { origin: '' },
  { origin: own },
  { origin: own.toUpperCase() },
  { origin: own, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  // WebSocket libraries set an origin themselves. No page can send such a user agent without a preflight request.
  { origin: 'http://localhost', 'user-agent': 'e2e.test/v1.23.17 (linux/amd64) kubernetes/953be89' },
  { origin: 'https://friend.example', 'sec-fetch-site': 'cross-site' },
]

test('a write from a page with another origin is rejected', async () => {
  for (const headers of foreign) {
    const { status, body, isStored } = await create(headers)
    const shown = JSON.stringify(headers)
    assert.deepEqual([status, body.reason, isStored], [403, 'Forbidden', false], shown)
    assert.match(body.message, /page from (?:the|another) origin.*--cors-allowed-origins/, shown)
  }
})

test("writes from the server's own origin, an allowed origin or a program are accepted", async () => {
  for (const headers of accepted) assert.equal((await create(headers)).status, 201, JSON.stringify(headers))
})

test('the server checks the origin of all requests that can change data, but not of reads', async () => {
  assert.equal((await client.post(configMaps, { metadata: { name: 'kept' } })).status, 201)
  const headers = { origin: 'https://evil.example', 'content-type': 'application/json' }
  const sent = { headers, raw: '{}' }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PURGE'])
    for (const path of [`${configMaps}/kept`, configMaps, '/console/session', '/version', '/nowhere'])
      assert.equal((await client.send(path, { ...sent, method })).status, 403, `${method} ${path}`)
  const cross = { ...headers, 'sec-fetch-site': 'cross-site' }
  for (const path of [`${configMaps}/kept`, '/version', '/console/'])
    assert.equal((await client.get(path, cross)).status, 200, path)
  assert.equal((await client.send(`${configMaps}/kept`, { method: 'OPTIONS', headers })).status, 405)
})

test('a request with several Origin headers is rejected if any of the origins is not allowed', async () => {
  const lines = [`POST ${configMaps} HTTP/1.1`, 'Authorization: Bearer admin-token', 'Content-Length: 2']
  const post = async (...more: readonly string[]) => (await sendHead(server, [...lines, ...more], '{}')).status
  assert.equal(await post('Origin: https://127.0.0.1'), 422)
  assert.equal(await post('Origin: https://127.0.0.1', 'ORIGIN: https://evil.example'), 403)
  assert.equal(await post('Origin: https://friend.example', 'Origin: https://evil.example'), 403)
  assert.equal(await post('Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site'), 403)
})

test("the server's own origin is derived from the Host header", async () => {
  const post = async (host: string, origin: string) => {
    const head = [`POST ${configMaps} HTTP/1.1`, `Host: ${host}`, `Origin: ${origin}`, 'Content-Length: 2']
    const socket = await openSocket(server, 'http/1.1')
    socket.write([...head, 'Authorization: Bearer admin-token', 'Connection: close', '', '{}'].join('\r\n'))
    return statusesOf(await untilClosed(socket))[0]
  }
  assert.equal(await post('named.example', 'https://named.example'), 422)
  assert.equal(await post('named.example:443', 'https://named.example'), 422)
  assert.equal(await post('named.example:1', 'https://named.example'), 403)
  assert.equal(await post('[::1]:6443', 'https://[::1]:6443'), 422)
  assert.equal(await post('', 'https://'), 403)
})

test("over HTTP/2, the server's own origin is derived from :authority", async () => {
  const head = { ':method': 'POST', ':path': configMaps, authorization: 'Bearer admin-token' }
  const post = async (headers: Headers) =>
    (await sendHttp2(server, { ...head, 'content-type': 'application/json', ...headers }, ['{}'])).status
  assert.equal(await post({ origin: own }), 422)
  assert.equal(await post({ origin: 'https://evil.example' }), 403)
  assert.equal(
    await post({ ':authority': `127.0.0.1:${server.port}`, host: 'evil.example', origin: 'https://evil.example' }),
    403,
  )
  assert.equal(await post({ 'sec-fetch-site': 'same-site' }), 403)
})

test('a browser must send a content type with a request body', async () => {
  const post = async (...lines: readonly string[]) => {
    const body = '{"metadata":{"generateName":"untyped-"}}'
    const head = [`POST ${configMaps} HTTP/1.1`, 'Authorization: Bearer admin-token', `Content-Length: ${body.length}`]
    return await sendHead(server, [...head, ...lines], body)
  }
  const refused = await post('Sec-Fetch-Mode: no-cors')
  assert.equal(refused.status, 415)
  assert.match(refused.text, /"reason":"UnsupportedMediaType"/)
  const site = 'Sec-Fetch-Site: same-origin'
  for (const type of ['', ';a=b']) assert.equal((await post(site, `Content-Type: ${type}`)).status, 415, type)
  assert.equal((await post(site, 'Content-Type: application/json')).status, 201)
  assert.equal((await post()).status, 201)
  // A request without a body needs no content type.
  const path = `${configMaps}/none`
  assert.equal((await client.send(path, { method: 'DELETE', headers: { 'sec-fetch-mode': 'cors' } })).status, 404)
})

test('an upgrade request from a page with another origin is rejected', async () => {
  const upgrade = async (...lines: readonly string[]) => {
    const path = '/api/v1/namespaces/default/pods/none/exec?command=x'
    const socket = await openSocket(server, 'http/1.1')
    const head = [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${server.port}`, 'Connection: Upgrade', 'Upgrade: websocket']
    socket.write([...head, 'Authorization: Bearer admin-token', ...lines, '', ''].join('\r\n'))
    return statusesOf(await untilClosed(socket))[0]
  }
  assert.equal(await upgrade(), 404)
  assert.equal(await upgrade(`Origin: ${own}`), 404)
  assert.equal(await upgrade('Origin: https://friend.example'), 404)
  for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:${server.port}`, 'http://localhost'])
    assert.equal(await upgrade(`Origin: ${origin}`), 403, origin)
  assert.equal(await upgrade('Sec-Fetch-Site: cross-site'), 403)
})

test('requests for service worker scripts are rejected', async () => {
  for (const path of ['/console/', '/version', `${configMaps}/kept`]) {
    const { status, body } = await client.get(path, { 'service-worker': 'script', 'sec-fetch-site': 'same-origin' })
    assert.equal(status, 403, path)
    assert.match(body.message, /service worker/)
  }
})

/**
 * Tests TLS, ALPN and ambiguous HTTP/1.1 requests. An ambiguous request gets at most one response, after which the
 * connection is closed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { type Restartable, serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import { caOf, openSocket, sendBytes, sendHead, statusesOf, untilClosed } from '../../support/raw-http.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const admin = 'Authorization: Bearer admin-token'

test('TLS 1.2 and later are accepted, and ALPN selects HTTP/2 or HTTP/1.1', async (t) => {
  const server = await serve(t)
  for (const version of ['TLSv1', 'TLSv1.1'] as const) await assert.rejects(handshake(server, [], version), /version/i)
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
    assert.equal(await handshake(server, ['h2', 'http/1.1'], version), 'h2')
  assert.equal(await handshake(server, ['http/1.1', 'h2']), 'h2')
  assert.equal(await handshake(server, ['http/1.1']), 'http/1.1')
  assert.equal(await handshake(server, []), false)
  await assert.rejects(handshake(server, ['gopher']), /alpn|protocol/i)
  const plain = await openSocket(server, 'http/1.1')
  plain.write(`GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  assert.match(await untilClosed(plain), /^HTTP\/1\.1 200 /)
  await survivalCheck(server)()
})

function handshake(server: Restartable, alpn: string[], version?: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') {
  return new Promise<string | false | null>((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port: server.port,
      ca: caOf(server),
      ...(alpn.length > 0 ? { ALPNProtocols: alpn } : {}),
      ...(version === undefined ? {} : { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' }),
    })
    socket.on('secureConnect', () => {
      resolve(socket.alpnProtocol)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

const post = `POST ${configMaps} HTTP/1.1\r\nHost: x\r\n${admin}\r\nContent-Type: application/json\r\n`
const get = `GET ${configMaps} HTTP/1.1\r\nHost: x\r\n${admin}\r\n`
/** The request that an attacker tries to smuggle. */
const smuggled = `DELETE /api/v1/namespaces/default/configmaps/kept HTTP/1.1\r\nHost: x\r\n${admin}\r\n\r\n`
const chunked = 'Transfer-Encoding: chunked\r\n'
const chunkedBody = (first: string) => `${post}${chunked}\r\n${first}\r\n0\r\n\r\n${smuggled}`

const smuggling: { readonly [name: string]: string } = {
  'a length before chunked encoding': `${post}Content-Length: 4\r\n${chunked}\r\n0\r\n\r\n${smuggled}`,
  'chunked encoding before a length': `${post}${chunked}Content-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
  'two lengths': `${post}Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
  'two transfer encodings': `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'the same length twice': `${post}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}${smuggled}`,
  'two lengths in one header': `${post}Content-Length: 2, 2\r\n\r\n{}${smuggled}`,
  'a length with a sign': `${post}Content-Length: +2\r\n\r\n{}${smuggled}`,
  'a negative length': `${post}Content-Length: -2\r\n\r\n{}${smuggled}`,
  'a length in hexadecimal': `${post}Content-Length: 0x2\r\n\r\n{}${smuggled}`,
  'a length with a space in it': `${post}Content-Length: 2 0\r\n\r\n{}${smuggled}`,
  'an empty length': `${post}Content-Length: \r\n\r\n{}${smuggled}`,
  'a length that exceeds 64 bits': `${post}Content-Length: 99999999999999999999\r\n\r\n{}${smuggled}`,
  'a space before the colon': `${post}Content-Length : ${smuggled.length}\r\n\r\n${smuggled}`,
  'a tab before the colon': `${post}Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'an unknown transfer encoding': `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'chunked, then another encoding': `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
  'a vertical tab before chunked': `${post}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'a folded header': `${get}X-A: b\r\n c\r\n\r\n${smuggled}`,
  'a folded transfer encoding': `${post}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'a space before the first header': `GET ${configMaps} HTTP/1.1\r\n Host: x\r\n\r\n${smuggled}`,
  'lines that end in LF': `${get.replaceAll('\r\n', '\n')}\n${smuggled}`,
  'one line that ends in LF': `${get}X-A: b\n\r\n${smuggled}`,
  'lines that end in CR': `${get.replaceAll('\r\n', '\r')}\r${smuggled}`,
  'a bare CR in a value': `${get}X-A: b\rContent-Length: 5\r\n\r\n${smuggled}`,
  'NUL in a value': `${get}X-A: b\0c\r\n\r\n${smuggled}`,
  'NUL in a name': `${get}X\0A: b\r\n\r\n${smuggled}`,
  'a header without a colon': `${get}X-A\r\n\r\n${smuggled}`,
  'a header without a name': `${get}: b\r\n\r\n${smuggled}`,
  'a name with a non-ASCII letter': `${get}X-\u00e9: b\r\n\r\n${smuggled}`,
  'a missing host': `GET ${configMaps} HTTP/1.1\r\n${admin}\r\n\r\n${smuggled}`,
  'two hosts': `${get}Host: y\r\n\r\n`,
  'an invalid version': `GET ${configMaps} HTTP/1.2.3\r\nHost: x\r\n\r\n${smuggled}`,
  'version 2': `GET ${configMaps} HTTP/2.0\r\nHost: x\r\n\r\n${smuggled}`,
  'version 0.9': `GET ${configMaps}\r\n\r\n${smuggled}`,
  'a space in the target': `GET ${configMaps}/a b HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`,
  'a nested TLS record': `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${smuggled}`,
  'the HTTP/2 preface': `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${smuggled}`,
  'a chunk size with a prefix': chunkedBody('0x2\r\n{}'),
  'a chunk size with a sign': chunkedBody('+2\r\n{}'),
  'a chunk size with a space': chunkedBody('2 \r\n{}'),
  'a chunk size that exceeds 64 bits': chunkedBody('fffffffffffffffff\r\n{}'),
  'an empty chunk size': chunkedBody('\r\n{}'),
  'a chunk size that ends in LF': `${post}${chunked}\r\n2\n{}\r\n0\r\n\r\n${smuggled}`,
  'a chunk longer than announced': chunkedBody('1\r\n{}'),
  'a chunk with LF after it': `${post}${chunked}\r\n2\r\n{}\n0\r\n\r\n${smuggled}`,
  'a chunk extension with a bare LF': chunkedBody('2;a\nb\r\n{}'),
  'endless chunk extensions': chunkedBody(`2;${'a'.repeat(100_000)}\r\n{}`),
}

test(`${Object.keys(smuggling).length} request smuggling attempts each get at most one response`, {
  timeout: 300_000,
}, async (t) => {
  const server = await serve(t)
  const client = server.client()
  const assertAlive = survivalCheck(server)
  await client.post(configMaps, { metadata: { name: 'kept' } })
  for (const [name, bytes] of Object.entries(smuggling)) {
    await t.test(name, async () => {
      const text = await sendBytes(server, Buffer.from(bytes, 'latin1'))
      const statuses = statusesOf(text)
      assert.ok(statuses.length <= 1, text)
      assert.ok(
        statuses.every((status) => [400, 408, 413].includes(status)),
        text.slice(0, 300),
      )
      await assertAlive()
      assert.equal((await client.get(`${configMaps}/kept`)).status, 200)
    })
  }
  await t.test('two pipelined requests get two responses', async () => {
    const last = get.replace('Host', 'Connection: close\r\nHost')
    assert.deepEqual(statusesOf(await sendBytes(server, `${get}\r\n${last}\r\n`)), [200, 200])
  })
})

test('unsupported protocol upgrades are ignored', async (t) => {
  const server = await serve(t)
  const asked: [string, ...string[]][] = [
    ['websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'],
    ['h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
    ['SPDY/3.1'],
  ]
  for (const [upgrade, ...rest] of asked) {
    const lines = [`GET ${configMaps} HTTP/1.1`, admin, `Upgrade: ${upgrade}`, ...rest]
    const bytes = [...lines, 'Host: x', 'Connection: Upgrade, close', '', ''].join('\r\n')
    assert.deepEqual(statusesOf(await sendBytes(server, bytes)), [200], upgrade)
  }
  const { status } = await sendHead(
    server,
    [`POST ${configMaps} HTTP/1.1`, admin, 'Expect: 200-maybe', 'Content-Length: 2'],
    '{}',
  )
  assert.equal(status, 417)
  await survivalCheck(server)()
})

test('data that follows an upgrade request is not parsed as another request', async (t) => {
  const server = await serve(t)
  const client = server.client()
  await client.post(configMaps, { metadata: { name: 'kept' } })
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  const made = '{"metadata":{"generateName":"u-"}}'
  const first = {
    'without a body': [`${get}${upgrade}\r\n`, 200],
    'with a length': [`${post}${upgrade}Content-Length: ${made.length}\r\n\r\n${made}`, 201],
    'in chunks': [`${post}${upgrade}${chunked}\r\n${made.length.toString(16)}\r\n${made}\r\n0\r\n\r\n`, 201],
  } as const
  for (const [name, [bytes, status]] of Object.entries(first)) {
    // The body of the second request is the smuggled request. It arrives after the response to the first request.
    const socket = await openSocket(server, 'http/1.1')
    socket.write(`${bytes}${post}Content-Length: ${smuggled.length}\r\n\r\n`)
    socket.once('data', () => socket.write(smuggled))
    assert.deepEqual(statusesOf(await untilClosed(socket)), [status], name)
    // Test the same case with a body that arrives earlier.
    const early = await openSocket(server, 'http/1.1')
    early.write(`${bytes}${post}Content-Length: ${smuggled.length}\r\n\r\n`)
    early.write(smuggled)
    assert.deepEqual(statusesOf(await untilClosed(early)), [status], name)
    assert.equal((await client.get(`${configMaps}/kept`)).status, 200, name)
  }
  await survivalCheck(server)()
})

test('an error in data that follows a request does not replace the response to the request', async (t) => {
  const server = await serve(t)
  const client = server.client()
  const close = 'Connection: close\r\n'
  const faults: [name: string, headers: string, followedBy: string, after: number[]][] = [
    ['no-request', '', '\0\x01\r\n\r\n', [400]],
    ['two-hosts', '', `${get}Host: y\r\n\r\n${get}\r\n`, [400]],
    ['two-lengths', '', `${post}Content-Length: 2\r\n${chunked}\r\n`, [400]],
    ['a-tunnel', '', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', [405]],
    ['after-the-last', close, `${get}\r\n`, []],
  ]
  for (const [name, headers, followedBy, after] of faults) {
    const body = JSON.stringify({ metadata: { name } })
    const text = await sendBytes(server, `${post}${headers}Content-Length: ${body.length}\r\n\r\n${body}${followedBy}`)
    assert.deepEqual(statusesOf(text), [201, ...after], name)
    assert.equal((await client.get(`${configMaps}/${name}`)).status, 200, name)
  }
  await survivalCheck(server)()
})

test('a request whose body never arrives gets a 504 after its timeout', async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  const socket = await openSocket(server, 'http/1.1')
  socket.write(
    `POST ${configMaps}?timeout=300ms HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${admin}\r\nContent-Length: 100\r\n\r\n{`,
  )
  assert.deepEqual(statusesOf(await untilClosed(socket)), [504])
  await assertAlive()
})

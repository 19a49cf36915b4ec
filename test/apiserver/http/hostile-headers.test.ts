/**
 * Tests requests with too many headers, oversized bodies, duplicate credentials, and names that confuse a careless
 * server.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { FrameCutter, frameTypes } from '../../../src/wire/http2/frames.ts'
import { endHeaders, endStream, frame, openFrames, plainHeaders, requestFrame } from '../../support/http2-frames.ts'
import { serve } from '../../support/in-process.ts'
import { configMaps } from '../../support/paths.ts'
import { openSession, openSocket, sendBytes, sendHead, sendHttp2, statusesOf } from '../../support/raw-http.ts'
import { survivalCheck } from '../../support/survival-check.ts'

const admin = 'Authorization: Bearer admin-token'
const get = `GET ${configMaps} HTTP/1.1`

test('a request with too many headers is rejected, regardless of the position of the Authorization header', async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  const filler = (count: number) => Array.from({ length: count }, (_, i) => `X-${i}: ${i}`)
  assert.equal((await sendHead(server, [get, ...filler(150), admin])).status, 200)
  for (const count of [200, 999, 1000, 1999, 2000, 2001, 3000]) {
    for (const at of [0, count / 2, count]) {
      const { status, text } = await sendHead(server, [get, ...filler(count).toSpliced(at, 0, admin)])
      assert.equal(status, 431, `${count} headers: ${text.slice(0, 300)}`)
    }
    await assertAlive()
  }
  for (const count of [200, 999, 2500]) {
    const headers = Object.fromEntries(filler(count).map((line) => line.toLowerCase().split(': ')))
    const { status } = await sendHttp2(server, { ':path': configMaps, ...headers, authorization: 'Bearer admin-token' })
    assert.equal(status, 431, `${count} headers in HTTP/2`)
    await assertAlive()
  }
  assert.equal((await sendHead(server, [get, `X-Long: ${'x'.repeat(100_000)}`, admin])).status, 200)
  assert.equal((await sendHead(server, [get, `X-Long: ${'x'.repeat(200_000)}`, admin])).status, 431)
  await assertAlive()
})

test('requests with duplicate credentials are rejected', async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  for (const second of [admin, 'authorization: Bearer admin-token', 'AUTHORIZATION: Bearer wrong', 'Authorization:']) {
    for (const lines of [
      [get, admin, second],
      [get, second, admin],
    ])
      assert.equal((await sendHead(server, lines)).status, 400, second)
  }
  const twice = ['authorization', 'Bearer admin-token', 'authorization', 'Bearer wrong']
  const { status } = await sendHttp2(server, [
    ...[':method', 'GET', ':path', configMaps, ':scheme', 'https', ':authority', 'localhost'],
    ...twice,
  ])
  assert.ok([0, 400].includes(status), String(status))
  await assertAlive()
})

test('whitespace around a header value is trimmed', async (t) => {
  const server = await serve(t)
  for (const value of [' nobody', 'nobody ', '\tnobody', ' \t nobody \t ']) {
    const lines = [get, admin, `Impersonate-User: ${value}`]
    const headers = { ':path': configMaps, authorization: 'Bearer admin-token', 'impersonate-user': value }
    for (const { status, text } of [await sendHead(server, lines), await sendHttp2(server, headers)]) {
      assert.equal(status, 403, JSON.stringify(value))
      assert.match(text, /User \\"nobody\\" cannot/)
    }
  }
  const blank = { ':path': configMaps, authorization: 'Bearer admin-token', 'impersonate-group': ' ' }
  assert.deepEqual(
    (await sendHttp2(server, blank)).status,
    (await sendHead(server, [get, admin, 'Impersonate-Group: '])).status,
  )
})

test('malformed HTTP/2 request headers get a 400', async (t) => {
  const server = await serve(t)
  const socket = await openFrames(server)
  t.after(() => socket.destroy())
  const whole = { ':path': configMaps, authorization: 'Bearer admin-token' }
  const none: { readonly [name: string]: string }[] = [
    { ...whole, 'impersonate-user': 'no\0body' },
    { ...whole, 'impersonate-user': 'no\nbody' },
    { ...whole, 'impersonate user': 'nobody' },
    { ...whole, 'Impersonate-User': 'nobody' },
    { ...whole, '': 'x' },
    { ...whole, connection: 'close' },
    { ...whole, 'transfer-encoding': 'chunked' },
    { ...whole, te: 'gzip' },
    { ...whole, ':path': 'api' },
    { ...whole, ':path': '/a b' },
    { ...whole, ':method': 'G T' },
    { ...whole, ':method': 'CONNECT' },
    { ...whole, ':authority': 'a b' },
    { ...whole, ':status': '200' },
    { authorization: 'Bearer admin-token', ':path': configMaps },
  ]
  const answered = statusesOn(socket)
  for (const [i, headers] of none.entries()) socket.write(requestFrame(2 * i + 1, headers, endHeaders | endStream))
  socket.write(requestFrame(2 * none.length + 1, whole, endHeaders | endStream))
  const statuses = await answered(none.length + 1)
  assert.deepEqual(statuses, [...none.map(() => '400'), '200'])
})

test('a small HPACK header block that expands to many headers is rejected', async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  const socket = await openFrames(server)
  t.after(() => socket.destroy())
  const answered = statusesOn(socket)
  // The last header is added to the dynamic table and then referenced 100,000 times.
  const long = Buffer.concat([
    Buffer.of(0x40, 1),
    Buffer.from('a'),
    Buffer.of(127, 0x81, 0x17),
    Buffer.alloc(3_072, 'b'),
  ])
  const again = Buffer.alloc(100_000, 0x80 | 62)
  const block = Buffer.concat([plainHeaders, long, again])
  const parts = Array.from({ length: Math.ceil(block.length / 16_000) }, (_, i) =>
    block.subarray(i * 16_000, (i + 1) * 16_000),
  )
  const frames = parts.map((part, i) => {
    const ends = i === parts.length - 1 ? endHeaders : 0
    return i === 0 ? frame('headers', endStream | ends, 1, part) : frame('continuation', ends, 1, part)
  })
  socket.write(Buffer.concat([...frames, frame('headers', endHeaders | endStream, 3, plainHeaders)]))
  assert.deepEqual(await answered(2), ['431', '403'])
  await assertAlive()
})

/**
 * Returns a function that resolves to the status codes on a connection, ordered by stream. A response encodes a status
 * code either as an entry in the static table or as digits.
 */
function statusesOn(socket: TLSSocket): (count: number) => Promise<string[]> {
  const numbered = new Map([
    [0x88, '200'],
    [0x8c, '400'],
  ])
  const statuses = new Map<number, string>()
  const told = Promise.withResolvers<void>()
  let wanted = Number.POSITIVE_INFINITY
  const cutter = new FrameCutter(({ type, stream }, payload) => {
    if (type !== frameTypes.headers) return
    const block = payload[0] === 0x20 ? payload.subarray(1) : payload
    statuses.set(stream, numbered.get(block[0]!) ?? block.toString('latin1', 2, 5))
    if (statuses.size >= wanted) told.resolve()
  })
  socket.on('data', (chunk: Buffer) => cutter.push(chunk))
  return async (count) => {
    wanted = count
    if (statuses.size < wanted) await told.promise
    return [...statuses].sort(([a], [b]) => a - b).map(([, status]) => status)
  }
}

test('headers named like inherited JavaScript properties are ordinary headers', async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  const names = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', '__defineGetter__']
  for (const name of names) {
    assert.equal((await sendHead(server, [get, `${name}: x`, `${name}: y`, admin])).status, 200, name)
    assert.equal((await sendHead(server, [get, `${name}: x`])).status, 403, name)
    const headers = { ':path': configMaps, [name.toLowerCase()]: 'x', authorization: 'Bearer admin-token' }
    assert.equal((await sendHttp2(server, headers)).status, 200, name)
    await assertAlive()
  }
  const agent = `User-Agent: ${'é'.repeat(200)}/1`
  const { status } = await sendHead(
    server,
    [`POST ${configMaps} HTTP/1.1`, agent, admin, 'Content-Length: 27'],
    '{"metadata":{"name":"agent"',
  )
  assert.equal(status, 400)
  await assertAlive()
})

const limit = 3 * 1024 * 1024
const methods = [
  ['POST', configMaps],
  ['PUT', `${configMaps}/a`],
  ['DELETE', `${configMaps}/a`],
] as const

test('a body of more than 3 MiB gets a 413, regardless of the framing', { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  const over = `{"metadata":{"name":"a"}}${' '.repeat(limit)}`.slice(0, limit + 1)
  for (const [method, path] of methods) {
    await t.test(method, async () => {
      const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${admin}\r\n`
      const sized = await sendBytes(server, `${head}Content-Length: ${over.length}\r\n\r\n${over}`)
      assert.deepEqual(statusesOf(sized), [413], 'with its length')
      const chunked = await sendBytes(server, `${head}Transfer-Encoding: chunked\r\n\r\n${chunks(over)}0\r\n\r\n`)
      assert.deepEqual(statusesOf(chunked), [413], 'in chunks')
      const endless = await sendBytes(server, `${head}Content-Length: 9007199254740991\r\n\r\n${over}`)
      assert.deepEqual(statusesOf(endless), [413], 'with a length beyond all')
      const pseudo = { ':method': method, ':path': path, authorization: 'Bearer admin-token' }
      const whole = await sendHttp2(server, { ...pseudo, 'content-length': String(over.length) }, [over])
      assert.equal(whole.status, 413, 'HTTP/2 with its length')
      const parts = [over.slice(0, 1000), over.slice(1000, limit), over.slice(limit)]
      assert.equal((await sendHttp2(server, pseudo, parts)).status, 413, 'HTTP/2 in parts')
      await assertAlive()
    })
  }
  await t.test('a body of exactly 3 MiB is accepted', async () => {
    const body = over.slice(0, limit)
    const answer = await server.client().send(configMaps, { method: 'POST', raw: body })
    assert.equal(answer.status, 201)
    await assertAlive()
  })
})

function chunks(text: string): string {
  const size = 60_000
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
    .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
    .join('')
}

test('clients that disconnect in the middle of a body do not cause server errors', async (t) => {
  const server = await serve(t)
  const assertAlive = survivalCheck(server)
  const socket = await openSocket(server, 'http/1.1')
  socket.write(`POST ${configMaps} HTTP/1.1\r\nHost: x\r\n${admin}\r\nContent-Length: 100\r\n\r\n{"meta`)
  await answered(server.client())
  socket.destroy()
  const session = openSession(server)
  const stream = session.request({ ':method': 'POST', ':path': configMaps, authorization: 'Bearer admin-token' })
  stream.on('error', () => {})
  stream.write('{"meta')
  await answered(server.client())
  stream.close(8)
  session.destroy()
  await answered(server.client())
  await assertAlive()
  assert.deepEqual((await server.client().get(configMaps)).body.items, [])
})

/** Resolves once the server has read all data that was sent earlier. */
async function answered(client: { get(path: string): Promise<{ status: number }> }): Promise<void> {
  assert.equal((await client.get('/livez')).status, 200)
}

/**
 * Tests that the server disconnects clients that occupy a connection without using it: during the handshake, the
 * headers or the body, while idle, and while a response is unread. Covers HTTP/1.1 and HTTP/2.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { test } from 'node:test'
import type { ServerTransport } from '../../../src/apiserver/transport/server-transport.ts'
import { endHeaders, endStream, frame, number, preface, requestFrame } from '../../support/http2-frames.ts'
import { closed, listen, ok, open } from '../../support/listener.ts'

/** The timeouts are short, to keep the tests fast. */
const short = 300

test('a client that does not send its TLS handshake is disconnected', { timeout: 300_000 }, async (t) => {
  const socket = connectTcp(await listen(t, { times: { handshake: short } }), '127.0.0.1')
  assert.equal(await closed(t, socket), '')
})

test('a client whose headers never end is disconnected', { timeout: 300_000 }, async (t) => {
  const socket = await open(await listen(t, { times: { headers: short } }), 'http/1.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n')
  assert.match(await closed(t, socket), /^HTTP\/1\.1 408 /)
})

test('a client that sends its headers byte by byte is disconnected', { timeout: 300_000 }, async (t) => {
  const socket = await open(await listen(t, { times: { headers: short } }), 'http/1.1')
  const timer = setInterval(() => socket.write('a'), 20)
  t.after(() => clearInterval(timer))
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-A: ')
  assert.match(await closed(t, socket), /^HTTP\/1\.1 408 /)
})

test('a client whose body never ends is disconnected', { timeout: 300_000 }, async (t) => {
  const socket = await open(await listen(t, { times: { headers: short, request: short } }), 'http/1.1')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
  assert.match(await closed(t, socket), /^HTTP\/1\.1 200 /)
})

test('a connection without a request is closed', { timeout: 300_000 }, async (t) => {
  const socket = await open(await listen(t, { times: { headers: short, request: short } }), 'http/1.1')
  await closed(t, socket)
})

test('an idle keep-alive connection is closed', { timeout: 300_000 }, async (t) => {
  const socket = await open(await listen(t, { times: { idle: short } }), 'http/1.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.match(await closed(t, socket), /^HTTP\/1\.1 200 /)
})

test('an HTTP/2 connection without a preface is closed', { timeout: 300_000 }, async (t) => {
  await closed(t, await open(await listen(t, { times: { headers: short } }), 'h2'))
})

test('an HTTP/2 connection without a request is closed', { timeout: 300_000 }, async (t) => {
  const socket = await open(await listen(t, { times: { headers: short } }), 'h2')
  socket.write(preface)
  await closed(t, socket)
})

const ask = (stream: number, flags = endHeaders | endStream) => requestFrame(stream, { ':path': '/' }, flags)

test('an HTTP/2 connection with unfinished headers is closed', { timeout: 300_000 }, async (t) => {
  const port = await listen(t, { times: { headers: short } })
  for (const begin of [preface, Buffer.concat([preface, ask(1)])]) {
    const socket = await open(port, 'h2')
    socket.write(Buffer.concat([begin, ask(3, endStream)]))
    await closed(t, socket)
  }
})

test('an HTTP/2 connection with endless headers is closed', { timeout: 300_000 }, async (t) => {
  const socket = await open(await listen(t, { times: { headers: short } }), 'h2')
  socket.write(Buffer.concat([preface, ask(1), ask(3, endStream)]))
  const timer = setInterval(() => socket.write(frame('continuation', 0, 3)), 20)
  t.after(() => clearInterval(timer))
  await closed(t, socket)
})

test('an HTTP/2 connection with only pings after a request is closed', { timeout: 300_000 }, async (t) => {
  const socket = await open(await listen(t, { times: { idle: short } }), 'h2')
  socket.write(Buffer.concat([preface, ask(1)]))
  const timer = setInterval(() => socket.write(frame('ping', 0, 0, Buffer.alloc(8))), 20)
  t.after(() => clearInterval(timer))
  await closed(t, socket)
})

test('an HTTP/2 connection with malformed headers gets a 400 and stays open', { timeout: 300_000 }, async (t) => {
  const socket = await open(await listen(t, { times: { headers: short } }), 'h2')
  t.after(() => socket.destroy())
  const statuses: number[] = []
  socket.on('data', (chunk: Buffer) => {
    // The first response headers start with an update of the dynamic table size. Status 400 is entry 12 of the static
    // table.
    if (chunk.includes(Buffer.from([1, endHeaders | endStream, 0, 0, 0, 3, 0x20, 0x8c]))) statuses.push(400)
  })
  // Send a header name in upper case, which HTTP/2 forbids.
  const refused = requestFrame(3, { ':path': '/', 'X-A': 'b' }, endHeaders | endStream)
  socket.write(Buffer.concat([preface, ask(1), refused]))
  await new Promise((resolve) => setTimeout(resolve, 4 * short))
  assert.deepEqual(statuses, [400])
  assert.ok(!socket.closed)
})

const noWindow = frame('settings', 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]))

test('an HTTP/2 connection is closed if its client does not read the response', { timeout: 300_000 }, async (t) => {
  const socket = await open(await listen(t, { times: { stall: short } }), 'h2')
  socket.write(Buffer.concat([preface, noWindow, ask(1)]))
  await closed(t, socket)
})

test('if a client does not read one of two HTTP/2 responses, only that stream is reset', {
  timeout: 300_000,
}, async (t) => {
  const quiet = (transport: ServerTransport) =>
    transport.target === '/quiet' ? transport.open(200, []) : ok(transport)
  const socket = await open(await listen(t, { times: { stall: short }, onRequest: quiet }), 'h2')
  t.after(() => socket.destroy())
  const toQuiet = requestFrame(1, { ':path': '/quiet' }, endHeaders | endStream)
  socket.write(Buffer.concat([preface, noWindow, toQuiet, ask(3)]))
  const reset = frame('reset', 0, 3, number(8))
  for (let read = Buffer.alloc(0); !read.includes(reset); )
    read = Buffer.concat([read, (await once(socket, 'data'))[0]])
})

test('an HTTP/1.1 connection is closed if its client does not read the response', { timeout: 300_000 }, async (t) => {
  const answer = Buffer.alloc(32 * 1024 * 1024)
  const gone = Promise.withResolvers<void>()
  const port = await listen(t, {
    times: { stall: short },
    onRequest: (transport) => {
      transport.signal.addEventListener('abort', () => gone.resolve())
      transport.send(200, ['content-length', String(answer.length)], answer, false)
    },
  })
  const socket = await open(port, 'http/1.1')
  t.after(() => socket.destroy())
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await gone.promise
})

for (const alpn of ['http/1.1', 'h2'])
  test(`${alpn}: clients that read slowly or have silent watches are not disconnected`, {
    timeout: 300_000,
  }, async (t) => {
    const answer = Buffer.alloc(1024 * 1024)
    const port = await listen(t, {
      times: { stall: short, idle: short },
      onRequest: (transport) => {
        if (transport.target === '/quiet') transport.open(200, [])
        else transport.send(200, ['content-length', String(answer.length)], answer, false)
      },
    })
    const quiet = await open(port, alpn)
    t.after(() => quiet.destroy())
    const toQuiet = requestFrame(1, { ':path': '/quiet' }, endHeaders | endStream)
    quiet.resume().write(alpn === 'h2' ? Buffer.concat([preface, toQuiet]) : 'GET /quiet HTTP/1.1\r\nHost: x\r\n\r\n')
    const socket = await open(port, alpn)
    t.after(() => socket.destroy())
    let size = 0
    if (alpn === 'h2') socket.on('data', (chunk) => (size += chunk.length))
    socket.write(alpn === 'h2' ? Buffer.concat([preface, ask(1)]) : 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    while (size < answer.length && !socket.destroyed) {
      if (alpn === 'h2')
        socket.write(Buffer.concat([frame('window', 0, 0, number(60_000)), frame('window', 0, 1, number(60_000))]))
      else size += socket.read()?.length ?? 0
      await new Promise((resolve) => setTimeout(resolve, short / 3))
    }
    assert.ok(size >= answer.length)
    assert.ok(!quiet.closed)
  })

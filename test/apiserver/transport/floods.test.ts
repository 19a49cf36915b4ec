/**
 * Tests that the server survives floods of cheap HTTP/2 frames and continues to serve other clients. Each flood is
 * limited in its number of frames and its duration.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { frame, number, plainHeaders, preface } from '../../support/http2-frames.ts'
import { closed, listen, ok, open } from '../../support/listener.ts'
import { configMaps } from '../../support/paths.ts'
import { ask, openSession, openSocket } from '../../support/raw-http.ts'
import { startServer } from '../../support/server.ts'
import { survivalCheck } from '../../support/survival-check.ts'
import { soon } from '../../support/until.ts'

const maxMs = 300
const maxFrames = 50_000

const floods: { readonly [name: string]: (i: number) => Buffer } = {
  pings: () => frame('ping', 0, 0, Buffer.alloc(8)),
  'unsolicited ping responses': () => frame('ping', 1, 0, Buffer.alloc(8)),
  settings: () => frame('settings', 0, 0),
  'settings that resize the header table': (i) => frame('settings', 0, 0, Buffer.from([0, 1, 0, 0, 0, i & 0xff])),
  'requests that are reset immediately': (i) =>
    Buffer.concat([frame('headers', 5, 2 * i + 1, plainHeaders), frame('reset', 0, 2 * i + 1, number(8))]),
  'unfinished requests': (i) => frame('headers', 4, 2 * i + 1, plainHeaders),
  'endless headers': (i) =>
    i === 0
      ? frame('headers', 1, 1, plainHeaders)
      : frame('continuation', 0, 1, Buffer.from([0x00, 0x01, 0x61, 0x01, 0x62])),
  'endless empty headers': (i) => (i === 0 ? frame('headers', 1, 1) : frame('continuation', 0, 1)),
  'empty DATA frames': (i) => (i === 0 ? frame('headers', 4, 1, plainHeaders) : frame('data', 0, 1)),
  priorities: (i) => frame('priority', 0, 2 * i + 1, Buffer.concat([number(0), Buffer.from([1])])),
  'overflowing windows': () => frame('window', 0, 0, number(0x7fffffff)),
  'window updates of zero': () => frame('window', 0, 0, number(0)),
  farewells: () => frame('goaway', 0, 0, Buffer.alloc(8)),
  'frames of unknown type': (i) =>
    Buffer.concat([Buffer.from([0, 0, 1, 0x20 + (i % 100), 0xff, 0, 0, 0, 0]), Buffer.from('x')]),
  'oversized frames': () => Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]),
}

const server = await startServer({ after })

test('floods of HTTP/2 frames do not stop the server', { timeout: 300_000 }, async (t) => {
  const client = server.client()
  const assertAlive = survivalCheck(server)
  for (const [name, make] of Object.entries(floods)) {
    await t.test(name, async (t) => {
      const socket = await openSocket(server, 'h2')
      const sent = await flood(socket, make)
      t.diagnostic(`${sent} frames`)
      assert.equal((await client.get(configMaps)).status, 200)
      await assertAlive()
      socket.destroy()
    })
  }
})

/**
 * Sends frames until the server closes the connection, the time is up or the maximum is reached. Returns the number of
 * frames.
 */
async function flood(socket: TLSSocket, make: (i: number) => Buffer): Promise<number> {
  socket.on('error', () => socket.destroy())
  socket.resume()
  socket.write(preface)
  const end = performance.now() + maxMs
  let sent = 0
  while (sent < maxFrames && performance.now() < end && !socket.destroyed && socket.writable) {
    const burst = Buffer.concat(Array.from({ length: 100 }, (_, i) => make(sent + i)))
    sent += 100
    await new Promise((resolve) => {
      socket.once('close', resolve)
      socket.write(burst, () => {
        socket.off('close', resolve)
        resolve(undefined)
      })
    })
  }
  return sent
}

test('a flood of immediately cancelled requests does not stop the server', { timeout: 300_000 }, async (t) => {
  const assertAlive = survivalCheck(server)
  const end = performance.now() + maxMs
  let sent = 0
  while (performance.now() < end && sent < 20_000) {
    const session = openSession(server)
    for (let i = 0; i < 200; i++, sent++) {
      const stream = session.request({ ':path': configMaps, authorization: 'Bearer admin-token' })
      stream.on('error', () => {})
      stream.close(8)
    }
    await new Promise((resolve) => session.close(() => resolve(undefined)))
  }
  t.diagnostic(`${sent} requests taken back`)
  await assertAlive()
})

test('a client that keeps cancelling requests is disconnected before they are executed', {
  timeout: 300_000,
}, async (t) => {
  let begun = 0
  const port = await listen(t, {
    onRequest: (transport) => {
      begun++
      ok(transport)
    },
  })
  const socket = await open(port, 'h2')
  socket.write(preface)
  const pair = floods['requests that are reset immediately']!
  const pairs = Buffer.concat(Array.from({ length: 2000 }, (_, i) => pair(i)))
  socket.write(pairs)
  const text = await closed(t, socket)
  // The last frame is a GOAWAY with the code ENHANCE_YOUR_CALM or an internal error, depending on the session.
  assert.ok(text.includes('\x07\0\0\0\0\0'), 'no farewell')
  assert.ok(begun <= 20, `${begun} requests were begun`)
})

test('a client may repeatedly cancel all its watches at the same time', { timeout: 300_000 }, async (t) => {
  const session = openSession(server)
  t.after(() => session.destroy())
  let gone = false
  session.on('goaway', () => (gone = true))
  for (let round = 0; round < 2; round++) {
    const streams = Array.from({ length: 100 }, () =>
      session.request({ ':path': `${configMaps}?watch=1`, authorization: 'Bearer admin-token' }),
    )
    await Promise.all(streams.map((stream) => once(stream, 'response')))
    for (const stream of streams) stream.on('error', () => {}).close(8)
    await Promise.all(streams.map((stream) => once(stream, 'close')))
  }
  assert.equal((await ask(session, { ':path': '/livez' })).status, 200)
  assert.equal(gone, false)
})

test('the server stops reading from a client that does not read responses', { timeout: 300_000 }, async (t) => {
  let begun = 0
  const port = await listen(t, {
    onRequest: (transport) => {
      begun++
      transport.send(204, [], Buffer.alloc(0), false)
    },
  })
  const socket = await open(port, 'h2')
  t.after(() => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.pause()
  socket.write(preface)
  const perRound = 200
  const maxRequests = 1_000_000
  let asked = 0
  for (let isTaken = true; isTaken && asked < maxRequests; asked += perRound) {
    const requests = Array.from({ length: perRound }, (_, i) => frame('headers', 5, 2 * (asked + i) + 1, plainHeaders))
    socket.write(Buffer.concat(requests))
    isTaken = await soon(() => begun === asked + perRound, 1_000).then(
      () => true,
      () => false,
    )
  }
  t.diagnostic(`${begun} requests were read`)
  assert.ok(asked < maxRequests)
  assert.ok(!socket.closed)
})

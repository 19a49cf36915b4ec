/**
 * Tests that an unauthenticated connection whose client sends slowly, or never completes a request, needs less than 256
 * KiB of memory. The tests measure the heap of this process, which runs the server, for several such connections.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { heapInUse } from '../../support/heap.ts'
import { endStream, frame, plainHeaders, preface } from '../../support/http2-frames.ts'
import { listen, ok, open } from '../../support/listener.ts'
import { soon } from '../../support/until.ts'

const connections = 2
const maxBytes = 256 * 1024
const maxHeaderBytes = 128 * 1024
const byte = Buffer.from('x')

interface Attack {
  readonly name: string
  readonly alpn: 'h2' | 'http/1.1'
  readonly send: (socket: TLSSocket) => Promise<void>
}

const attacks: readonly Attack[] = [
  {
    name: 'a frame in one-byte TLS records',
    alpn: 'h2',
    send: async (socket) => {
      await written(socket, preface)
      await byByte(socket, frame('headers', endStream, 1, Buffer.alloc(4_000)).subarray(0, -1))
    },
  },
  {
    name: 'headers in one-byte CONTINUATION frames',
    alpn: 'h2',
    send: async (socket) => {
      const more = frame('continuation', 0, 1, byte)
      const count = Math.floor(maxHeaderBytes / (9 + 1)) - 10
      await written(socket, Buffer.concat([preface, frame('headers', endStream, 1), ...Array(count).fill(more)]))
    },
  },
  {
    name: 'headers in CONTINUATION frames, one in each TLS record',
    alpn: 'h2',
    send: async (socket) => {
      await written(socket, Buffer.concat([preface, frame('headers', endStream, 1)]))
      for (let i = 0; i < 900; i++) await written(socket, frame('continuation', 0, 1, Buffer.alloc(100)))
    },
  },
  {
    name: 'an unfinished head in one-byte TLS records',
    alpn: 'http/1.1',
    send: async (socket) => {
      await written(socket, `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'x'.repeat(maxHeaderBytes - 5_000)}`)
      await byByte(socket, Buffer.alloc(1_000, byte))
    },
  },
  {
    name: 'an unfinished head with many headers',
    alpn: 'http/1.1',
    send: (socket) => written(socket, `GET / HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(maxHeaderBytes / 4 - 100)}`),
  },
  ...[
    { name: 'one long header', headers: `X-A: ${'x'.repeat(maxHeaderBytes - 1000)}\r\n` },
    { name: 'the maximum number of headers', headers: `x-${'y'.repeat(30)}: ${'z'.repeat(25)}\r\n`.repeat(1_990) },
  ].map(
    ({ name, headers }): Attack => ({
      name: `a request with ${name}, answered before its body ends`,
      alpn: 'http/1.1',
      send: (socket) => written(socket, `POST / HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: 1000\r\n\r\n`),
    }),
  ),
  {
    name: 'a request with a long chunk extension',
    alpn: 'http/1.1',
    send: async (socket) => {
      await written(socket, 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
      await written(socket, `1;a=${'x'.repeat(16_000)}`)
    },
  },
  {
    name: 'a request with long trailers',
    alpn: 'http/1.1',
    send: async (socket) => {
      await written(socket, 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n')
      await written(socket, `X-A: ${'x'.repeat(maxHeaderBytes - 1000)}`)
    },
  },
]

test('unread HTTP/2 responses to an unauthenticated client use little memory', { timeout: 300_000 }, async (t) => {
  let begun = 0
  const filler = 'x'.repeat(4_000)
  const port = await listen(t, {
    onRequest: (transport) => {
      begun++
      transport.send(204, ['x-filler', filler], Buffer.alloc(0), false)
    },
  })
  // The first connection allocates the buffers that all connections share.
  const first = await askWithoutReading(t, port, () => begun)
  first.destroy()
  const before = await heapInUse()
  begun = 0
  await askWithoutReading(t, port, () => begun)
  const used = (await heapInUse()) - before
  t.diagnostic(`${Math.round(used / 1024)} KiB`)
  // The first pending data occupies a buffer of 256 KiB.
  assert.ok(used < 2 * maxBytes, `a connection holds ${used} bytes`)
})

/** Sends requests until the server stops reading them. */
async function askWithoutReading(t: TestContext, port: number, begun: () => number): Promise<TLSSocket> {
  const socket = await open(port, 'h2')
  socket.on('error', () => socket.destroy())
  t.after(() => socket.destroy())
  socket.pause()
  socket.write(preface)
  let asked = 0
  for (let isTaken = true; isTaken; ) {
    assert.ok(asked < 20_000, 'the server stops reading')
    const requests = Array.from({ length: 10 }, (_, i) => frame('headers', 5, 2 * (asked + i) + 1, plainHeaders))
    asked += requests.length
    socket.write(Buffer.concat(requests))
    isTaken = await soon(() => begun() === asked, 1_000).then(
      () => true,
      () => false,
    )
  }
  return socket
}

for (const { name, alpn, send } of attacks)
  test(`${alpn}: ${name}`, { timeout: 300_000 }, async (t) => {
    const port = await listen(t, { onRequest: ok })
    const one = async () => {
      const socket = await open(port, alpn)
      socket.on('error', () => socket.destroy())
      t.after(() => socket.destroy())
      socket.resume()
      return socket
    }
    // The first connection loads code and lookup tables, so the test does not measure it.
    await send(await one())
    const sockets = await Promise.all(Array.from({ length: connections }, one))
    const before = await heapInUse()
    await Promise.all(sockets.map(send))
    await turns()
    const used = ((await heapInUse()) - before) / connections
    t.diagnostic(`${Math.round(used / 1024)} KiB`)
    assert.ok(used < maxBytes, `a connection holds ${Math.round(used)} bytes`)
  })

async function byByte(socket: TLSSocket, bytes: Buffer): Promise<void> {
  for (let i = 0; i < bytes.length; i++) await written(socket, bytes.subarray(i, i + 1))
}

async function turns(): Promise<void> {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
}

function written(socket: TLSSocket, bytes: Buffer | string): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => resolve()))
}

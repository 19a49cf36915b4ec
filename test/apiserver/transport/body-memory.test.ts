/**
 * Tests how much memory a body needs while the server waits for the rest of it: at most four bytes per byte of the
 * body, regardless of the framing. The tests send a body without its last byte and measure the heap of this process,
 * which runs the server.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { readBody } from '../../../src/apiserver/http/request/body.ts'
import { Exchange } from '../../../src/apiserver/http/request/exchange.ts'
import { RequestHeaders } from '../../../src/apiserver/http/request/headers.ts'
import type { ServerTransport } from '../../../src/apiserver/transport/server-transport.ts'
import { heapInUse } from '../../support/heap.ts'
import { endHeaders, endStream, frame, preface, requestFrame } from '../../support/http2-frames.ts'
import { listen, ok, open } from '../../support/listener.ts'
import { soon } from '../../support/until.ts'

const maxFactor = 4
/** Number of bytes by which the heap may grow for reasons other than the body. */
const noise = 512 * 1024
const byte = Buffer.from('x')

interface Framing {
  readonly name: string
  readonly alpn: 'h2' | 'http/1.1'
  readonly size: number
  /** Sends the head, and all of the body except its last byte. */
  readonly send: (socket: TLSSocket, size: number) => Promise<void>
}

const framings: readonly Framing[] = [
  {
    name: 'one byte in each DATA frame',
    alpn: 'h2',
    size: 60_000,
    send: async (socket, size) => {
      const frames = Buffer.concat([...beginHttp2(), ...repeat(size - 1, () => frame('data', 0, 1, byte))])
      await written(socket, frames)
    },
  },
  {
    name: 'one byte per 16 KiB TLS record that also carries another request',
    alpn: 'h2',
    size: 300,
    send: async (socket, size) => {
      await written(socket, Buffer.concat(beginHttp2()))
      for (let i = 1; i < size; i++)
        await written(socket, Buffer.concat([frame('data', 0, 1, byte), longRequest(2 * i + 1)]))
    },
  },
  {
    name: 'one byte in each TLS record',
    alpn: 'http/1.1',
    size: 10_000,
    send: async (socket, size) => {
      await written(socket, `POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`)
      for (let i = 1; i < size; i++) await written(socket, byte)
    },
  },
  {
    name: 'one byte in each chunk',
    alpn: 'http/1.1',
    size: 60_000,
    send: async (socket, size) => {
      await written(socket, `POST /held HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
      await written(socket, Buffer.concat(repeat(size - 1, () => Buffer.from('1\r\nx\r\n'))))
    },
  },
  {
    name: 'one byte in each chunk, and one chunk in each TLS record',
    alpn: 'http/1.1',
    size: 10_000,
    send: async (socket, size) => {
      await written(socket, `POST /held HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
      for (let i = 1; i < size; i++) await written(socket, '1\r\nx\r\n')
    },
  },
]

for (const reads of [true, false])
  for (const { name, alpn, size, send } of framings)
    test(`${alpn}: the memory for ${name} is bounded ${reads ? 'while the server reads it' : 'before the server reads it'}`, {
      timeout: 300_000,
    }, async (t) => {
      let held: ServerTransport | undefined
      const bodies: Promise<Buffer>[] = []
      const port = await listen(t, {
        onRequest: (transport) => {
          if (transport.target !== '/held') return ok(transport)
          held = transport
          if (reads) bodies.push(bodyOf(transport))
        },
      })
      // The first request loads code and tables.
      const first = await begin(port, alpn, (socket) => send(socket, 100))
      await soon(() => held !== undefined)
      first.destroy()
      await Promise.allSettled(bodies.splice(0))
      held = undefined
      const before = await heapInUse()
      const socket = await begin(port, alpn, (socket) => send(socket, size))
      t.after(() => socket.destroy())
      await soon(() => held !== undefined)
      await received(socket, alpn)
      const used = (await heapInUse()) - before
      t.diagnostic(`${Math.round(used / 1024)} KiB for ${Math.round(size / 1024)} KiB of body`)
      assert.ok(used < maxFactor * size + noise, `${used} bytes are held for ${size} bytes of body`)
      await written(socket, alpn === 'h2' ? frame('data', endStream, 1, byte) : lastOf(held!))
      const body = reads ? await bodies[0]! : await bodyOf(held!)
      assert.equal(body.length, size)
      assert.ok(body.equals(Buffer.alloc(size, byte)))
    })

async function begin(port: number, alpn: string, send: (socket: TLSSocket) => Promise<void>): Promise<TLSSocket> {
  const socket = await open(port, alpn)
  socket.on('error', () => socket.destroy())
  socket.resume()
  await send(socket)
  return socket
}

/**
 * Waits until the server has read everything. Over HTTP/2, this is the case when the server has responded to a ping.
 * Over HTTP/1.1, it is the case when the server's socket has received the bytes.
 */
async function received(socket: TLSSocket, alpn: string): Promise<void> {
  if (alpn === 'http/1.1') {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    return
  }
  const answer = once(socket, 'data')
  await written(socket, frame('ping', 0, 0, Buffer.alloc(8)))
  await answer
}

function bodyOf(transport: ServerTransport): Promise<Buffer> {
  const exchange = new Exchange(transport, performance.now())
  exchange.headers = new RequestHeaders(transport.rawHeaders)
  return readBody(exchange)
}

function beginHttp2(): Buffer[] {
  return [preface, requestFrame(1, { ':path': '/held', ':method': 'POST' })]
}

/** Returns a request whose headers fill most of a TLS record. */
function longRequest(stream: number): Buffer {
  return requestFrame(stream, { ':path': '/', 'x-filler': 'x'.repeat(16_000) }, endHeaders | endStream)
}

function lastOf({ rawHeaders }: ServerTransport): string {
  return rawHeaders.includes('chunked') ? '1\r\nx\r\n0\r\n\r\n' : 'x'
}

function repeat<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

function written(socket: TLSSocket, bytes: Buffer | string): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => resolve()))
}

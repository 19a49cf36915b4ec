/**
 * Tests clients that pipeline requests over HTTP/1.1. All requests get responses in order. The server buffers only a
 * little of the data that a client sends, and produces no responses that the client does not read.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { defaultTimes } from '../../../src/apiserver/transport/connection-limits.ts'
import { Http1Server } from '../../../src/apiserver/transport/http1/server.ts'
import { orchEngine } from '../../../src/apiserver/transport/load-engine.ts'
import type { ServerTransport } from '../../../src/apiserver/transport/server-transport.ts'
import { readStream } from '../../../src/base/concurrency/read-stream.ts'
import { until } from '../../support/until.ts'

/** Opens a connection. Returns the client's socket and the server's side of the connection. */
async function begin(t: TestContext, onRequest: (transport: ServerTransport) => void): Promise<[Socket, Socket]> {
  const http = new Http1Server(orchEngine, defaultTimes, { onRequest, maySwitch: () => false })
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    http.accept(socket, { address: '', certificate: undefined, proved: () => undefined, isProved: true, end: () => {} })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => client.destroy())
  const [accepted] = (await once(server, 'connection')) as [Socket]
  t.after(() => {
    client.destroy()
    accepted.destroy()
    http.close()
    server.close()
  })
  return [client, accepted]
}

const get = (i: number) => `GET /${i} HTTP/1.1\r\nHost: x\r\n\r\n`
const gets = (count: number) => Array.from({ length: count }, (_, i) => get(i)).join('')

function answer(transport: ServerTransport, text: string): void {
  transport.send(200, ['content-length', String(text.length)], Buffer.from(text), false)
}

/** Reads from the client, and returns a function that returns all data read so far. */
function reading(client: Socket): () => string {
  const parts: Buffer[] = []
  client.on('data', (part: Buffer) => parts.push(part))
  return () => Buffer.concat(parts).toString('latin1')
}

test('responses keep the order of pipelined requests, even if the first is slow', async (t) => {
  const count = 5000
  let release = () => {}
  const waits = new Promise<void>((resolve) => {
    release = resolve
  })
  const [client, accepted] = await begin(t, async (transport) => {
    if (transport.target === '/0') await waits
    answer(transport, `[${transport.target}]`)
  })
  const read = reading(client)
  client.write(gets(count))
  await until(
    async () => accepted.bytesRead,
    (bytes) => bytes > 64 * 1024,
  )
  assert.equal(read(), '')
  release()
  await until(
    async () => read(),
    (text) => text.includes(`[/${count - 1}]`),
  )
  const answered = [...read().matchAll(/\[\/(\d+)\]/g)].map(([, number]) => Number(number))
  assert.deepEqual(
    answered,
    Array.from({ length: count }, (_, i) => i),
  )
})

test('pipelined bodies larger than the buffer arrive completely', async (t) => {
  const bodies = Array.from({ length: 6 }, (_, i) => `${i}`.repeat(300_000 + i))
  const [client] = await begin(t, async (transport) => {
    // The handler has not read the body, so the connection does not read ahead either.
    await pause(20)
    let text = ''
    await new Promise<void>((resolve, reject) =>
      readStream(transport.body, {
        onData: (part) => (text += part.toString('latin1')),
        onEnd: resolve,
        onBreak: () => reject(new Error('broken')),
      }),
    ).catch(() => {})
    answer(transport, `[${text === bodies[Number(transport.target.slice(1))]}]`)
  })
  const read = reading(client)
  for (const [i, body] of bodies.entries())
    client.write(`POST /${i} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  await until(
    async () => read().match(/\[\w+\]/g) ?? [],
    (answers) => answers.length === bodies.length,
  )
  assert.doesNotMatch(read(), /\[false\]/)
})

test('an unread body is discarded, and the next request gets a response', async (t) => {
  const [client] = await begin(t, (transport) => answer(transport, `[${transport.target}]`))
  const read = reading(client)
  client.write(`POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n${'x'.repeat(2_000_000)}${get(1)}`)
  await until(
    async () => read(),
    (text) => text.includes('[/1]'),
  )
  assert.match(read(), /\[\/a\]/)
})

test('the server reads only a little data beyond a request that has no response yet', async (t) => {
  const [client, accepted] = await begin(t, () => {})
  client.write(gets(400_000))
  await standsStill(() => accepted.bytesRead)
  assert.ok(accepted.bytesRead < 1024 * 1024, `${accepted.bytesRead} bytes`)
})

test('the server reads only a little data ahead while its responses are slow', async (t) => {
  let count = 0
  const [client, accepted] = await begin(t, async (transport) => {
    await pause(1)
    count++
    answer(transport, 'ok')
  })
  client.resume().write(gets(400_000))
  await until(
    async () => count,
    (answered) => answered > 40,
  )
  assert.ok(accepted.bytesRead < 1024 * 1024, `${accepted.bytesRead} bytes`)
})

test('the server does not generate responses for a client that does not read them', async (t) => {
  let count = 0
  const text = 'x'.repeat(15_000)
  const [client, accepted] = await begin(t, (transport) => {
    count++
    answer(transport, text)
  })
  client.pause()
  client.write(gets(100_000))
  await standsStill(() => count)
  assert.ok(count < 5000, `${count} requests were carried out`)
  assert.ok(accepted.writableLength < 256 * 1024, `${accepted.writableLength} bytes wait`)
})

/** Resolves once a number has changed and then stayed the same for a while. */
async function standsStill(read: () => number): Promise<void> {
  for (let [before, still] = [0, 0]; still < 5; ) {
    await pause(20)
    const now = read()
    still = now === before && now > 0 ? still + 1 : 0
    before = now
  }
}

/**
 * Tests watches that stop reading under a heavy write load. Half of the watches stop reading. The other watches must
 * receive every event, the slow watches must be closed, and memory may grow by at most the backlog limit. With
 * `ORCH_LONG=1`, the test runs 200 watches and 500 writes of 2 kB per second.
 */
import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { HttpClient } from '../support/http-client.ts'
import { long } from '../support/long.ts'
import { ownMemory } from '../support/memory.ts'
import { configMaps } from '../support/paths.ts'
import { openSocket } from '../support/raw-http.ts'
import { type ServerHandle, startServer } from '../support/server.ts'

const each = long ? 100 : 10
const writes = long ? 20_000 : 250
const size = long ? 2000 : 100_000
/**
 * Allowed growth in bytes. Even a short run leaves a lot of uncollected garbage, but separate copies for each slow
 * reader would take twice as much memory.
 */
const allowed = (long ? 64 : 110) * 1024 ** 2

async function openStalled(t: TestContext, server: ServerHandle, path: string): Promise<TLSSocket> {
  const socket = await openSocket(server, 'http/1.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\n\r\n`)
  await once(socket, 'readable')
  return socket
}

async function countTold(client: HttpClient, path: string): Promise<number> {
  let last = 0
  for await (const { object } of client.watch(path, AbortSignal.timeout(500_000))) {
    assert.equal(Number(object.data.i), ++last)
    if (last === writes) return last
  }
  return last
}

async function writeAll(client: HttpClient, fill: string): Promise<string> {
  const text = fill.repeat(size)
  let version = ''
  const start = performance.now()
  for (let i = 1; i <= writes; i++) {
    const data = { i: `${i}`, text }
    const { status, body } = await client.put(`${configMaps}/hot`, { metadata: { name: 'hot' }, data })
    assert.equal(status, 200)
    version = body.metadata.resourceVersion
    if (long) await delay(Math.max(0, start + i * 2 - performance.now()))
  }
  return version
}

test('watches whose clients stop reading are closed without affecting other watches', {
  timeout: 560_000,
}, async (t) => {
  const server = await startServer(t)
  const client = server.client()
  await client.post(configMaps, { metadata: { name: 'hot' } })
  // Fill the window of recent changes, which the server keeps even without watches.
  const version = await writeAll(client, 'y')
  const path = `${configMaps}?watch=1&resourceVersion=${version}`
  const stalled = await Promise.all(Array.from({ length: each }, () => openStalled(t, server, path)))
  const reading = Promise.all(Array.from({ length: each }, () => countTold(server.client(), path)))
  await client.get(configMaps)
  const before = ownMemory(server.process.pid!)
  await writeAll(client, 'x')
  assert.deepEqual(await reading, Array(each).fill(writes))
  const rise = ownMemory(server.process.pid!) - before
  t.diagnostic(`memory rose by ${Math.round(rise / 1024 ** 2)} MB`)
  assert.ok(rise < allowed, `memory rose by ${Math.round(rise / 1024 ** 2)} MB`)
  // The slow watches were closed long before the last write, so the buffered data is truncated.
  for (const socket of stalled) {
    const bytes = await restOf(socket)
    assert.ok(bytes < (writes * size) / 2, `${bytes} bytes were kept for a client that did not read`)
  }
})

const lastChunk = '\r\n0\r\n\r\n'

/**
 * Returns the number of bytes that a client can still read until its watch ends, either normally or because its
 * connection closes.
 */
async function restOf(socket: TLSSocket): Promise<number> {
  const ended = AbortSignal.timeout(60_000)
  let bytes = 0
  let tail = ''
  for await (const [chunk] of on(socket, 'data', { signal: ended, close: ['close'] })) {
    bytes += chunk.length
    tail = `${tail}${chunk.toString('latin1')}`.slice(-lastChunk.length)
    if (tail === lastChunk) return bytes
  }
  return bytes
}

/**
 * Tests that unauthenticated connections never use up all available connections, and that authenticated clients keep
 * their connections. Without these limits, 166 connections would block a server that may open 200 files.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { HttpClient } from '../../support/http-client.ts'
import { endHeaders, endStream, frame, openFrames, requestFrame } from '../../support/http2-frames.ts'
import { serve } from '../../support/in-process.ts'
import { caOf, openSocket, untilClosed } from '../../support/raw-http.ts'
import { type ServerHandle, startServer, startWithFew } from '../../support/server.ts'

const watchPath = '/api/v1/namespaces/default/configmaps?watch=1'
const noWindow = frame('settings', 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]))

/** The ways in which a client can occupy a connection without authenticating. */
const sitting: readonly ((server: ServerHandle) => Promise<{ destroy(): void; readonly closed: boolean }>)[] = [
  async (server) => {
    const socket = await openFrames(server)
    socket.write(requestFrame(1, { ':path': '/' }, endStream))
    return socket.resume()
  },
  async (server) => {
    const socket = await openFrames(server, noWindow)
    socket.write(requestFrame(1, { ':path': '/version' }, endHeaders | endStream))
    return socket.resume()
  },
  async (server) => {
    const socket = await openSocket(server, 'http/1.1')
    socket.on('error', () => socket.destroy())
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n')
    return socket.resume()
  },
  async (server) => {
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => socket.destroy())
    await once(socket, 'connect')
    return socket.resume()
  },
]

async function sit(t: TestContext, server: ServerHandle, count: number) {
  const sitters = await Promise.all(
    Array.from({ length: count }, (_, i) => sitting[i % sitting.length]!(server).catch(() => undefined)),
  )
  t.after(() => {
    for (const socket of sitters) socket?.destroy()
  })
  return sitters
}

/** Opens a new authenticated connection. Retries after a rejection, as clients do. */
async function ask(t: TestContext, server: ServerHandle, path: string): Promise<number> {
  const client = new HttpClient({ port: server.port, token: 'admin-token', ca: caOf(server) })
  t.after(async () => client.close())
  for (let attempt = 0; ; attempt++) {
    const answer = await client.get(path).catch((error: unknown) => error)
    if (!(answer instanceof Error)) return (answer as { status: number }).status
    if (attempt === 50) throw answer
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function openWatch(t: TestContext, server: ServerHandle): Promise<TLSSocket> {
  const socket = await openSocket(server, 'http/1.1')
  t.after(() => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.write(`GET ${watchPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n`)
  await once(socket, 'data')
  return socket.resume()
}

test('unauthenticated clients cannot use up all connections and never displace authenticated clients', {
  timeout: 300_000,
}, async (t) => {
  const server = await startWithFew(t, 200)
  const watches: TLSSocket[] = []
  for (let i = 0; i < 20; i++) watches.push(await openWatch(t, server))
  for (let round = 0; round < 2; round++) {
    await sit(t, server, 166)
    assert.equal(await ask(t, server, '/api/v1/namespaces/default'), 200)
  }
  assert.ok(watches.every((socket) => !socket.closed))
  assert.doesNotMatch(server.output(), /stack="(?!Error: \d+ connections)/)
})

test('excess authenticated connections are rejected and logged until other connections close', {
  timeout: 300_000,
}, async (t) => {
  const server = await startWithFew(t, 200)
  const watches: TLSSocket[] = []
  let refused = 0
  for (let i = 0; i < 180; i++)
    await openWatch(t, server).then(
      (socket) => watches.push(socket),
      () => refused++,
    )
  assert.ok(watches.length >= 100, `${watches.length}`)
  assert.ok(refused > 0)
  assert.match(server.output(), /connections are open; rejecting new connections: raise the open-file limit/)
  assert.ok(watches.every((socket) => !socket.closed))
  for (const socket of watches) socket.destroy()
  assert.equal(await ask(t, server, '/readyz'), 200)
  assert.equal(server.process.exitCode, null)
})

test('hundreds of clients can connect from one address', { timeout: 300_000 }, async (t) => {
  const server = await startServer(t)
  const watches: TLSSocket[] = []
  for (let i = 0; i < 5; i++)
    watches.push(...(await Promise.all(Array.from({ length: 60 }, () => openWatch(t, server)))))
  assert.equal(watches.filter((socket) => !socket.closed).length, 300)
})

test('a plain HTTP request to the TLS port gets an explanation', { timeout: 300_000 }, async (t) => {
  const server = await serve(t)
  for (const method of ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const socket = connectTcp(server.port, '127.0.0.1')
    t.after(() => socket.destroy())
    socket.write(`${method} /version HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n${'x'.repeat(100)}`)
    const text = await untilClosed(socket)
    assert.match(text, /^HTTP\/1\.1 400 .*\r\n\r\nThis port supports only HTTPS: use https:\/\/ .*\.\n$/s, method)
  }
  assert.equal((await server.client().get('/livez')).status, 200)
  assert.doesNotMatch(server.output(), / error /)
})

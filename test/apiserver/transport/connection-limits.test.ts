/**
 * Tests connection limits, in total and per user. Above a limit, a request gets a 429 over HTTP/1.1, and a 429 plus
 * GOAWAY over HTTP/2. Some connections are reserved for system:masters. The limits apply to all workers together.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { ConnectionCounts, countingMemory } from '../../../src/apiserver/transport/connection-counts.ts'
import { maxConnectionsFor } from '../../../src/apiserver/transport/connection-limits.ts'
import type { ServerTransport } from '../../../src/apiserver/transport/server-transport.ts'
import { networkOf, UnauthenticatedConnections } from '../../../src/apiserver/transport/unauthenticated-connections.ts'
import { endHeaders, endStream, openFrames, requestFrame } from '../../support/http2-frames.ts'
import { serve } from '../../support/in-process.ts'
import { listen, ok, open } from '../../support/listener.ts'
import { long } from '../../support/long.ts'
import { openSession, openSocket, untilClosed } from '../../support/raw-http.ts'
import { type Served, startServer } from '../../support/server.ts'
import { soon, until, untilTrue } from '../../support/until.ts'

const user = (name: string, ...groups: string[]) => ({ name, uid: '', groups, extra: new Map() })
const path = '/api/v1/namespaces/default'

/** Opens a connection for this user, or returns undefined if the server rejects or cuts the connection. */
async function connect(t: TestContext, server: Served, token: string): Promise<TLSSocket | undefined> {
  const socket = await openSocket(server, 'http/1.1').catch(() => undefined)
  if (socket === undefined) return undefined
  t.after(() => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  // `once` rejects if the server resets the connection.
  const text = await Promise.race([once(socket, 'data').then(String), once(socket, 'close').then(() => '')]).catch(
    () => '',
  )
  return text === '' || text.startsWith('HTTP/1.1 429 ') ? undefined : socket.resume()
}

async function connectAll(t: TestContext, server: Served, token: string, count: number): Promise<TLSSocket[]> {
  const sockets: TLSSocket[] = []
  for (let i = 0; i < count; i++) {
    const socket = await connect(t, server, token)
    if (socket !== undefined) sockets.push(socket)
  }
  return sockets
}

test('the server limits the number of connections per user', { timeout: 300_000 }, async (t) => {
  const server = await serve(t, ['--max-connections-per-user=3'])
  const sockets = await connectAll(t, server, 'alice-token', 3)
  assert.equal(sockets.length, 3)
  const rejected = await openSocket(server, 'http/1.1')
  rejected.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n\r\n`)
  const answer = await untilClosed(rejected)
  assert.match(answer, /^HTTP\/1\.1 429 /)
  assert.match(answer, /\r\nretry-after: \d+\r\n/i)
  assert.match(answer, /\r\nconnection: close\r\n/i)
  assert.match(answer, /too many connections: the user \\"alice\\" has 3 open connections/)
  // Connections that are already open continue to work.
  sockets[0]!.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\n\r\n`)
  assert.doesNotMatch(String((await once(sockets[0]!, 'data'))[0]), /429/)
  assert.equal((await connectAll(t, server, 'bob-token', 3)).length, 3)
  assert.equal((await connectAll(t, server, 'admin-token', 5)).length, 5)
  sockets[1]!.destroy()
  await until(
    () => connect(t, server, 'alice-token'),
    (socket) => socket !== undefined,
  )
})

test('over HTTP/2, a request above the connection limit gets a 429 and GOAWAY', { timeout: 300_000 }, async (t) => {
  const server = await serve(t, ['--max-connections-per-user=1'])
  assert.equal((await connectAll(t, server, 'alice-token', 1)).length, 1)
  const session = openSession(server)
  t.after(() => session.destroy())
  const goaway = once(session, 'goaway')
  const stream = session.request({ ':path': path, authorization: 'Bearer alice-token' })
  const [head] = await once(stream, 'response')
  assert.equal(head[':status'], 429)
  assert.ok(Number(head['retry-after']) > 0)
  stream.resume()
  await goaway
  await once(session, 'close')
})

test('above the total connection limit, only users in system:masters are served', {
  timeout: 300_000,
}, async (t) => {
  const server = await serve(t, ['--max-connections=40'])
  // Of 40 connections, 2 are reserved for system:masters.
  const sockets = await connectAll(t, server, 'alice-token', 45)
  assert.equal(sockets.length, 38)
  const answered = await connectAll(t, server, 'admin-token', 3)
  assert.equal(answered.length, 2)
  sockets[0]!.destroy()
  await until(
    () => connect(t, server, 'admin-token'),
    (socket) => socket !== undefined,
  )
  assert.equal(sockets.filter((socket) => socket.closed).length, 1)
})

test('unauthenticated clients cannot occupy the connections reserved for system:masters', {
  timeout: 300_000,
}, async (t) => {
  const server = await serve(t, ['--max-connections=40'])
  assert.equal((await connectAll(t, server, 'alice-token', 38)).length, 38)
  for (let i = 0; i < 2; i++) {
    const stranger = await openSocket(server, 'http/1.1')
    t.after(() => stranger.destroy())
    stranger.on('error', () => {})
    stranger.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(stranger, 'data')
  }
  // Each unauthenticated connection may stay open for a second.
  await until(
    () => connect(t, server, 'admin-token'),
    (socket) => socket !== undefined,
  )
})

test('unauthenticated connections from one address are closed immediately in favor of a client from another address', {
  timeout: 300_000,
}, async (t) => {
  const server = await serve(t, ['--max-connections=40'])
  assert.equal((await connectAll(t, server, 'alice-token', 38)).length, 38)
  // If unauthenticated connections were not evicted, an attacker could renew them within that second and lock out all
  // other clients permanently.
  for (let i = 0; i < 2; i++) {
    const stranger = connectTcp({ host: '127.0.0.1', port: server.port, localAddress: '127.0.0.2' })
    t.after(() => stranger.destroy())
    stranger.on('error', () => {})
    await once(stranger, 'connect')
  }
  assert.notEqual(await connect(t, server, 'admin-token'), undefined)
})

test('unauthenticated connections from one address are limited', { timeout: 300_000 }, async (t) => {
  const server = await serve(t, ['--max-connections-per-user=4'])
  const sockets: TLSSocket[] = []
  for (let i = 0; i < 12; i++) {
    const socket = await openFrames(server).catch(() => undefined)
    if (socket === undefined) continue
    t.after(() => socket.destroy())
    socket.write(requestFrame(1, { ':path': '/' }, endStream))
    sockets.push(socket.resume())
  }
  await until(
    async () => sockets.filter((socket) => !socket.closed).length,
    (open) => open <= 4,
  )
})

test('rejecting a client does not evict a connection from another address', {
  timeout: 300_000,
}, async (t) => {
  // Of 4 connections, at most 2 are unauthenticated, with at most 1 from each address.
  const onRequest = (transport: ServerTransport) => {
    transport.peer.proved(user('admin', 'system:masters'))
    ok(transport)
  }
  const port = await listen(t, { maxima: { total: 4 }, onRequest })
  for (let i = 0; i < 2; i++) {
    const socket = await open(port, 'http/1.1')
    t.after(() => socket.destroy())
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
  }
  const openFrom = async (localAddress: string) => {
    const socket = connectTcp({ host: '127.0.0.1', port, localAddress })
    t.after(() => socket.destroy())
    socket.on('error', () => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  const old = await openFrom('127.0.0.2')
  // A connection of this age may be evicted in favor of any other connection.
  await setTimeout(1100)
  const recent = (await openFrom('127.0.0.3')).resume()
  const rejected = (await openFrom('127.0.0.3')).resume()
  await soon(() => recent.closed || rejected.closed)
  // The existing connection still works: the server explains that it needs TLS.
  old.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.match(await untilClosed(old), /^HTTP\/1\.1 400 /)
})

/** Each row contains one network in different notations. */
const networks: readonly (readonly string[])[] = [
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', '2001:db8:1:2::9', '2001:0DB8:0001:0002::1', '2001:db8:1:2:0:1::'],
  ['2001:db8:1:3::9'],
  ['2001:db8::1', '2001:db8:0:0:1::', '2001:db8::', '2001:db8::1:2:3:4', '2001:db8:0:0:1:2:3:4'],
  ['2001:db8:0:1::1', '2001:db8::1:2:3:4:5'],
  ['2001:0:0:1::', '2001::1:0:0:0:1'],
  // Node.js abbreviates the zeros in these two addresses differently.
  ['0:0:1:2::5', '::1:2:3:4:5:6'],
  ['0:2:3:4::', '::2:3:4:5:6:7:8'],
  ['::', '::1', '0:0:0:0:0:0:0:1', '::ffff:1:2:3'],
  ['fe80::1', 'fe80::2%eth0', 'fe80::%1'],
  ['10.0.0.1', '::ffff:10.0.0.1', '::FFFF:10.0.0.1', '::ffff:a00:1', '0:0:0:0:0:ffff:a00:1'],
  ['10.0.0.2', '::ffff:10.0.0.2'],
  // A closed socket has no address.
  [''],
]

test('all addresses of an IPv6 /64 count as one network, and so do all notations of an IPv4 address', () => {
  for (const [first = '', ...others] of networks)
    for (const other of others) assert.equal(networkOf(other), networkOf(first), other)
  assert.equal(new Set(networks.map(([first = '']) => networkOf(first))).size, networks.length)
})

test('unauthenticated connections are counted per network', async () => {
  const strangers = new UnauthenticatedConnections({ total: 100, perAddress: 2, minTime: Number.POSITIVE_INFINITY })
  let remotePort = 1
  const admit = (remoteAddress: string) => {
    const address = { remoteAddress: { value: remoteAddress }, remotePort: { value: remotePort++ } }
    const socket = Object.defineProperties(new Socket(), address)
    return strangers.admit(socket) !== 'rejected' ? socket : undefined
  }
  const socket = admit('2001:db8::1')
  assert.ok(socket && admit('2001:db8::1:0:0:1'))
  assert.equal(admit('2001:db8::2'), undefined)
  assert.ok(admit('2001:db8:0:1::1'))
  assert.ok(admit('10.0.0.1') && admit('::ffff:10.0.0.1'))
  assert.equal(admit('10.0.0.1'), undefined)
  assert.ok(admit('::ffff:10.0.0.2'))
  // Closing a connection allows another connection from the same network.
  socket.destroy()
  await once(socket, 'close')
  assert.ok(admit('2001:db8::2'))
  assert.equal(admit('2001:db8::3'), undefined)
})

test('connection limits apply to the total number of connections to all workers', { timeout: 300_000 }, async (t) => {
  const server = await startServer(t, ['--workers=2', '--max-connections-per-user=20'])
  const sockets = await connectAll(t, server, 'alice-token', 30)
  assert.equal(sockets.length, 20)
  const more = await openFrames(server)
  more.write(requestFrame(1, { ':path': path, authorization: 'Bearer alice-token' }, endHeaders | endStream))
  await untilClosed(more)
})

/** Opens an unauthenticated connection from 127.0.0.2, or returns undefined if the server rejects the connection. */
async function openStranger(t: TestContext, server: Served): Promise<TLSSocket | undefined> {
  const socket = await openSocket(server, 'http/1.1', '127.0.0.2').catch(() => undefined)
  if (socket === undefined) return undefined
  t.after(() => socket.destroy())
  socket.on('error', () => socket.destroy())
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  const isAnswered = await Promise.race([
    once(socket, 'data').then(() => true),
    once(socket, 'close').then(() => false),
  ]).catch(() => false)
  return isAnswered ? socket.resume() : undefined
}

/** Each attempt tests the eviction with a probability of one half, so several attempts are made. */
const attempts = long ? 12 : 5

test('unauthenticated connections to one worker are closed in favor of a client of another worker', {
  timeout: 300_000,
}, async (t) => {
  const server = await startServer(t, ['--workers=2', '--max-connections=40'])
  assert.equal((await connectAll(t, server, 'alice-token', 38)).length, 38)
  let strangers: TLSSocket[] = []
  for (let attempt = 0; attempt < attempts; attempt++) {
    // The kernel chooses the worker for each connection. In about half of the attempts, the other worker has both
    // unauthenticated connections, or the administrator's worker has none.
    await until(
      async () => {
        const socket = await openStranger(t, server)
        strangers = [...strangers, ...(socket === undefined ? [] : [socket])].filter(({ closed }) => !closed)
        return strangers.length
      },
      (count) => count >= 2,
    )
    const admin = await connect(t, server, 'admin-token')
    assert.notEqual(admin, undefined, `attempt ${attempt}`)
    await untilTrue(async () => strangers.some(({ closed }) => closed))
    assert.equal(admin!.closed, false)
    admin!.destroy()
  }
})

test('workers count connections in shared memory, and a restarted worker starts at zero', () => {
  const memory = countingMemory(2)
  const maxima = { total: 100, perUser: 3 }
  const [one, other] = [0, 1].map((index) => new ConnectionCounts(maxima, { memory, index }))
  const admitted = [one!, other!, one!].map((counts) => counts.admit(user('alice')))
  assert.ok(admitted.every((admission) => 'counter' in admission))
  assert.ok('refusal' in other!.admit(user('alice')))
  assert.ok('counter' in other!.admit(user('bob')))
  assert.ok('counter' in other!.admit(user('alice', 'system:masters')))
  const again = new ConnectionCounts(maxima, { memory, index: 1 })
  assert.ok('counter' in again.admit(user('alice')))
  assert.ok('refusal' in one!.admit(user('alice')))
})

test('by default, connections may use 80% of the file descriptors', () => {
  assert.equal(maxConnectionsFor(1_000_000), 800_000)
  assert.equal(maxConnectionsFor(1024), 819)
  // The store and its files need some file descriptors.
  assert.equal(maxConnectionsFor(200), 136)
  assert.equal(maxConnectionsFor(100), 50)
})

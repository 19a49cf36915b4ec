/** Clients that hold a connection without using it are cut off: at the handshake, in the headers, in the body, idle. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { Listener } from '../../src/http/listener.ts'
import { makeIdentity } from '../tools/identities.ts'

/** Short, so that the test is; which one cuts off is told by the others being much longer. */
const short = 300
const long = 60_000
const patient = { handshake: long, headers: long, request: long, idle: long, check: 50 }

async function listen(t: TestContext, times: Partial<typeof patient>): Promise<number> {
  const { certificate: cert, key } = await makeIdentity({ commonName: 'localhost', usages: ['server auth'] })
  const faults: unknown[] = []
  const listener = await Listener.open({
    host: '127.0.0.1',
    port: 0,
    tls: { cert, key },
    onRequest: (transport) => transport.send(200, ['content-length', '2'], Buffer.from('ok'), false),
    onError: (error) => faults.push(error),
    times: { ...patient, ...times },
  })
  t.after(async () => {
    await listener.close(0)
    assert.deepEqual(faults, [])
  })
  return listener.port
}

async function open(port: number, alpn: string): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: [alpn] })
  await once(socket, 'secureConnect')
  return socket
}

/** Resolves with what the server sent when it closes the connection. */
async function closed(t: TestContext, socket: Socket): Promise<string> {
  t.after(() => socket.destroy())
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  socket.on('error', () => socket.destroy())
  await once(socket, 'close')
  return text
}

test('a handshake that does not come', { timeout: 20_000 }, async (t) => {
  const socket = connectTcp(await listen(t, { handshake: short }), '127.0.0.1')
  assert.equal(await closed(t, socket), '')
})

test('headers that do not end', { timeout: 20_000 }, async (t) => {
  const socket = await open(await listen(t, { headers: short }), 'http/1.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n')
  assert.match(await closed(t, socket), /^HTTP\/1\.1 408 /)
})

test('headers that come letter by letter', { timeout: 20_000 }, async (t) => {
  const socket = await open(await listen(t, { headers: short }), 'http/1.1')
  const timer = setInterval(() => socket.write('a'), 20)
  t.after(() => clearInterval(timer))
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-A: ')
  assert.match(await closed(t, socket), /^HTTP\/1\.1 408 /)
})

test('a body that does not end', { timeout: 20_000 }, async (t) => {
  const socket = await open(await listen(t, { headers: short, request: short }), 'http/1.1')
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
  assert.match(await closed(t, socket), /^HTTP\/1\.1 200 /)
})

test('a connection without a request', { timeout: 20_000 }, async (t) => {
  const socket = await open(await listen(t, { headers: short, request: short }), 'http/1.1')
  await closed(t, socket)
})

test('a connection that is kept alive for nothing', { timeout: 20_000 }, async (t) => {
  const socket = await open(await listen(t, { idle: short }), 'http/1.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  assert.match(await closed(t, socket), /^HTTP\/1\.1 200 /)
})

test('HTTP/2 without a preface', { timeout: 20_000 }, async (t) => {
  await closed(t, await open(await listen(t, { idle: short }), 'h2'))
})

test('HTTP/2 without a request', { timeout: 20_000 }, async (t) => {
  const socket = await open(await listen(t, { idle: short }), 'h2')
  socket.write(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1'))
  await closed(t, socket)
})

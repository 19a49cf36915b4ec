/**
 * Tests calls over real TLS: certificate verification and connection reuse. Nothing is sent to an untrusted server.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Destination } from '../../../src/apiserver/outbound/connections.ts'
import { noCredentials } from '../../../src/apiserver/outbound/credentials.ts'
import { HttpsCaller } from '../../../src/apiserver/outbound/https-caller.ts'
import { AnswerMemory } from '../../../src/wire/http/client/answer-memory.ts'
import { callErrorOf } from '../../../src/wire/http/client/call-error.ts'
import { ConnectionPool } from '../../../src/wire/http/client/connection-pool.ts'
import { openTls } from '../../../src/wire/http/client/open-connection.ts'
import { runCall } from '../../../src/wire/http/client/whole-call.ts'
import { authorityExtensions, certificatesIn, type OpensslCertificate } from '../../support/openssl-certificates.ts'
import { answerRaw } from '../../support/raw-answers.ts'
import { soon } from '../../support/until.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-outbound-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const make = certificatesIn(directory)
const caller = new HttpsCaller('test')
after(() => caller.close())

const serving = (name: string) => [
  'extendedKeyUsage=serverAuth',
  `subjectAltName=DNS:${name}`,
  // Omit these extensions, because OpenSSL would find the issuer with them.
  'authorityKeyIdentifier=none',
  'subjectKeyIdentifier=none',
]
const nameless = [...authorityExtensions, 'subjectKeyIdentifier=none', 'authorityKeyIdentifier=none']

interface Served {
  readonly port: number
  readonly connections: () => number
  readonly requests: () => number
}

async function serve(
  { certificate, key }: OpensslCertificate,
  answer: (response: ServerResponse, request: number) => void = (response) => response.end('{}'),
): Promise<Served> {
  let connections = 0
  let requests = 0
  const server = createServer({ cert: certificate, key }, (request, response) => {
    requests++
    request.resume().on('end', () => answer(response, requests))
  })
  server.on('secureConnection', () => connections++)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, connections: () => connections, requests: () => requests }
}

function to({ port }: Served, authority: OpensslCertificate, serverName = 'hook.n.svc'): Destination {
  const place = { host: '127.0.0.1', port, serverName, hostHeader: serverName }
  return { ...place, authority: authority.certificate, credentials: noCredentials }
}

const post = (destination: Destination) =>
  caller.post({ destination, path: '/', body: '{}', timeoutMs: 10_000 }).then(({ status }) => status)

test('outbound connections are reused', async () => {
  const authority = make({ subject: '/CN=authority', extensions: authorityExtensions })
  const served = await serve(make({ subject: '/CN=hook', issuer: authority, extensions: serving('hook.n.svc') }))
  for (let i = 0; i < 5; i++) assert.equal(await post(to(served, authority)), 200)
  assert.deepEqual([served.connections(), served.requests()], [1, 5])
  // A call with a different CA bundle does not reuse the connection, even though its certificate was verified before.
  const other = make({ subject: '/CN=authority', extensions: authorityExtensions })
  await assert.rejects(post(to(served, other)), /x509: certificate signed by unknown authority/)
  await assert.rejects(post(to(served, authority, 'other.n.svc')), /x509: certificate is not valid for other.n.svc/)
})

test('an outbound call trusts an intermediate CA in the CA bundle', async () => {
  const rootAuthority = make({ subject: '/CN=root', extensions: authorityExtensions })
  const authority = make({ subject: '/CN=inner', issuer: rootAuthority, extensions: authorityExtensions })
  const served = await serve(make({ subject: '/CN=hook', issuer: authority, extensions: serving('hook.n.svc') }))
  assert.equal(await post(to(served, authority)), 200)
})

test('an outbound call accepts a certificate without alternative names only if a CA in the bundle signed it', async () => {
  const authority = make({ subject: '/', extensions: nameless })
  const served = await serve(make({ subject: '/', issuer: authority, extensions: serving('hook.n.svc') }))
  assert.equal(await post(to(served, authority)), 200)
  assert.equal(await post(to(served, authority)), 200)
  assert.deepEqual([served.connections() <= 2, served.requests()], [true, 2])
  await assert.rejects(post(to(served, authority, 'other.n.svc')), /x509: certificate is not valid for other.n.svc/)
  await assert.rejects(post(to(served, make({ subject: '/', extensions: nameless }))), /unknown authority/)
  assert.equal(served.requests(), 2)
})

test('an outbound call trusts a self-signed certificate only if the CA bundle contains it', async () => {
  const authority = make({ subject: '/', extensions: nameless })
  const own = make({ subject: '/', extensions: serving('hook.n.svc') })
  const served = await serve(own)
  await assert.rejects(post(to(served, authority)), /unknown authority/)
  assert.equal(served.requests(), 0)
  assert.equal(await post(to(served, own)), 200)
})

test('an outbound call rejects a certificate without alternative names if its key usage excludes servers', async () => {
  const authority = make({ subject: '/', extensions: nameless })
  const extensions = ['extendedKeyUsage=clientAuth', ...serving('hook.n.svc').slice(1)]
  const served = await serve(make({ subject: '/', issuer: authority, extensions }))
  await assert.rejects(post(to(served, authority)), /x509/)
  assert.equal(served.requests(), 0)
})

test('running out of file descriptors is classified as a limit of the API server, not as a destination failure', () => {
  const outcomeOf = (code: string) =>
    callErrorOf(Object.assign(new Error(code), { code }), { serverName: 'hook', isRepeatable: true }).fault
  for (const code of ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']) assert.equal(outcomeOf(code), 'limit')
  assert.equal(outcomeOf('ECONNREFUSED'), 'connection')
})

/** Opens a single connection to a server that never responds. */
async function singleConnection() {
  let requests = 0
  const { destination } = await answerRaw({ after }, () => requests++)
  const { host, port, authority: ca } = destination
  const pool = new ConnectionPool({ open: () => openTls({ host, port, ca }), maxConnections: 1 })
  after(() => pool.close())
  const memory = new AnswerMemory()
  const head = 'GET / HTTP/1.1\r\n\r\n'
  /** Returns the error of the call. */
  const call = (timeoutMs: number, signal?: AbortSignal) =>
    runCall({
      pool,
      serverName: host,
      method: 'GET',
      head,
      body: undefined,
      timeoutMs,
      signal,
      maxBytes: 1000,
      room: memory.roomFor(pool),
    }).then(String, ({ fault }) => fault)
  return { pool, call, requests: () => requests }
}

test('the outbound connection pool reports each call that must wait for a connection', async () => {
  const { pool } = await singleConnection()
  const waits: string[] = []
  const take = (name: string) => pool.take({ onWait: () => void waits.push(name) })
  const connection = await take('first')
  pool.release(connection, { isReusable: true })
  assert.equal(await take('idle'), connection)
  assert.deepEqual(waits, [])
  const second = take('second')
  const third = take('third')
  assert.deepEqual(waits, ['second', 'third'])
  pool.release(connection, { isReusable: true })
  pool.release(await second, { isReusable: false })
  // The connection of the second call has been closed, so the third call opens another one.
  const another = await third
  assert.notEqual(another, connection)
  pool.release(another, { isReusable: false })
})

test("if an outbound call times out while waiting for a connection, the error blames the server's connection limit", async () => {
  const { call, requests } = await singleConnection()
  const stop = new AbortController()
  const first = call(600_000, stop.signal)
  await soon(() => requests() === 1)
  assert.equal(await call(50), 'limit')
  stop.abort()
  assert.equal(await first, 'aborted')
})

test("if an outbound call times out waiting for a second connection, the error blames the server's connection limit", async () => {
  const { pool, call, requests } = await singleConnection()
  const stop = new AbortController()
  const connection = await pool.take()
  pool.release(connection, { isReusable: true })
  // The idle connection closes after this call has selected it, and another call opens the next connection.
  const waiting = call(50)
  let other = Promise.resolve('')
  connection.socket.once('close', () => {
    other = call(600_000, stop.signal)
  })
  connection.socket.destroy()
  assert.equal(await waiting, 'limit')
  await soon(() => requests() === 1)
  stop.abort()
  assert.equal(await other, 'aborted')
})

test('if an outbound call times out without waiting for a connection, the error blames the destination', async () => {
  const { call } = await singleConnection()
  assert.equal(await call(50), 'timeout')
})

test('outbound calls share at most 64 connections, and a broken connection fails at most one call', async () => {
  const authority = make({ subject: '/CN=authority', extensions: authorityExtensions })
  const hook = make({ subject: '/CN=hook', issuer: authority, extensions: serving('hook.n.svc') })
  const cut = Promise.withResolvers<void>()
  const served = await serve(hook, (response, request) => {
    if (request === 150) response.socket?.once('close', cut.resolve)
    if (request === 5) response.destroy()
    else if (request === 9) response.writeHead(200, { 'content-length': 10 }).write('{', () => response.destroy())
    // Close the connection after the response, like a server that closes idle connections.
    else if (request === 150) response.end('{}', () => response.socket?.destroy())
    else response.end('{}')
  })
  const outcomes = await Promise.allSettled(Array.from({ length: 150 }, () => post(to(served, authority))))
  const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.message] : []))
  assert.ok(served.connections() <= 66, `${served.connections()} connections`)
  assert.ok(failed.includes('the connection was closed during the response'))
  assert.ok(failed.length <= 3, failed.join())
  await cut.promise
  for (let i = 0; i < 70; i++) assert.equal(await post(to(served, authority)), 200)
})

test('an outbound POST that the destination may have read is not repeated, but a GET is', async () => {
  const authority = make({ subject: '/CN=authority', extensions: authorityExtensions })
  const hook = make({ subject: '/CN=hook', issuer: authority, extensions: serving('hook.n.svc') })
  const served = await serve(hook, (response, request) => {
    if (request === 2 || request === 4) response.socket?.destroy()
    else response.end('{}')
  })
  const destination = to(served, authority)
  assert.equal(await post(destination), 200)
  await assert.rejects(post(destination), /the connection was closed/)
  assert.equal(served.requests(), 2)
  assert.equal(await post(destination), 200)
  const { status } = await caller.get({ destination, path: '/', timeoutMs: 10_000 })
  assert.deepEqual([status, served.requests()], [200, 5])
})

test('an outbound connection that the destination has closed or is about to close is not reused', async () => {
  const authority = make({ subject: '/CN=authority', extensions: authorityExtensions })
  const hook = make({ subject: '/CN=hook', issuer: authority, extensions: serving('hook.n.svc') })
  let socket: Socket | null = null
  const served = await serve(hook, (response, request) => {
    socket = response.socket
    if (request === 3) response.setHeader('keep-alive', 'timeout=1')
    response.end('{}')
  })
  assert.equal(await post(to(served, authority)), 200)
  const closed = once(socket!, 'close')
  socket!.destroy()
  await closed
  assert.equal(await post(to(served, authority)), 200)
  assert.deepEqual([served.connections(), served.requests()], [2, 2])
  for (let i = 0; i < 3; i++) assert.equal(await post(to(served, authority)), 200)
  assert.deepEqual([served.connections(), served.requests()], [3, 5])
})

test('an outbound call with a line break in a header is rejected before anything is sent', async () => {
  const authority = make({ subject: '/CN=authority', extensions: authorityExtensions })
  const served = await serve(make({ subject: '/CN=hook', issuer: authority, extensions: serving('hook.n.svc') }))
  const destination = { ...to(served, authority), credentials: { token: 'a\r\nx: y' } }
  await assert.rejects(post(destination), /characters that cannot be sent/)
  const path = '/a HTTP/1.1\r\nx: y'
  await assert.rejects(
    caller.post({ destination: to(served, authority), path, body: '{}', timeoutMs: 10_000 }),
    /characters that cannot be sent/,
  )
  assert.equal(served.requests(), 0)
})

test('a cancelled or timed-out outbound call ends immediately, and its connection is not reused', async () => {
  const authority = make({ subject: '/CN=authority', extensions: authorityExtensions })
  const hook = make({ subject: '/CN=hook', issuer: authority, extensions: serving('hook.n.svc') })
  const stop = new AbortController()
  const served = await serve(hook, (response, request) => {
    if (request === 1) stop.abort()
    else if (request > 2) response.end('{}')
  })
  const call = { destination: to(served, authority), path: '/', body: '{}', timeoutMs: 10_000 }
  await assert.rejects(caller.post({ ...call, signal: stop.signal }), /abandoned/)
  await assert.rejects(caller.post({ ...call, timeoutMs: 200 }), /no complete response within 200 ms/)
  assert.equal(await post(call.destination), 200)
  assert.deepEqual([served.connections(), served.requests()], [3, 3])
})

/**
 * Tests streamed requests and responses over real connections, to Node's HTTP server and to servers that send raw
 * bytes.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { ConnectionPool, type PoolOptions } from '../../../../src/wire/http/client/connection-pool.ts'
import type { CallParts } from '../../../../src/wire/http/client/http-call.ts'
import { openTcp, openTls } from '../../../../src/wire/http/client/open-connection.ts'
import { bodyFraming, type StreamedBody } from '../../../../src/wire/http/client/request-body.ts'
import { requestHead } from '../../../../src/wire/http/client/request-head.ts'
import { streamCall } from '../../../../src/wire/http/client/streamed-call.ts'
import { soon } from '../../../support/until.ts'

interface Dialed {
  readonly pool: ConnectionPool
  readonly sockets: Socket[]
}

function poolTo(port: number): Dialed {
  const sockets: Socket[] = []
  const open = async () => {
    const socket = await openTcp('127.0.0.1', port)
    sockets.push(socket)
    return socket
  }
  const pool = new ConnectionPool({ open, maxConnections: 8 })
  after(() => pool.destroy())
  return { pool, sockets }
}

async function listen(server: ReturnType<typeof createServer>): Promise<Dialed> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  after(() => server.close())
  return poolTo((server.address() as AddressInfo).port)
}

/** Starts a server that calls `answer` after it has received the first part of a request. */
function raw(answer: (socket: Socket) => void): Promise<Dialed> {
  const sockets = new Set<Socket>()
  after(() => sockets.forEach((socket) => void socket.destroy()))
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.once('data', () => answer(socket))
  })
  return listen(server)
}

function http(answer: RequestListener): Promise<Dialed> {
  const server = createHttpServer(answer)
  after(() => server.closeAllConnections())
  return listen(server)
}

function call({ pool }: Dialed, parts: Partial<Omit<CallParts, 'body'>> & { readonly body?: StreamedBody } = {}) {
  const { method = 'GET', body } = parts
  const head = requestHead(method, '/', ['host', 'a', ...(body === undefined ? [] : bodyFraming(body))])
  const usual = { pool, serverName: 'a', method, head, timeoutMs: 60_000, signal: undefined }
  return streamCall({ ...usual, ...parts, body })
}

function bodyOf(pieces: readonly Buffer[], length?: number): StreamedBody {
  return { stream: Readable.from(pieces), length, isWhole: () => true }
}

const ok = 'HTTP/1.1 200 OK\r\n'
const pieces = Array.from({ length: 64 }, (_, i) => Buffer.alloc(32 * 1024, i))
const total = pieces.length * 32 * 1024

const echo = await http((request, response) => void request.pipe(response))

test('a streamed request body arrives unchanged, with and without a length, and the connection is reused', async () => {
  for (const length of [undefined, total]) {
    const { status, body } = await call(echo, { method: 'POST', body: bodyOf(pieces, length) })
    assert.equal(status, 200)
    assert.ok((await buffer(body)).equals(Buffer.concat(pieces)))
  }
  assert.equal(echo.sockets.length, 1)
})

test('a streamed request body that is incomplete, or shorter or longer than announced, fails the request', async () => {
  const requests: IncomingMessage[] = []
  const server = await http((request) => void requests.push(request.resume()))
  const broken = { ...bodyOf(pieces), isWhole: () => false }
  const bodies = [bodyOf(pieces, total - 1), bodyOf(pieces, total + 1), broken]
  for (const body of bodies) await assert.rejects(call(server, { method: 'POST', body }), { fault: 'aborted' })
  await soon(() => requests.length === 3 && requests.every(({ destroyed }) => destroyed))
  assert.deepEqual(
    requests.map(({ complete }) => complete),
    [false, false, false],
  )
})

test('a response that arrives before the request body is complete is delivered, and the rest of the body is consumed', async () => {
  const server = await raw((socket) => void socket.end(`${ok}content-length: 2\r\n\r\nno`))
  const body = bodyOf(pieces, total)
  const answer = await call(server, { method: 'POST', body })
  assert.equal(String(await buffer(answer.body)), 'no')
  await soon(() => body.stream.readableEnded)
})

test('a streamed response is received only as fast as the caller reads', async () => {
  const bytes = 32 * 1024 * 1024
  const server = await raw(
    (socket) =>
      void socket.write(Buffer.concat([Buffer.from(`${ok}content-length: ${bytes}\r\n\r\n`), Buffer.alloc(bytes)])),
  )
  const { body } = await call(server)
  const [socket] = server.sockets
  await soon(() => socket!.isPaused())
  assert.ok(socket!.bytesRead < 1024 * 1024, `${socket!.bytesRead}`)
  assert.equal((await buffer(body)).length, bytes)
})

test('the framing overhead of many small chunks does not cause a stream to be rejected', async () => {
  const count = 30_000
  const server = await raw(
    (socket) => void socket.end(`${ok}transfer-encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(count)}0\r\n\r\n`),
  )
  assert.equal((await buffer((await call(server)).body)).length, count)
})

test('small parts of a streamed response are joined while the reader lags behind', async () => {
  const count = 30_000
  const server = await raw(
    (socket) => void socket.end(`${ok}transfer-encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(count)}0\r\n\r\n`),
  )
  const { body } = await call(server)
  await soon(() => server.sockets[0]!.destroyed)
  const parts: Buffer[] = []
  for await (const part of body as AsyncIterable<Buffer>) parts.push(part)
  assert.equal(Buffer.concat(parts).toString(), 'a'.repeat(count))
  assert.ok(parts.length < 100, `${parts.length} parts`)
})

test('the amount of chunk framing without data in a stream is limited', async () => {
  const server = await raw(
    (socket) =>
      void socket.write(`${ok}transfer-encoding: chunked\r\n\r\n${`1;${'x'.repeat(1000)}\r\na\r\n`.repeat(100)}`),
  )
  await assert.rejects(buffer((await call(server)).body), { fault: 'answer' })
})

test('responses to HEAD have no body', async () => {
  const server = await http((_, response) => void response.setHeader('content-length', 10).end())
  for (let i = 0; i < 2; i++) {
    const { headers, body } = await call(server, { method: 'HEAD' })
    assert.deepEqual([headers.get('content-length'), (await buffer(body)).length], ['10', 0])
  }
  assert.equal(server.sockets.length, 1)
})

test('a truncated response body ends with an error', async () => {
  for (const framing of ['content-length: 10', 'transfer-encoding: chunked']) {
    const server = await raw((socket) => void socket.end(`${ok}${framing}\r\n\r\n5\r\n`))
    await assert.rejects(buffer((await call(server)).body), { fault: 'cut' })
  }
})

test('aborting a call or destroying the response body closes the connection', async () => {
  const closed: Promise<unknown>[] = []
  const server = await raw((socket) => {
    closed.push(once(socket, 'close'))
    socket.write(`${ok}content-length: 10\r\n\r\na`)
  })
  const stop = new AbortController()
  const aborted = await call(server, { signal: stop.signal })
  stop.abort()
  await assert.rejects(buffer(aborted.body), { fault: 'aborted' })
  const destroyed = await call(server)
  destroyed.body.destroy()
  await Promise.all(closed)
  assert.equal(closed.length, 2)
})

test('the timeout of a call no longer applies once the response head has arrived', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let finish = () => {}
  const server = await raw((socket) => {
    socket.write(`${ok}content-length: 1\r\n\r\n`)
    finish = () => void socket.write('a')
  })
  const { body } = await call(server, { timeoutMs: 50 })
  t.mock.timers.tick(1000)
  finish()
  assert.equal(String(await buffer(body)), 'a')
  let isAsked = false
  const silent = await raw(() => {
    isAsked = true
  })
  const late = assert.rejects(call(silent, { timeoutMs: 50 }), {
    fault: 'timeout',
    message: 'no response within 50 ms',
  })
  await soon(() => isAsked)
  t.mock.timers.tick(50)
  await late
})

test('a connection that switched protocols is handed over with the data that followed the response', async () => {
  const server = await raw((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\n\r\nfirst')
    socket.on('data', (bytes) => void socket.end(bytes))
  })
  const { switched } = await call(server, { rules: { switchesAt: (status) => status === 101 } })
  assert.equal(String(switched!.rest), 'first')
  switched!.socket.write('second')
  assert.equal(String(await buffer(switched!.socket)), 'second')
})

test('a connection is closed if the server switches protocols although the client did not ask for an upgrade', async () => {
  let isClosed = false
  const server = await raw((socket) => {
    socket.on('close', () => {
      isClosed = true
    })
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\n\r\n')
  })
  await assert.rejects(call(server), { fault: 'answer' })
  await soon(() => isClosed)
})

test('only read requests are repeated on a new connection', async () => {
  for (const [method, remedy] of [
    ['GET', 'reconnect'],
    ['DELETE', undefined],
  ] as const) {
    let requests = 0
    const server = await http((request, response) => {
      if (++requests === 2) request.socket.destroy()
      else response.end()
    })
    await buffer((await call(server)).body)
    await assert.rejects(call(server, { method }), { fault: 'cut', remedy })
  }
})

/** Starts a server that accepts connections but never completes a TLS handshake. */
async function hanging() {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket.resume().on('error', () => {})))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const poolOf = (options: Partial<PoolOptions>) => {
    const open: PoolOptions['open'] = (onSocket) => openTls({ host: '127.0.0.1', port }, onSocket)
    const pool = new ConnectionPool({ open, maxConnections: 8, ...options })
    after(() => pool.destroy())
    return { pool, sockets: [] }
  }
  return { sockets, poolOf }
}

test('a connection that is still being established is closed when its call or its pool ends', async () => {
  const { sockets, poolOf } = await hanging()
  const stop = new AbortController()
  const ended = poolOf({})
  const aborted = assert.rejects(call(ended, { signal: stop.signal }), { fault: 'aborted' })
  const kept = poolOf({ keepsOpening: true })
  const late = assert.rejects(call(kept, { signal: stop.signal }), { fault: 'aborted' })
  await soon(() => sockets.length === 2)
  stop.abort()
  await Promise.all([aborted, late])
  await soon(() => sockets.some(({ destroyed }) => destroyed))
  assert.equal(sockets.filter(({ destroyed }) => destroyed).length, 1)
  kept.pool.destroy()
  await soon(() => sockets.every(({ destroyed }) => destroyed))
})

/**
 * Compares this server's HTTP/2 implementation with Node's independent implementation. Requests from Node's client,
 * with any settings, must arrive as sent, and so must the responses. For damaged and split requests, this server must
 * execute nothing that Node's server does not parse in the same way. The connection may end, but the server must keep
 * running.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as http2 from 'node:http2'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { defaultTimes } from '../../src/apiserver/transport/connection-limits.ts'
import { Http2Server } from '../../src/apiserver/transport/http2/server.ts'
import { orchEngine } from '../../src/apiserver/transport/load-engine.ts'
import type { ServerTransport } from '../../src/apiserver/transport/server-transport.ts'
import { readStream } from '../../src/base/concurrency/read-stream.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { rounds, seed, tell } from './scale.ts'

async function listen(t: TestContext, server: Server | http2.Http2Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A request as parsed. */
interface Read {
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  readonly body: Buffer
}

/** A server and the requests on each of its connections, by client port. */
interface Reader {
  readonly port: number
  readonly connections: Map<number, { readonly socket: Socket; readonly read: Read[] }>
}

/** Echoes the request body. */
async function ourReader(t: TestContext): Promise<Reader> {
  const connections: Reader['connections'] = new Map()
  const http = new Http2Server(orchEngine, defaultTimes, async (transport) => {
    const { method, target, rawHeaders: headers, peer } = transport
    const body = transport.bodyAtHand ?? (await bodyOf(transport))
    if (body !== undefined) connections.get(Number(peer.address))?.read.push({ method, target, headers, body })
    transport.send(200, ['x-length', String(body?.length)], body ?? Buffer.alloc(0), false)
  })
  t.after(() => http.close())
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    connections.set(socket.remotePort!, { socket, read: [] })
    http.accept(socket, {
      address: `${socket.remotePort}`,
      certificate: undefined,
      proved: () => undefined,
      isProved: true,
      end: () => {},
    })
  })
  return { port: await listen(t, server), connections }
}

/** Returns a body. Undefined if the body was truncated. */
function bodyOf(transport: ServerTransport): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    readStream(transport.body, {
      onData: (chunk) => chunks.push(chunk),
      onEnd: () => resolve(transport.bodyWhole ? Buffer.concat(chunks) : undefined),
      onBreak: () => resolve(undefined),
    })
  })
}

async function nodeReader(t: TestContext): Promise<Reader> {
  const connections: Reader['connections'] = new Map()
  const server = http2.createServer({ strictFieldWhitespaceValidation: false })
  server.on('connection', (socket: Socket) => connections.set(socket.remotePort!, { socket, read: [] }))
  server.on('sessionError', () => {})
  server.on('stream', (stream: http2.ServerHttp2Stream, headers, _flags, raw: string[]) => {
    const port = stream.session?.socket?.remotePort
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      if (stream.closed) return
      const method = headers[':method']!
      const target = headers[':path']!
      connections.get(port!)?.read.push({ method, target, headers: raw, body: Buffer.concat(chunks) })
      stream.respond({ ':status': 200 })
      stream.end()
    })
  })
  return { port: await listen(t, server), connections }
}

const text = (random: RandomSource, letters: string, most: number) =>
  Array.from({ length: random.below(most + 1) }, () => random.pick([...letters])).join('')

/** Returns random headers. Names and values repeat, so that the dynamic table adds and evicts entries. */
function someHeaders(random: RandomSource): [name: string, value: string][] {
  const count = random.chance(0.1) ? 60 : random.below(8)
  return Array.from({ length: count }, (_, i) => [
    `x-${i % 3}${text(random, "az09!#$&'*+.^_`|~-", 3)}`,
    `v${text(random, 'abc:, "~é', random.chance(0.05) ? 3_000 : 12)}v`,
  ])
}

const sizes = [0, 0, 1, 10, 1_000, 16_384, 16_385, 65_535, 65_536, 200_000]

/** Sends a random request, and returns it as the client sent it. */
async function exchange(session: http2.ClientHttp2Session, random: RandomSource, i: number): Promise<Read> {
  const method = random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
  const headers = someHeaders(random)
  const body = Buffer.alloc(random.pick(sizes), String(i))
  const target = `/${i}/${text(random, 'ab/%2e?&=;', 12)}`
  const sent = [':method', method, ':path', target, ':scheme', 'http', ':authority', 'x', ...headers.flat()]
  const endStream = body.length === 0 && random.chance(0.5)
  const stream = session.request(sent as unknown as http2.OutgoingHttpHeaders, { endStream })
  if (!endStream) {
    const cut = random.below(body.length + 1)
    stream.write(body.subarray(0, cut))
    if (random.chance(0.3)) await setImmediate()
    stream.end(body.subarray(cut))
  }
  const answered = once(stream, 'response')
  const back = Buffer.concat(await stream.toArray())
  const [answer] = (await answered) as [http2.IncomingHttpHeaders]
  assert.equal(answer['x-length'], String(body.length))
  assert.ok(back.equals(body), `${target}: ${back.length} bytes came back of ${body.length}`)
  // The authority becomes the header `host`.
  return { method, target, headers: ['host', 'x', ...headers.flat()], body }
}

test("random requests from Node's HTTP/2 client arrive unchanged", { timeout: 600_000 }, async (t) => {
  const random = seeded(seed)
  const { port, connections } = await ourReader(t)
  let requests = 0
  for (let round = 0; round < rounds(6, 300); round++) {
    const settings = {
      initialWindowSize: random.pick([100, 65_535, 1_000_000]),
      headerTableSize: random.pick([0, 100, 4_096, 65_536]),
      maxFrameSize: random.pick([16_384, 1_000_000]),
    }
    const session = http2.connect(`http://127.0.0.1:${port}`, { settings })
    await once(session, 'connect')
    const { localPort } = session.socket
    const count = 1 + random.below(60)
    const sent = await Promise.all(Array.from({ length: count }, (_, i) => exchange(session, random, i)))
    const read = new Map(connections.get(localPort!)?.read.map((one) => [one.target, one]))
    for (const one of sent) assert.deepEqual(read.get(one.target), one)
    assert.equal(read.size, count)
    session.close()
    requests += count
  }
  tell("requests of Node's client", { requests })
})

/** Returns the bytes that Node's client sends for a few requests. */
async function recorded(random: RandomSource, { port }: Reader): Promise<Buffer> {
  const socket = connect({ port, host: '127.0.0.1' })
  const sent: Buffer[] = []
  const tunnel = createServer((from) => {
    from.on('data', (chunk: Buffer) => sent.push(chunk))
    from.pipe(socket).pipe(from)
    from.on('error', () => socket.destroy())
    socket.on('error', () => from.destroy())
  })
  tunnel.listen(0, '127.0.0.1')
  await once(tunnel, 'listening')
  const session = http2.connect(`http://127.0.0.1:${(tunnel.address() as AddressInfo).port}`)
  await Promise.all(Array.from({ length: 1 + random.below(4) }, (_, i) => exchange(session, random, i)))
  session.destroy()
  tunnel.close()
  return Buffer.concat(sent)
}

function damaged(random: RandomSource, sent: Buffer): Buffer {
  let result = Buffer.from(sent)
  for (let n = 1 + random.below(3); n > 0; n--) {
    // Damages mostly the beginning, because frame heads and headers are near the beginning, and most other bytes belong
    // to bodies.
    const at = random.below(random.chance(0.7) ? Math.min(400, result.length) : result.length)
    const put = Buffer.from(Array.from({ length: random.below(4) }, () => random.below(256)))
    if (random.chance(0.6) && at < result.length) result[at] = random.below(256)
    else result = Buffer.concat([result.subarray(0, at), put, result.subarray(at + random.below(4))])
  }
  return result
}

/** Returns the requests that a server reads from these pieces until it closes the connection or waits for more. */
async function readBy({ port, connections }: Reader, pieces: readonly Buffer[]): Promise<readonly Read[]> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => socket.destroy()).resume()
  await once(socket, 'connect')
  const { localPort } = socket
  for (const piece of pieces) {
    if (!socket.writable) break
    socket.write(piece)
    await setImmediate()
  }
  const seen = () => connections.get(localPort!)
  const sent = pieces.reduce((size, { length }) => size + length, 0)
  while (!socket.destroyed && (seen()?.socket.bytesRead ?? 0) < sent) await pause(1)
  for (let before = -1; before !== socket.bytesRead && !socket.destroyed; ) {
    before = socket.bytesRead
    await pause(20)
  }
  socket.destroy()
  const read = seen()?.read ?? []
  connections.delete(localPort!)
  return read
}

function inPieces(random: RandomSource, sent: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  const most = random.pick([7, 100, 20_000])
  // Only the beginning is split into small pieces.
  for (let at = 0; at < sent.length; ) {
    const length = at > 2_000 ? 50_000 : 1 + random.below(most)
    pieces.push(sent.subarray(at, at + length))
    at += length
  }
  return pieces
}

test("damaged HTTP/2 input executes no request that Node's server parses differently", {
  timeout: 600_000,
}, async (t) => {
  const random = seeded(seed)
  const ours = await ourReader(t)
  const nodes = await nodeReader(t)
  const counts = { streams: 0, requests: 0 }
  for (let round = 0; round < rounds(5, 200); round++) {
    const sound = await recorded(random, ours)
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const bytes = damaged(random, sound)
        const [mine, theirs] = await Promise.all([
          readBy(ours, inPieces(random, bytes)),
          readBy(nodes, inPieces(random, bytes)),
        ])
        for (const { method, target, body } of mine) {
          const same = theirs.some((one) => one.method === method && one.target === target && one.body.equals(body))
          assert.ok(same, `${method} ${target} with ${body.length} bytes: ${bytes.subarray(0, 3_000).toString('hex')}`)
        }
        counts.streams++
        counts.requests += mine.length
      }),
    )
  }
  tell('damaged streams', counts)
})

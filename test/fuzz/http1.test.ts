/**
 * Passes random bytes that resemble HTTP/1.1 requests, split at random, to this server's parser and to Node's
 * independent implementation. This server must execute the same requests as Node's server, up to the point at which its
 * parser finds an error and stops. The result must not depend on how the bytes are split.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer, METHODS } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { defaultTimes } from '../../src/apiserver/transport/connection-limits.ts'
import { Http1Server } from '../../src/apiserver/transport/http1/server.ts'
import { orchEngine } from '../../src/apiserver/transport/load-engine.ts'
import type { ServerTransport } from '../../src/apiserver/transport/server-transport.ts'
import { readStream } from '../../src/base/concurrency/read-stream.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { rounds, seed, tell } from './scale.ts'

// The requests that each parser reads.

/** A request as parsed. */
interface Read {
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  readonly body: string
}

/** A server and the requests on each of its connections, by client port. */
interface Reader {
  readonly port: number
  readonly connections: Map<number, Connection>
}

interface Connection {
  readonly socket: Socket
  readonly read: Read[]
}

const answer = Buffer.from('ok')

async function ourReader(t: TestContext): Promise<Reader> {
  const connections: Reader['connections'] = new Map()
  const onRequest = async (transport: ServerTransport) => {
    const { method, target, rawHeaders, peer } = transport
    const body = transport.bodyAtHand?.toString('latin1') ?? (await textOf(transport))
    if (body !== undefined)
      connections.get(Number(peer.address))?.read.push({ method, target, headers: rawHeaders, body })
    transport.send(200, ['content-length', String(answer.length)], answer, false)
  }
  const http = new Http1Server(orchEngine, defaultTimes, { onRequest, maySwitch: () => false })
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

/** Returns the text of a body. Undefined if the body was truncated. */
function textOf(transport: ServerTransport): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = ''
    readStream(transport.body, {
      onData: (chunk) => (text += chunk.toString('latin1')),
      onEnd: () => resolve(transport.bodyWhole ? text : undefined),
      onBreak: () => resolve(undefined),
    })
  })
}

async function nodeReader(t: TestContext): Promise<Reader> {
  const connections: Reader['connections'] = new Map()
  const server = createHttpServer({ requireHostHeader: false, maxHeaderSize: 128 * 1024 }, (request, response) => {
    const { method = '', url = '', rawHeaders, socket } = request
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')))
    const port = socket.remotePort!
    request.on('end', () => connections.get(port)?.read.push({ method, target: url, headers: rawHeaders, body }))
    response.writeHead(200, { 'content-length': answer.length })
    request.on('end', () => response.end(answer))
  })
  server.on('connection', (socket) => connections.set(socket.remotePort!, { socket, read: [] }))
  server.on('clientError', (_, socket) => socket.destroy())
  return { port: await listen(t, server), connections }
}

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/**
 * Number of quiet turns of the event loop after which a server that has read all data counts as waiting for more. A
 * time limit could also expire while the machine does not run this process at all.
 */
const quietTurns = 30

async function waitForQuietTurns(): Promise<void> {
  for (let turn = 0; turn < quietTurns; turn++) await pause(2)
}

/** Returns the requests that a server reads from these pieces until it closes the connection or waits for more. */
async function readBy({ port, connections }: Reader, pieces: readonly Buffer[]): Promise<readonly Read[]> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
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
    await Promise.race([closed, waitForQuietTurns()])
  }
  socket.destroy()
  const read = seen()?.read ?? []
  connections.delete(localPort!)
  return read
}

// Generates the bytes of random requests.

const text = (random: RandomSource, letters: string, most: number) =>
  Array.from({ length: random.below(most + 1) }, () => random.pick([...letters])).join('')

function chunks(random: RandomSource, body: string): string {
  let sent = ''
  for (let at = 0; at < body.length; ) {
    const part = body.slice(at, at + 1 + random.below(20))
    const digits = part.length.toString(16).padStart(1 + random.below(3), '0')
    const size = random.chance(0.5) ? digits.toUpperCase() : digits
    sent += `${size}${random.chance(0.2) ? random.pick([';a', ';a=b', ';a="; b"', ';a;b=1']) : ''}\r\n${part}\r\n`
    at += part.length
  }
  const trailer = random.chance(0.3) ? `X-Trailer: ${text(random, 'ab ', 5)}\r\n` : ''
  return `${sent}0\r\n${trailer}\r\n`
}

function request(random: RandomSource, i: number): string {
  const method = random.pick(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
  const target = `/${i}${text(random, 'ab/%2e?&=#;', 12)}`
  const lines = [`${method} ${target} HTTP/1.1`, `${random.pick(['Host', 'host', 'HOST'])}: x`]
  for (let n = random.below(4); n > 0; n--)
    lines.push(
      `x-${n}${text(random, "aZ9!#$&'*+.^_`|~-", 5)}:${text(random, ' \t', 2)}${text(random, 'a:, \u00e9"', 9)}`,
    )
  if (random.chance(0.1)) lines.push('Connection: keep-alive')
  const body = random.chance(0.5) ? text(random, 'ab\r\n0 :GET /', 200) : ''
  if (body === '' && random.chance(0.5)) return [...lines, '', ''].join('\r\n')
  if (random.chance(0.5)) return [...lines, `Content-Length: ${body.length}`, '', body].join('\r\n')
  return [
    ...lines,
    `${random.pick(['Transfer-Encoding', 'transfer-encoding'])}: chunked`,
    '',
    chunks(random, body),
  ].join('\r\n')
}

const bytes = [
  '\r',
  '\n',
  '\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '\x7f',
  '\x80',
  '0',
  '1',
  'a',
  '\x0b',
  '-',
  '+',
  '\r\n\r\n',
]
const lines = [
  ...['Content-Length: 3\r\n', 'Content-Length:\r\n', 'Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip\r\n'],
  ...['Host: y\r\n', ' folded\r\n', 'no colon\r\n', 'a b: c\r\n', 'Expect: 100-continue\r\n', 'Connection: close\r\n'],
]

function damaged(random: RandomSource, sent: string): string {
  let result = sent
  for (let n = 1 + random.below(3); n > 0; n--) {
    const at = random.below(result.length)
    const ends = random.chance(0.3) ? result.indexOf('\r\n', at) + 2 : at
    const length = random.pick([0, 0, 1, 1, 2, 10])
    const put = random.chance(0.15) ? '' : random.chance(0.3) ? random.pick(lines) : random.pick(bytes)
    result = `${result.slice(0, ends)}${put}${result.slice(ends + length)}`
  }
  return result
}

function inPieces(random: RandomSource, sent: string): Buffer[] {
  const all = Buffer.from(sent, 'latin1')
  const most = random.pick([1, 3, 20, 100, 100_000])
  const pieces: Buffer[] = []
  // Send only the first bytes individually, to save time.
  for (let at = 0; at < all.length; ) {
    const size = pieces.length > 60 ? all.length : 1 + random.below(most)
    pieces.push(all.subarray(at, at + size))
    at += size
  }
  return pieces
}

test('random bytes that resemble HTTP/1.1 requests are rejected or parsed in the same way as by Node', {
  timeout: 3_600_000,
}, async (t) => {
  const own = await ourReader(t)
  const node = await nodeReader(t)
  const random = seeded(seed)
  const counts = { streams: 0, requests: 0, 'stopped earlier than Node': 0 }
  const tryOne = async () => {
    const requests = Array.from({ length: 1 + random.below(4) }, (_, i) => request(random, i))
    const isSound = random.chance(0.3)
    const sent = `${isSound ? requests.join('') : damaged(random, requests.join(''))}GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
    const [here, again, there] = await Promise.all([
      readBy(own, inPieces(random, sent)),
      readBy(own, inPieces(random, sent)),
      readBy(node, inPieces(random, sent)),
    ])
    const shown = JSON.stringify(sent)
    assert.deepEqual(again, here, `in other pieces: ${shown}`)
    // This server's parser accepts methods that Node.js does not know. Later steps reject them.
    const unknown = here.findIndex(({ method }) => !METHODS.includes(method))
    const common = unknown < 0 ? here : here.slice(0, unknown)
    assert.deepEqual(common, there.slice(0, common.length), shown)
    if (isSound) assert.equal(here.length, requests.length + 1, shown)
    counts.streams++
    counts.requests += here.length
    if (here.length < there.length) counts['stopped earlier than Node']++
  }
  const end = rounds(8, 1000)
  for (let i = 0; i < end; i++) await Promise.all(Array.from({ length: 20 }, tryOne))
  tell('HTTP/1.1', counts)
})

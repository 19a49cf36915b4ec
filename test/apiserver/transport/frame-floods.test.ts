/**
 * Tests HTTP/2 frames that do not belong to a request, from an unauthenticated client. A megabyte of such frames costs
 * the server little, because the connection has a budget for them and is closed with ENHANCE_YOUR_CALM. Server and
 * client run in this process, whose CPU time is measured.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import type { ServerTransport } from '../../../src/apiserver/transport/server-transport.ts'
import { errorCodes } from '../../../src/wire/http2/frames.ts'
import { assertBelow } from '../../support/effort.ts'
import { endHeaders, endStream, frame, headerBlock, number, plainHeaders, preface } from '../../support/http2-frames.ts'
import { listen, open } from '../../support/listener.ts'

const floodBytes = 1024 * 1024
/** CPU time of server and client together. The client alone takes about 5 ms. */
const maxCpuMs = 60
const maxStreams = 250

type MakeFrame = (i: number) => Buffer

const nothing = Buffer.alloc(8)
const longAnswerHeaders = headerBlock({ ':method': 'GET', ':scheme': 'https', ':authority': 'x', ':path': '/long' })
const longAnswer = Buffer.alloc(1024 * 1024)
const window = (value: number) => Buffer.concat([Buffer.from([0, 4]), number(value)])
const manyWindows = Buffer.concat(Array.from({ length: 2_730 }, (_, i) => window(1000 + (i % 2))))
const unknownType = Buffer.from([0, 0, 0, 0x20, 0, 0, 0, 0, 0])
/** As many open requests as the server allows. */
const heldStreams = Array.from({ length: maxStreams }, (_, i) => frame('headers', endHeaders, 2 * i + 1, plainHeaders))
const nextStream = (i: number) => 2 * (maxStreams + i) + 1

const floods: { readonly [name: string]: { readonly before?: readonly Buffer[]; readonly make: MakeFrame } } = {
  'settings with thousands of windows': { before: heldStreams, make: () => frame('settings', 0, 0, manyWindows) },
  'settings with one window': { before: heldStreams, make: (i) => frame('settings', 0, 0, window(i % 2)) },
  'empty settings': { make: () => frame('settings', 0, 0) },
  'acknowledged settings': { make: () => frame('settings', 1, 0) },
  pings: { make: () => frame('ping', 0, 0, nothing) },
  'unsolicited ping responses': { make: () => frame('ping', 1, 0, nothing) },
  'requests above the stream limit': {
    before: heldStreams,
    make: (i) => frame('headers', endHeaders | endStream, nextStream(i), plainHeaders),
  },
  'trailers for a closed stream': {
    before: [frame('headers', endHeaders | endStream, 1, plainHeaders), frame('reset', 0, 1, number(8))],
    make: () => frame('headers', endHeaders | endStream, 1, plainHeaders),
  },
  priorities: { make: (i) => frame('priority', 0, 2 * i + 1, Buffer.concat([number(0), Buffer.from([1])])) },
  'one-byte window updates': {
    before: heldStreams,
    make: (i) => frame('window', 0, 2 * (i % maxStreams) + 1, number(1)),
  },
  'window updates that each release one byte': {
    before: [frame('settings', 0, 0, window(0)), frame('headers', endHeaders | endStream, 1, longAnswerHeaders)],
    make: () => frame('window', 0, 1, number(1)),
  },
  'empty DATA frames': { before: heldStreams, make: () => frame('data', 0, 1) },
  'data for a closed stream': {
    before: [frame('headers', endHeaders, 1, plainHeaders), frame('reset', 0, 1, number(8))],
    make: () => frame('data', 0, 1, Buffer.from('x')),
  },
  'headers in one-byte fragments': {
    make: (i) => (i === 0 ? frame('headers', endStream, 1) : frame('continuation', 0, 1, plainHeaders.subarray(0, 1))),
  },
  'frames of unknown type': { make: () => unknownType },
  farewells: { make: () => frame('goaway', 0, 0, nothing) },
}

for (const [name, { before = [], make }] of Object.entries(floods))
  test(`a megabyte of ${name} costs little CPU time`, { timeout: 300_000 }, async (t) => {
    const port = await listen(t, { onRequest: hold })
    const bytes = floodOf(make)
    const cpuMs = await assertBelow(maxCpuMs, 'ms of processor time', async () => {
      const socket = await open(port, 'h2')
      socket.write(Buffer.concat([preface, ...before]))
      await turns()
      const start = process.cpuUsage()
      const last = await flood(socket, bytes)
      const { user, system } = process.cpuUsage(start)
      assert.equal(last, errorCodes.excess, 'the connection is closed with ENHANCE_YOUR_CALM')
      return (user + system) / 1000
    })
    t.diagnostic(`${Math.round(cpuMs)} ms of processor time`)
  })

const overflows: { readonly [name: string]: Buffer } = {
  'the window of a stream': frame('window', 0, 1, number(2 ** 31 - 1)),
  'the window of the connection': frame('window', 0, 0, number(2 ** 31 - 1)),
  'the initial window, with one stream already enlarged': Buffer.concat([
    frame('window', 0, 1, number(1000)),
    frame('settings', 0, 0, window(2 ** 31 - 1)),
  ]),
}

for (const [name, bytes] of Object.entries(overflows))
  test(`a client that increases ${name} above 2^31-1 is disconnected`, { timeout: 300_000 }, async (t) => {
    const socket = await open(await listen(t, { onRequest: hold }), 'h2')
    const begin = Buffer.concat([preface, frame('headers', endHeaders, 1, plainHeaders)])
    assert.equal(await flood(socket, Buffer.concat([begin, bytes])), errorCodes.flowControl)
  })

test('a client that acknowledges every kilobyte of a large download is not disconnected', {
  timeout: 300_000,
}, async (t) => {
  const size = 8 * 1024 * 1024
  const port = await listen(t, {
    onRequest: (transport) => transport.send(200, ['content-length', String(size)], Buffer.alloc(size), false),
  })
  const socket = await open(port, 'h2')
  t.after(() => socket.destroy())
  let received = 0
  let acknowledgedBytes = 0
  const isOver = new Promise<void>((resolve) => {
    socket.on('close', resolve)
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length
      const updates: Buffer[] = []
      for (; acknowledgedBytes + 1024 <= received; acknowledgedBytes += 1024)
        updates.push(frame('window', 0, 0, number(1024)), frame('window', 0, 1, number(1024)))
      socket.write(Buffer.concat(updates))
      if (received >= size) resolve()
    })
  })
  socket.write(Buffer.concat([preface, frame('headers', endHeaders | endStream, 1, plainHeaders)]))
  await isOver
  assert.ok(received >= size, `${received} bytes were received`)
})

/** Handles a request without ending the response, so that the stream stays open. */
function hold(transport: ServerTransport): void {
  if (transport.target === '/long') transport.send(200, [], longAnswer, false)
}

function floodOf(make: MakeFrame): Buffer {
  const frames: Buffer[] = []
  for (let size = 0; size < floodBytes; size += frames.at(-1)!.length) frames.push(make(frames.length))
  return Buffer.concat(frames)
}

/**
 * Sends the bytes. Returns the code of the GOAWAY that ends the connection, or undefined if the server still answers
 * pings.
 */
function flood(socket: TLSSocket, bytes: Buffer): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const answer = frame('ping', 1, 0, Buffer.alloc(8, 'p'))
  let text = ''
  socket.on('error', () => socket.destroy())
  socket.on('close', () => resolve(goAwayCode(text)))
  socket.on('data', (chunk: Buffer) => {
    // Keep only the last bytes, because the test needs only the ping response or the GOAWAY at the end.
    text = (text + chunk.toString('latin1')).slice(-2 * chunk.length - 100)
    if (text.includes(answer.toString('latin1'))) resolve(undefined)
    else if (goAwayCode(text) !== undefined) resolve(goAwayCode(text))
  })
  socket.write(bytes)
  socket.write(frame('ping', 0, 0, Buffer.alloc(8, 'p')))
  return promise.finally(() => socket.destroy())
}

function goAwayCode(text: string): number | undefined {
  const bytes = Buffer.from(text, 'latin1')
  const at = bytes.lastIndexOf(Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0]))
  return at < 0 || bytes.length < at + 17 ? undefined : bytes.readUInt32BE(at + 13)
}

async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}

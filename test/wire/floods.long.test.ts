/**
 * Tests exec and port-forward clients that flood their connection. The server must not buffer more than a few replies
 * to a client that never reads. Frames for unknown streams, and frames with a single byte each, must not use up memory.
 * The tests limit bytes and CPU time.
 */
import assert from 'node:assert/strict'
import { type Duplex, duplexPair } from 'node:stream'
import { test } from 'node:test'
import { forwardPorts } from '../../src/wire/streaming/forwarding.ts'
import { SpdyConnection } from '../../src/wire/streaming/spdy/connection.ts'
import { ChannelConnection } from '../../src/wire/streaming/websocket/channels.ts'
import { assertBelow } from '../support/effort.ts'
import { heapInUse } from '../support/heap.ts'
import { number, SpdyClient } from '../support/spdy-client.ts'
import { soon } from '../support/until.ts'

/**
 * Maximum number of bytes that may wait for a client that does not read, and maximum growth of the heap from causes
 * other than the flood.
 */
const maxWaiting = 256 * 1024
const noise = 1024 * 1024
const idleMs = 600_000

const control = (type: number, ...values: readonly number[]) =>
  Buffer.concat([Buffer.from([0x80, 3, 0, type]), number(4 * values.length), ...values.map(number)])
const ping = (id: number) => control(6, id)
const window = (id: number) => control(9, id, 1)
const data = (id: number) => Buffer.concat([number(id), number(1), Buffer.from('x')])

function connectSpdy() {
  const [near, far] = duplexPair()
  const connection = new SpdyConnection(near, { idleMs, onStream: () => {} })
  return { connection, near, far }
}

test('SPDY: pings from a client that never reads are answered only while the buffer has space', {
  timeout: 300_000,
}, async (t) => {
  const { connection, near, far } = connectSpdy()
  t.after(() => connection.destroy())
  await flood(far, 100_000, ping)
  assert.ok(near.writableLength < maxWaiting, `${near.writableLength} bytes wait`)
})

for (const [name, make] of Object.entries({ WINDOW_UPDATEs: window, 'DATA frames': data }))
  test(`SPDY: ${name} for unknown streams use no memory`, { timeout: 300_000 }, async (t) => {
    const { connection, far } = connectSpdy()
    t.after(() => connection.destroy())
    far.resume()
    await flood(far, 1_000, make)
    const before = await heapInUse()
    await flood(far, 50_000, (i) => make(2 * i + 1))
    const used = (await heapInUse()) - before
    t.diagnostic(`${Math.round(used / 1024)} KiB`)
    assert.ok(used < noise, `${used} bytes are held`)
  })

test('SPDY: data frames with a single byte do not retain their chunks', { timeout: 300_000 }, async (t) => {
  const { connection, far } = connectSpdy()
  t.after(() => connection.destroy())
  const client = new SpdyClient(far)
  client.open({ streamtype: 'data' })
  await turns(5)
  const before = await heapInUse()
  // The rest of each chunk is data for a stream that does not exist.
  const filler = Buffer.concat([number(999), number(15_000), Buffer.alloc(15_000)])
  await flood(far, 1_000, () => Buffer.concat([data(1), filler]))
  const used = (await heapInUse()) - before
  t.diagnostic(`${Math.round(used / 1024)} KiB`)
  assert.ok(used < noise, `${used} bytes are held`)
})

test('SPDY: a control frame that arrives byte by byte costs little CPU time', { timeout: 300_000 }, async (t) => {
  const cpuMs = await assertBelow(600, 'ms of processor time', async () => {
    const { connection, far } = connectSpdy()
    const bytes = Buffer.concat([Buffer.from([0x80, 3, 0, 4]), number(60_000), number(0), Buffer.alloc(59_996)])
    const used = await cpuOf(() => flood(far, bytes.length, (i) => bytes.subarray(i, i + 1)))
    connection.destroy()
    return used
  })
  t.diagnostic(`${Math.round(cpuMs)} ms`)
})

test('port-forward over SPDY: reset streams are removed', {
  timeout: 300_000,
}, async (t) => {
  const [near, far] = duplexPair()
  const over = forwardPorts({
    socket: near,
    protocol: { over: 'spdy', name: '', headers: [] },
    ports: [],
    idleMs,
    openMs: 600_000,
    connect: async () => {},
  })
  t.after(async () => {
    near.destroy()
    await over
  })
  const client = new SpdyClient(far)
  const openAndReset = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const id = client.open({ streamtype: 'error', port: '80', requestid: `${i}` })
      client.control(3, Buffer.concat([number(id), number(5)]))
      client.streams.clear()
      if (i % 100 === 0) await turns(5)
    }
    await turns(20)
  }
  await openAndReset(200)
  const before = await heapInUse()
  await openAndReset(1_000)
  const used = (await heapInUse()) - before
  t.diagnostic(`${Math.round(used / 1024)} KiB`)
  assert.ok(used < noise, `${used} bytes are held`)
})

const mask = Buffer.from([1, 2, 3, 4])

/** Encodes a WebSocket frame with a mask, as clients do. */
function frame(opcode: number, payload: Buffer, isFinal = true): Buffer {
  const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff]
  const head = Buffer.from([(isFinal ? 0x80 : 0) | opcode, length[0]! | 0x80, ...length.slice(1)])
  return Buffer.concat([head, mask, payload.map((byte, i) => byte ^ mask[i & 3]!)])
}

async function connectWebSocket() {
  const [near, far] = duplexPair()
  const options = { count: 2, isBase64: false, canClose: false, idleMs }
  return { connection: await ChannelConnection.open(near, options), near, far }
}

test('WebSocket: pings from a client that never reads are answered only while the buffer has space', {
  timeout: 300_000,
}, async (t) => {
  const { connection, near, far } = await connectWebSocket()
  t.after(() => connection.destroy())
  await flood(far, 20_000, () => frame(9, Buffer.alloc(125)))
  assert.ok(near.writableLength < maxWaiting, `${near.writableLength} bytes wait`)
})

test('WebSocket: a message that arrives byte by byte costs little CPU time', { timeout: 300_000 }, async (t) => {
  const cpuMs = await assertBelow(600, 'ms of processor time', async () => {
    const { connection, far } = await connectWebSocket()
    connection.streams[0]!.resume()
    const bytes = frame(2, Buffer.alloc(60_000))
    const used = await cpuOf(() => flood(far, bytes.length, (i) => bytes.subarray(i, i + 1)))
    connection.destroy()
    return used
  })
  t.diagnostic(`${Math.round(cpuMs)} ms`)
})

test('WebSocket: messages with a single byte do not retain their chunks', { timeout: 300_000 }, async (t) => {
  const { connection, far } = await connectWebSocket()
  t.after(() => connection.destroy())
  far.resume()
  const before = await heapInUse()
  // The rest of each chunk is data for a channel that does not exist.
  const filler = frame(2, Buffer.alloc(15_000, 9))
  const message = frame(2, Buffer.from([0, 1]))
  await flood(far, 1_000, () => Buffer.concat([message, filler]))
  const used = (await heapInUse()) - before
  t.diagnostic(`${Math.round(used / 1024)} KiB`)
  assert.equal(connection.streams[0]!.destroyed, false)
  assert.ok(used < noise, `${used} bytes are held`)
})

test('WebSocket: a message that consists of too many frames closes the connection', { timeout: 300_000 }, async () => {
  const { connection, far } = await connectWebSocket()
  let received = Buffer.alloc(0)
  far.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])))
  far.write(frame(2, Buffer.from([0]), false))
  for (let i = 0; i < 2_000; i++) far.write(frame(0, Buffer.from([1]), false))
  await connection.closed
  await soon(() => received.length >= 4)
  assert.equal(received[0], 0x88)
})

/** Writes chunks as fast as the server reads them, and waits until the server has processed all of them. */
async function flood(far: Duplex, count: number, make: (i: number) => Buffer): Promise<void> {
  for (let i = 0; i < count; i++) {
    const isTaken = far.write(make(i))
    if (isTaken || far.destroyed) continue
    for (let turn = 0; far.writableNeedDrain && turn < 50; turn++) await turns(1)
    if (far.writableNeedDrain) return
  }
  await turns(20)
}

async function cpuOf(run: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Tests WebSocket channels: messages in one or more frames, base64, closing, and malformed input. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { agreeOnProtocol } from '../../src/wire/streaming/handshake.ts'
import { ChannelConnection, type ChannelOptions } from '../../src/wire/streaming/websocket/channels.ts'
import { soon } from '../support/until.ts'

const usual: ChannelOptions = { count: 3, isBase64: false, canClose: false, idleMs: 60_000 }
const mask = Buffer.from([1, 2, 3, 4])

/** Encodes a frame with a mask, as clients do. */
function frame(opcode: number, data: string | Buffer, { isFinal = true, isMasked = true } = {}): Buffer {
  const bytes = Buffer.from(data)
  const length = bytes.length < 126 ? [bytes.length] : [126, bytes.length >> 8, bytes.length & 0xff]
  const head = Buffer.from([(isFinal ? 0x80 : 0) | opcode, length[0]! | (isMasked ? 0x80 : 0), ...length.slice(1)])
  return isMasked
    ? Buffer.concat([head, mask, bytes.map((byte, i) => byte ^ mask[i & 3]!)])
    : Buffer.concat([head, bytes])
}

async function connect(options: Partial<ChannelOptions> = {}) {
  const [near, far] = duplexPair()
  const received = { bytes: Buffer.alloc(0) }
  far.on('data', (chunk: Buffer) => (received.bytes = Buffer.concat([received.bytes, chunk])))
  return { connection: await ChannelConnection.open(near, { ...usual, ...options }), far, received }
}

test('the first byte of a WebSocket message selects the channel, even if the message is fragmented', async () => {
  const { connection, far, received } = await connect()
  far.write(frame(2, '\u0000one '))
  far.write(frame(2, '\u0000tw', { isFinal: false }))
  far.write(frame(9, 'ping'))
  far.write(frame(0, 'o ', { isFinal: false }))
  far.write(frame(0, 'parts'))
  far.write(frame(2, `\u0001${'x'.repeat(300)}`))
  far.write(frame(2, '\u0009to nobody'))
  const [zero, one] = connection.streams
  let text = ''
  zero!.on('data', (chunk: Buffer) => (text += chunk))
  await soon(() => text === 'one two parts' && one!.waitingBytes === 300)
  assert.ok(received.bytes.equals(Buffer.from('\u008a\u0004ping', 'latin1')))
  far.write(frame(8, Buffer.from([3, 0xe8])))
  await connection.closed
  assert.ok(received.bytes.subarray(6).equals(Buffer.from([0x88, 2, 3, 0xe8])))
})

test('a WebSocket message may arrive byte by byte', async () => {
  const { connection, far } = await connect()
  for (const byte of frame(2, `\u0000${'y'.repeat(200)}`)) far.write(Buffer.from([byte]))
  await soon(() => connection.streams[0]!.waitingBytes === 200)
  connection.destroy()
  await connection.closed
})

test('outgoing WebSocket messages have a channel number and a limited frame size, and base64 data is sent as text', async () => {
  const { connection, received } = await connect()
  connection.announce(1)
  connection.streams[2]!.write('z'.repeat(40_000))
  await soon(() => received.bytes.length > 40_000)
  assert.deepEqual([...received.bytes.subarray(0, 8)], [0x82, 1, 1, 0x82, 126, 0x80, 0x01, 2])
  connection.destroy()
  const text = await connect({ isBase64: true })
  text.connection.streams[1]!.write('hi')
  text.far.write(frame(1, `0${Buffer.from('there').toString('base64')}`))
  await soon(() => text.connection.streams[0]!.waitingBytes === 5 && text.received.bytes.length > 0)
  assert.equal(text.received.bytes.toString(), '\u{fffd}\u00051aGk=')
  text.connection.destroy()
})

test('a WebSocket channel can be closed if the protocol version supports closing', async () => {
  const { connection, far } = await connect({ canClose: true })
  far.write(frame(2, Buffer.from([0, 0x61])))
  far.write(frame(2, Buffer.from([255, 0])))
  const [stdin] = connection.streams
  stdin!.resume()
  await once(stdin!, 'end')
  connection.destroy()
})

test('a slow reader of a WebSocket slows down the client', async () => {
  const { connection, far } = await connect()
  for (let i = 0; i < 40; i++) far.write(frame(2, Buffer.alloc(50_001)))
  const [stream] = connection.streams
  await soon(() => stream!.waitingBytes > 100_000)
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  assert.ok(stream!.waitingBytes < 300_000)
  let size = 0
  stream!.on('data', (chunk: Buffer) => (size += chunk.length))
  await soon(() => size === 2_000_000)
  connection.destroy()
})

test('a violation of the WebSocket protocol closes the connection with a reason', async () => {
  const huge = Buffer.concat([Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0xff, 0, 0, 0]), mask])
  const rows: readonly (readonly [Buffer, number])[] = [
    [frame(2, 'x', { isMasked: false }), 1002],
    [Buffer.from([0xc2, 0x80]), 1002],
    [frame(0, 'nothing to go on with'), 1002],
    [Buffer.concat([frame(2, 'a', { isFinal: false }), frame(2, 'b')]), 1002],
    [frame(9, 'x', { isFinal: false }), 1002],
    [frame(3, 'reserved'), 1002],
    [huge, 1009],
  ]
  for (const [bytes, code] of rows) {
    const { connection, far, received } = await connect()
    far.write(bytes)
    await connection.closed
    await soon(() => received.bytes.length === 4)
    assert.deepEqual([...received.bytes], [0x88, 2, code >> 8, code & 0xff], bytes.toString('hex'))
  }
})

test('the WebSocket handshake selects a subprotocol that both sides support', () => {
  const spoken = { spdy: ['v4', 'v3'], websocket: ['v4', 'b64'] }
  const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' }
  const agreed = agreeOnProtocol({ upgrade: 'WebSocket', ...key, 'sec-websocket-protocol': 'x, b64, v4' }, spoken)
  assert.deepEqual(agreed, {
    over: 'websocket',
    name: 'b64',
    headers: [
      ...['Connection', 'Upgrade', 'Upgrade', 'websocket'],
      ...['Sec-WebSocket-Accept', 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=', 'Sec-WebSocket-Protocol', 'b64'],
    ],
  })
  const refusals = [
    [{ upgrade: 'websocket', ...key, 'sec-websocket-protocol': 'x' }, 400],
    [{ upgrade: 'websocket', 'sec-websocket-key': 'short', 'sec-websocket-version': '13' }, 400],
    [{ upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v9, v8' }, 403],
    [{ upgrade: 'h2c' }, 400],
    [{}, 400],
  ] as const
  for (const [headers, status] of refusals) {
    const answer = agreeOnProtocol(headers, spoken)
    assert.ok('status' in answer && answer.status === status, JSON.stringify(headers))
  }
  const spdy = agreeOnProtocol({ upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v9, v3, v4' }, spoken)
  assert.ok('name' in spdy && spdy.name === 'v3')
})

/** Tests SPDY/3.1: streams in both directions, half-closed streams, windows, back-pressure and malformed input. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { constants, deflateRawSync, inflateSync } from 'node:zlib'
import type { MultiplexedStream } from '../../src/wire/streaming/multiplexed-stream.ts'
import { type OpenedStream, SpdyConnection } from '../../src/wire/streaming/spdy/connection.ts'
import { dictionary } from '../../src/wire/streaming/spdy/dictionary.ts'
import { HeaderDecoder, HeaderEncoder } from '../../src/wire/streaming/spdy/header-blocks.ts'
import { headersOf, number, SpdyClient } from '../support/spdy-client.ts'
import { soon } from '../support/until.ts'

function connect(onStream?: (opened: OpenedStream) => void) {
  const [near, far] = duplexPair()
  const opened: OpenedStream[] = []
  const keep = (stream: OpenedStream) => void opened.push(stream)
  const connection = new SpdyConnection(near, { onStream: onStream ?? keep, idleMs: 60_000 })
  return { connection, client: new SpdyClient(far), opened }
}

/** Reads a stream to its end. A for-await loop would destroy the stream, including its writable side. */
async function textOf(stream: MultiplexedStream): Promise<string> {
  let text = ''
  stream.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  await once(stream, 'end')
  return text
}

test('SPDY streams transfer headers and data in both directions, and each direction is closed separately', async () => {
  const { connection, client, opened } = connect()
  const one = client.open({ streamtype: 'stdin', port: '80' })
  const two = client.open({ streamtype: 'error' })
  client.send(one, 'hello')
  client.end(one)
  await soon(() => opened.length === 2)
  assert.deepEqual(
    [...opened[0]!.headers],
    [
      ['streamtype', 'stdin'],
      ['port', '80'],
    ],
  )
  assert.equal(opened[1]!.headers.get('streamtype'), 'error')
  assert.equal(await textOf(opened[0]!.stream), 'hello')
  opened[0]!.stream.end('and back')
  assert.equal(await client.ended(one), 'and back')
  opened[1]!.stream.write('still open')
  await soon(() => client.streams.get(two)!.text === 'still open')
  assert.ok(client.streams.get(one)!.isReplied && client.streams.get(two)!.isReplied)
  client.close()
  await connection.closed
  assert.ok(opened[1]!.stream.destroyed)
})

test('the header blocks of hundreds of SPDY streams share one compression context', async () => {
  const { connection, client } = connect(({ headers, stream }) => {
    stream.resume()
    stream.end(headers.get('requestid')!)
  })
  for (let i = 0; i < 500; i++) {
    const id = client.open({ streamtype: 'data', requestid: `${i} ${'x'.repeat(i)}` })
    client.end(id)
    assert.ok((await client.ended(id)).startsWith(`${i} x`) || i === 0)
  }
  client.close()
  await connection.closed
})

test('SPDY header blocks from the encoder can be read by the decoder and by zlib', () => {
  const encoder = new HeaderEncoder()
  const blocks = [encoder.encode(), encoder.encode({ streamtype: 'stdin', port: '80' }), encoder.encode()]
  const text = inflateSync(Buffer.concat(blocks), { finishFlush: constants.Z_SYNC_FLUSH, dictionary })
  const headers = headersOf({ streamtype: 'stdin', port: '80' })
  assert.deepEqual(text, Buffer.concat([Buffer.alloc(4), headers, Buffer.alloc(4)]))
  const decoder = new HeaderDecoder()
  assert.deepEqual(
    blocks.map((block) => Object.fromEntries(decoder.decode(block))),
    [{}, { streamtype: 'stdin', port: '80' }, {}],
  )
})

test('SPDY pings are answered, a reset closes the stream, and no stream can be opened after the connection has ended', async () => {
  const { connection, client, opened } = connect()
  client.control(6, number(7))
  const id = client.open({ a: 'b' })
  await soon(() => opened.length === 1)
  client.control(3, Buffer.concat([number(id), number(5)]))
  await soon(() => opened[0]!.stream.destroyed)
  assert.deepEqual(client.pings, [7])
  const ending = connection.end()
  await soon(() => client.hasGoneAway)
  const late = client.open({ a: 'c' })
  await soon(() => client.streams.get(late)!.isReset)
  client.close()
  await ending
  assert.equal(opened.length, 1)
})

test('a slow reader of a SPDY stream slows down the client, and bytes that were read are acknowledged', async () => {
  const { connection, client, opened } = connect()
  const id = client.open({})
  const sent = 2 * 1024 * 1024
  for (let i = 0; i < sent; i += 16_384) client.send(id, Buffer.alloc(16_384))
  await soon(() => opened.length === 1)
  const { stream } = opened[0]!
  await soon(() => stream.waitingBytes > 100_000)
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
  assert.ok(stream.waitingBytes < 300_000, `${stream.waitingBytes} bytes wait`)
  client.end(id)
  assert.equal((await textOf(stream)).length, sent)
  await soon(() => (client.windows.get(0) ?? 0) > sent - 64 * 1024)
  connection.destroy()
  await connection.closed
})

test('SPDY flow control windows are enforced once the client has announced them', async () => {
  const { connection, client, opened } = connect()
  const id = client.open({})
  client.control(4, Buffer.concat([number(1), number(7), number(1000)]))
  await soon(() => opened.length === 1)
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
  opened[0]!.stream.end('x'.repeat(2500))
  const { streams } = client
  await soon(() => streams.get(id)!.text.length === 1000)
  client.window(id, 700)
  await soon(() => streams.get(id)!.text.length === 1700)
  client.window(id, 5000)
  assert.equal((await client.ended(id)).length, 2500)
  connection.destroy()
  await connection.closed
})

test('a SPDY stream whose flow control window is exhausted ends when its connection ends', async () => {
  const { connection, client, opened } = connect()
  client.open({})
  client.control(4, Buffer.concat([number(1), number(7), number(10)]))
  await soon(() => opened.length === 1)
  const written = new Promise<void>((resolve) => opened[0]!.stream.write('x'.repeat(100), () => resolve()))
  connection.destroy()
  await connection.closed
  await written
})

const bomb = deflateRawSync(Buffer.alloc(1_000_000), { dictionary, finishFlush: constants.Z_SYNC_FLUSH })
const head = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2])

test('malformed or excessive SPDY frames close only their own connection', async () => {
  const openOf = (block: Buffer) => Buffer.concat([number(1), number(0), Buffer.from([0, 0]), block])
  const faults: readonly ((client: SpdyClient) => void)[] = [
    (client) => client.raw(Buffer.from('GET / HTTP/1.1\r\n\r\n')),
    (client) => client.raw(Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1])),
    (client) => client.raw(Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff])),
    (client) => client.control(1, openOf(Buffer.concat([head, bomb]))),
    (client) => client.control(1, openOf(Buffer.from('not compressed'))),
    (client) => client.control(1, number(1)),
    (client) => client.control(9, number(1)),
    (client) => client.openAs(2, {}),
    (client) => {
      client.openAs(5, {})
      client.openAs(3, {})
    },
    (client) => client.openAs(1, Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`h${i}`, 'v']))),
  ]
  for (const [i, fault] of faults.entries()) {
    const { connection, client } = connect()
    fault(client)
    if (i === 0) client.close()
    await connection.closed
    await soon(() => client.isClosed)
  }
})

test('a SPDY header block that is shorter than its declared length is rejected', () => {
  const cut = headersOf({ name: 'value' }).subarray(0, -2)
  const block = deflateRawSync(cut, { dictionary, finishFlush: constants.Z_SYNC_FLUSH })
  assert.throws(() => new HeaderDecoder().decode(Buffer.concat([head, block])), /truncated/)
})

test('the number of SPDY streams is limited, and rejecting a stream does not affect other streams', async () => {
  const held: MultiplexedStream[] = []
  const { connection, client } = connect(({ headers, stream }) => {
    if (headers.get('a') === 'unwanted') throw new Error('nobody wants it')
    held.push(stream)
  })
  const unwanted = client.open({ a: 'unwanted' })
  await soon(() => client.streams.get(unwanted)!.isReset)
  let last = 0
  for (let i = 0; i < 1001; i++) last = client.open({})
  await soon(() => client.streams.get(last)!.isReset)
  assert.equal(held.length, 1000)
  client.close()
  await connection.closed
  assert.ok(held.every((stream) => stream.destroyed))
})

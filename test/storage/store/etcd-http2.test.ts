/**
 * Tests the HTTP/2 client for etcd, with Node's implementation as the server, and with a peer that sends individual
 * frames, many of which are invalid.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as http2 from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { CallError, seal } from '../../../src/storage/store/etcd/grpc.ts'
import { methods } from '../../../src/storage/store/etcd/messages.ts'
import { Session } from '../../../src/storage/store/etcd/session.ts'
import { rounds, seed, tell } from '../../fuzz/scale.ts'
import { endHeaders, endStream, frame, headerBlock, number } from '../../support/http2-frames.ts'
import { soon } from '../../support/until.ts'
import { seeded } from './random-source.ts'

const grpc = { ':status': 200, 'content-type': 'application/grpc' } as const
const minute = 60_000
const message = (size: number, fill = 'x') => seal(Buffer.alloc(5 + size, fill))

async function withSession<T>(server: Server | http2.Http2Server, work: (session: Session) => Promise<T>): Promise<T> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const { signal } = new AbortController()
  try {
    const session = await Session.open({ endpoint, tls: undefined, connectMs: 10_000, signal })
    return await work(session).finally(() => session.destroy())
  } finally {
    server.close()
  }
}

const call = (session: Session, request = message(10), ms = 20_000) =>
  session.call(methods.range, request, performance.now() + ms)

async function failureOf(promise: Promise<unknown>): Promise<CallError> {
  const error = await promise.then(
    () => assert.fail('the call was answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof CallError)
  return error
}

describe("etcd's HTTP/2 client with a Node server", { timeout: 60_000 }, () => {
  /** Creates a server that echoes requests. */
  function echo(settings: http2.Settings): http2.Http2Server {
    const server = http2.createServer({ settings })
    server.on('stream', async (stream: http2.ServerHttp2Stream) => {
      const body = Buffer.concat(await stream.toArray())
      stream.respond(grpc, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.end(body)
    })
    return server
  }

  const narrow = { initialWindowSize: 1_000, maxConcurrentStreams: 3 }
  for (const settings of [{}, narrow, { maxFrameSize: 1_000_000, initialWindowSize: 5_000_000 }]) {
    it(`the client sends small and large requests concurrently with ${JSON.stringify(settings)}`, async () => {
      await withSession(echo(settings), async (session) => {
        const sizes = [0, 1, 999, 1_000, 16_379, 16_380, 65_530, 65_531, 300_000, 3_000_000]
        const requests = sizes.flatMap((size) => [message(size, 'a'), message(size, 'b')])
        const answers = await Promise.all(requests.map((request) => call(session, request)))
        for (const [i, answer] of answers.entries()) assert.deepEqual(answer, requests[i]!.subarray(5))
      })
    })
  }

  it('the client decodes every string that a header can contain', async () => {
    const visible = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('')
    const texts = [visible.trim(), ...Array.from(visible.trim(), (letter) => letter.repeat(9)), 'a'.repeat(5_000)]
    const server = http2.createServer()
    server.on('stream', (stream: http2.ServerHttp2Stream, headers) => {
      const index = Math.ceil(Number(headers['grpc-timeout']?.slice(0, -1)) / minute) - 1
      stream.respond({ ...grpc, 'grpc-status': 5, 'grpc-message': encodeURIComponent(texts[index]!) })
      stream.end()
    })
    await withSession(server, async (session) => {
      for (const [i, text] of texts.entries()) {
        // The timeout of the request selects the text that the server sends. The unit is minutes, so a brief pause of
        // the machine does not change the selection.
        const error = await failureOf(call(session, message(1), (i + 1) * minute))
        assert.equal(error.code, 5)
        assert.equal(error.message, text)
      }
    })
  })

  it('a stream buffers at most one flow control window for a slow reader and does not delay other calls', async () => {
    const server = http2.createServer()
    let sentCount = 0
    server.on('stream', (stream: http2.ServerHttp2Stream, headers) => {
      stream.on('error', () => {})
      stream.respond(grpc, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      if (headers[':path'] !== methods.watch) {
        stream.end(message(100_000))
        return
      }
      const tell = () => {
        while (sentCount < 400 && stream.write(message(50_000))) sentCount++
        sentCount++
      }
      stream.on('drain', tell)
      tell()
    })
    await withSession(server, async (session) => {
      const messages = session.stream(methods.watch, message(1), new AbortController().signal)
      assert.equal((await messages.next()).value?.length, 50_000)
      for (let i = 0; i < 10; i++) assert.equal((await call(session)).length, 100_000)
      // This number of messages is less than 2 MiB plus Node's own buffers.
      assert.ok(sentCount < 80, `${sentCount} messages were sent ahead`)
      let count = 1
      for await (const next of messages) {
        assert.equal(next.length, 50_000)
        if (++count === 300) break
      }
      assert.ok(sentCount >= 300)
    })
  })
})

describe("etcd's HTTP/2 client with individual frames", { timeout: 60_000 }, () => {
  const hello = frame('settings', 0, 0)
  const ok = frame('headers', endHeaders, 1, headerBlock({ ':status': '200', 'content-type': 'application/grpc' }))
  const data = (text: string) => frame('data', 0, 1, seal(Buffer.from(`.....${text}`)))
  const done = frame('headers', endHeaders | endStream, 1, headerBlock({ 'grpc-status': '0' }))

  /** Starts a peer that sends `greeting` immediately, and `answer` after a request has arrived. */
  function peer(answer: Buffer | ((socket: Socket) => void), greeting = hello): Server {
    return createServer((socket) => {
      socket.on('error', () => {})
      socket.write(greeting)
      let received = Buffer.alloc(0)
      socket.on('data', (chunk: Buffer) => {
        const wasAsked = received.includes('/etcdserverpb.KV/Range')
        received = Buffer.concat([received, chunk])
        if (wasAsked || !received.includes('/etcdserverpb.KV/Range')) return
        if (typeof answer === 'function') answer(socket)
        else socket.end(answer)
      })
    })
  }

  it('a response is parsed in any pieces, with padding, priorities, continued headers and unknown frames', async () => {
    const block = headerBlock({ ':status': '200', 'content-type': 'application/grpc' })
    const padded = Buffer.concat([Buffer.of(4), seal(Buffer.from('.....text')), Buffer.alloc(4)])
    const answer = Buffer.concat([
      frame('ping', 0, 0, Buffer.alloc(8)),
      frame(
        'headers',
        8 | 32,
        1,
        Buffer.concat([Buffer.of(2), Buffer.alloc(5), block.subarray(0, 7), Buffer.alloc(2)]),
      ),
      frame('continuation', 0, 1, block.subarray(7, 7)),
      frame('continuation', endHeaders, 1, block.subarray(7)),
      frame('priority', 0, 1, Buffer.alloc(5)),
      frame('data', 8, 1, padded),
      done,
    ])
    for (const size of [1, 5, answer.length]) {
      const inPieces = (socket: Socket) => {
        for (let at = 0; at < answer.length; at += size) socket.write(answer.subarray(at, at + size))
      }
      await withSession(peer(inPieces), async (session) => assert.equal((await call(session)).toString(), 'text'))
    }
  })

  const goaway = (last: number, code: number) => frame('goaway', 0, 0, Buffer.concat([number(last), number(code)]))
  const reset = (code: number) => frame('reset', 0, 1, number(code))
  const ends: [name: string, bytes: Buffer, expected: RegExp, sent: boolean][] = [
    ['a refused stream', reset(7), /code 7/, false],
    ['a reset', reset(2), /code 2/, true],
    ['GOAWAY before the call', goaway(0, 0), /shutting down the connection/, false],
    ['GOAWAY with an error', goaway(0, 11), /code 11/, false],
    ['GOAWAY after the call', goaway(1, 0), /lost before the response/, true],
    ['silence', Buffer.alloc(0), /lost before the response/, true],
    ['half a response', Buffer.concat([ok, data('text')]), /lost before the response/, true],
    ['a response without a message', Buffer.concat([ok, done]), /lost before the response/, true],
    ['a web page', frame('headers', endHeaders, 1, headerBlock({ ':status': '404' })), /HTTP status 404/, true],
    ['a frame that is too large', Buffer.of(0, 64, 1, 0, 0, 0, 0, 0, 1), /a frame of 16385 bytes/, true],
    ['data of an unknown stream', frame('data', 0, 3, Buffer.from('x')), /unexpected frame on stream 3/, true],
    ['data on the connection', frame('data', 0, 0, Buffer.from('x')), /unexpected frame on stream 0/, true],
    ['a push', frame('headers', 0, 1).fill(5, 3, 4), /server push/, true],
    ['too much padding', frame('data', 8, 1, Buffer.of(9, 1)), /the padding exceeds the frame/, true],
    ['headers in the middle of headers', Buffer.concat([frame('headers', 0, 1), done]), /is not continued/, true],
    ['a continuation without headers', frame('continuation', endHeaders, 1), /without HEADERS/, true],
    [
      'endless headers',
      Buffer.concat([
        frame('headers', 0, 1),
        ...Array.from({ length: 5 }, () => frame('continuation', 0, 1, Buffer.alloc(16_000))),
      ]),
      /a header block exceeds/,
      true,
    ],
    ['a header with an index out of range', frame('headers', endHeaders, 1, Buffer.of(0xbe)), /header index 62/, true],
    [
      'headers for the dynamic table',
      frame('headers', endHeaders, 1, Buffer.of(0x3f, 0xe1, 0x1f)),
      /header table size|table size update/,
      true,
    ],
    ['a truncated header', frame('headers', endHeaders, 1, Buffer.of(0, 5, 97)), /header block is truncated/, true],
    ['an endless length', frame('headers', endHeaders, 1, Buffer.alloc(9, 255)), /a length is too long/, true],
    [
      'a truncated Huffman code',
      frame('headers', endHeaders, 1, Buffer.of(0, 0x81, 0)),
      /Huffman-coded header is truncated/,
      true,
    ],
    [
      'the Huffman end symbol in a string',
      frame('headers', endHeaders, 1, Buffer.of(0, 0x84, 255, 255, 255, 255)),
      /contains EOS/,
      true,
    ],
    ['truncated settings', frame('settings', 0, 0, Buffer.alloc(5)), /settings/, true],
    ['a window increment of zero', frame('window', 0, 0, number(0)), /a window/, true],
    ['a window overflow', frame('window', 0, 0, number(0x7fffffff)), /a window/, true],
    ['a short ping', frame('ping', 0, 0, Buffer.alloc(7)), /a ping/, true],
  ]
  for (const [name, bytes, expected, sent] of ends) {
    it(`a call ends with an error at ${name}`, async () => {
      await withSession(peer(bytes), async (session) => {
        const error = await failureOf(call(session))
        assert.match(error.message, expected)
        assert.equal(error.sent, sent)
      })
    })
  }

  it('a request counts as not sent unless it was sent completely', async () => {
    const cut = peer((socket) => socket.destroy())
    await withSession(cut, async (session) => {
      const error = await failureOf(call(session, message(100_000)))
      assert.equal(error.sent, false)
    })
    await withSession(
      peer(() => {}),
      async (session) => {
        assert.equal((await failureOf(call(session, message(100_000), 50))).sent, false)
        assert.equal((await failureOf(call(session, message(1_000), 50))).sent, false, 'the window is used up')
      },
    )
    await withSession(
      peer(() => {}),
      async (session) => {
        assert.equal((await failureOf(call(session, message(1_000), 50))).sent, true)
      },
    )
  })

  it('the connection is closed if a stream exceeds its flow control window', async () => {
    const large = Buffer.alloc(16_384)
    large.writeUInt32BE(60_000_000, 1)
    const flood = Array.from({ length: 129 }, (_, i) => frame('data', 0, 1, i === 0 ? large : Buffer.alloc(16_384)))
    const server = peer((socket) => socket.write(Buffer.concat([ok, data('text'), ...flood])))
    await withSession(server, async (session) => {
      const messages = session.stream(methods.range, message(1), new AbortController().signal)
      assert.equal((await messages.next()).value?.toString(), 'text')
      await soon(() => session.isClosed)
      assert.match((await failureOf(messages.next())).message, /data exceeds the flow-control window/)
    })
  })

  it('every call ends, whichever bytes of a response are damaged', async () => {
    const random = seeded(seed)
    const sound = Buffer.concat([ok, data('text'), frame('window', 0, 1, number(9)), done])
    const damaged = () => {
      const bytes = Buffer.from(sound)
      for (let i = random.below(4); i >= 0; i--) bytes[random.below(bytes.length)] = random.below(256)
      const at = random.below(bytes.length)
      return random.chance(0.3) ? Buffer.concat([bytes.subarray(0, at), bytes.subarray(random.below(at + 1))]) : bytes
    }
    const counts = { answered: 0, failed: 0 }
    for (let i = rounds(60, 5_000); i > 0; i--) {
      const bytes = damaged()
      const at = random.below(bytes.length)
      const inPieces = (socket: Socket) => {
        socket.write(bytes.subarray(0, at))
        setImmediate(() => socket.end(bytes.subarray(at)))
      }
      await withSession(peer(inPieces), async (session) => {
        const failed = (error: unknown) => {
          assert.ok(error instanceof CallError, `${bytes.toString('hex')}: ${error}`)
          assert.notEqual(error.message, 'etcd sent no response before the deadline', bytes.toString('hex'))
          return undefined
        }
        counts[(await call(session).catch(failed)) ? 'answered' : 'failed']++
      })
    }
    tell('damaged answers of HTTP/2', counts)
  })

  it('after GOAWAY the client starts no new calls and finishes calls in progress', async () => {
    const server = peer((socket) => {
      socket.write(goaway(1, 0))
      setTimeout(() => socket.write(Buffer.concat([ok, data('text'), done])), 20)
    })
    await withSession(server, async (session) => {
      const answer = call(session)
      await soon(() => !session.usable)
      assert.equal((await failureOf(call(session))).sent, false)
      assert.equal((await answer).toString(), 'text')
      await soon(() => session.isClosed)
    })
  })

  it('the client does not connect to a peer that is silent or speaks another protocol', async () => {
    const other = peer(Buffer.alloc(0), Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await assert.rejects(
      withSession(other, async () => {}),
      /does not support HTTP\/2/,
    )
    const early = peer(Buffer.alloc(0), frame('ping', 0, 0, Buffer.alloc(8)))
    await assert.rejects(
      withSession(early, async () => {}),
      /does not support HTTP\/2/,
    )
  })
})

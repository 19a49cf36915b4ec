/**
 * Passes random bytes that resemble HTTP/1.1 responses, split at random, to this project's client and to Node's
 * independent implementation. A response that this client accepts as complete must be the response that Node's client
 * reads. The result must not depend on how the bytes are split.
 */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ConnectionPool } from '../../src/wire/http/client/connection-pool.ts'
import { requestHead } from '../../src/wire/http/client/request-head.ts'
import { streamCall } from '../../src/wire/http/client/streamed-call.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { rounds, seed, tell } from './scale.ts'

/** A complete response. Undefined if the response was rejected or truncated. */
type Read = { readonly status: number; readonly headers: readonly string[]; readonly body: string } | undefined

/** A connection to a server that responds to the first request with these pieces and then closes the connection. */
class Answering extends Duplex {
  readonly #pieces: readonly Buffer[]
  #isAsked = false

  constructor(pieces: readonly Buffer[]) {
    super()
    this.#pieces = pieces
    this.on('error', () => {})
  }

  override _read(): void {}

  override _write(_: unknown, __: string, done: () => void): void {
    if (!this.#isAsked) this.#answer()
    this.#isAsked = true
    done()
  }

  async #answer(): Promise<void> {
    for (const piece of this.#pieces) {
      await setImmediate()
      if (!this.destroyed) this.push(piece)
    }
    await setImmediate()
    if (!this.destroyed) this.push(null)
  }
}

async function readByUs(method: string, pieces: readonly Buffer[]): Promise<Read> {
  const pool = new ConnectionPool({ open: async () => new Answering(pieces), maxConnections: 1 })
  const head = requestHead(method, '/', ['host', 'a'])
  const parts = { pool, serverName: 'a', method, head, body: undefined, timeoutMs: 60_000, signal: undefined }
  try {
    const { status, rawHeaders, body } = await streamCall(parts)
    return { status, headers: rawHeaders, body: (await buffer(body)).toString('latin1') }
  } catch {
    return undefined
  } finally {
    pool.destroy()
  }
}

function readByNode(method: string, pieces: readonly Buffer[]): Promise<Read> {
  return new Promise((resolve) => {
    const outgoing = request({ method, createConnection: () => new Answering(pieces) })
    let isAnswered = false
    // The stream of the body reports an error after the head of the response.
    const fail = () => isAnswered || resolve(undefined)
    outgoing.on('error', fail).on('close', fail)
    outgoing.on('response', async (response) => {
      isAnswered = true
      const body = await buffer(response).catch(() => undefined)
      const { statusCode: status = 0, rawHeaders: headers, complete } = response
      resolve(complete && body !== undefined ? { status, headers, body: body.toString('latin1') } : undefined)
      outgoing.destroy()
    })
    outgoing.end()
  })
}

/** Like Go, and unlike Node.js, the tested parser ignores the syntax of chunk extensions and the blanks before them. */
const looseChunkLine = /\r\n[0-9a-fA-F]+[ \t;]/

// Generates the bytes of random responses.

const text = (random: RandomSource, letters: string, most: number) =>
  Array.from({ length: random.below(most + 1) }, () => random.pick([...letters])).join('')

function chunks(random: RandomSource, body: string): string {
  let sent = ''
  for (let at = 0; at < body.length; ) {
    const part = body.slice(at, at + 1 + random.below(20))
    sent += `${part.length.toString(16)}${random.chance(0.2) ? random.pick([';a', ';a=b', ';a;b=1']) : ''}\r\n${part}\r\n`
    at += part.length
  }
  return `${sent}0\r\n${random.chance(0.3) ? `X-Trailer: ${text(random, 'ab ', 5)}\r\n` : ''}\r\n`
}

function response(random: RandomSource, method: string): string {
  const status = random.pick([200, 200, 200, 201, 204, 206, 302, 304, 404, 500])
  const early = random.chance(0.1) ? 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n' : ''
  const lines = [`HTTP/1.${random.chance(0.9) ? 1 : 0} ${status} ${text(random, 'OK a', 4)}`]
  for (let n = random.below(4); n > 0; n--)
    lines.push(
      `x-${n}${text(random, "aZ9!#$&'*+.^_`|~-", 5)}:${text(random, ' \t', 2)}${text(random, 'a:, \u00e9"', 9)}`,
    )
  if (random.chance(0.1)) lines.push(random.pick(['Connection: keep-alive', 'Connection: close']))
  const body = text(random, 'ab\r\n0 :HTTP/', 200)
  const isBare = method === 'HEAD' || status === 204 || status === 304
  const framing = random.pick(['none', 'length', 'chunked'])
  if (framing === 'none') return `${early}${[...lines, '', isBare ? '' : body].join('\r\n')}`
  if (framing === 'length')
    return `${early}${[...lines, `Content-Length: ${body.length}`, '', isBare ? '' : body].join('\r\n')}`
  return `${early}${[...lines, 'Transfer-Encoding: chunked', '', isBare ? '' : chunks(random, body)].join('\r\n')}`
}

const bytes = ['\r', '\n', '\r\n', '\0', ' ', '\t', ':', ';', ',', '\x7f', '\x80', '0', '1', 'a', '-', '+', '\r\n\r\n']
const lines = [
  ...['Content-Length: 3\r\n', 'Content-Length:\r\n', 'Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip\r\n'],
  ...[' folded\r\n', 'no colon\r\n', 'a b: c\r\n', 'Connection: close\r\n', 'HTTP/1.1 200 OK\r\n'],
]

function damaged(random: RandomSource, sent: string): string {
  let result = sent
  for (let n = 1 + random.below(3); n > 0; n--) {
    const at = random.below(result.length)
    const ends = random.chance(0.3) ? result.indexOf('\r\n', at) + 2 : at
    const put = random.chance(0.15) ? '' : random.chance(0.3) ? random.pick(lines) : random.pick(bytes)
    result = `${result.slice(0, ends)}${put}${result.slice(ends + random.pick([0, 0, 1, 1, 2, 10]))}`
  }
  return result
}

function inPieces(random: RandomSource, sent: string): Buffer[] {
  const all = Buffer.from(sent, 'latin1')
  const most = random.pick([1, 3, 20, 100, 100_000])
  const pieces: Buffer[] = []
  for (let at = 0; at < all.length; ) {
    const size = pieces.length > 60 ? all.length : 1 + random.below(most)
    pieces.push(all.subarray(at, at + size))
    at += size
  }
  return pieces
}

test('random bytes that resemble HTTP/1.1 responses are rejected or parsed in the same way as by Node', {
  timeout: 3_600_000,
}, async () => {
  const random = seeded(seed)
  const counts = { responses: 0, accepted: 0, 'rejected only by us': 0 }
  const tryOne = async () => {
    const method = random.pick(['GET', 'GET', 'POST', 'HEAD'])
    const isSound = random.chance(0.3)
    const sound = response(random, method)
    const sent = isSound ? sound : damaged(random, sound)
    const [here, again, there] = await Promise.all([
      readByUs(method, inPieces(random, sent)),
      readByUs(method, inPieces(random, sent)),
      readByNode(method, inPieces(random, sent)),
    ])
    const shown = `${method} ${JSON.stringify(sent)}`
    assert.deepEqual(again, here, `in other pieces: ${shown}`)
    const isLenient = there === undefined && looseChunkLine.test(sent)
    if ((here !== undefined || isSound) && !isLenient) assert.deepEqual(here, there, shown)
    if (isSound) assert.notEqual(here, undefined, shown)
    counts.responses++
    if (here !== undefined) counts.accepted++
    else if (there !== undefined) counts['rejected only by us']++
  }
  const end = rounds(20, 2000)
  for (let i = 0; i < end; i++) await Promise.all(Array.from({ length: 20 }, tryOne))
  tell('HTTP/1.1 responses', counts)
})

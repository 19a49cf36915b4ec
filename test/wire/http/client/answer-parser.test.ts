/**
 * Tests the HTTP/1.1 response parser, with whole responses and byte by byte: which responses are accepted, which are
 * rejected, and whether the connection is reused.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerBuffer } from '../../../../src/wire/http/client/answer-buffer.ts'
import { AnswerParser } from '../../../../src/wire/http/client/answer-parser.ts'

const maxBytes = 1000

/**
 * Returns the result of parsing a response that arrives in pieces of `pieceSize` bytes, followed by the end of the
 * connection.
 */
function read(text: string, pieceSize: number): string {
  const answer = new AnswerBuffer(maxBytes)
  const parser = new AnswerParser(answer)
  const bytes = Buffer.from(text, 'latin1')
  let isComplete = false
  try {
    for (let at = 0; at < bytes.length && !isComplete; at += pieceSize)
      isComplete = parser.push(bytes.subarray(at, at + pieceSize))
  } catch (error) {
    return (error as Error).message
  }
  const then = parser.keepsConnection ? 'goes on' : 'ends'
  if (isComplete) return `${answer.status} ${answer.body} ${then}`
  return parser.end() ? `${answer.status} ${answer.body} by its end` : 'incomplete'
}

const ok = 'HTTP/1.1 200 OK\r\n'
const invalid = 'the response is not valid HTTP/1.1'
const tooMuch = 'the response has too many bytes outside its body'
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`

const cases: readonly (readonly [text: string, outcome: string])[] = [
  [`${ok}content-length: 2\r\n\r\n{}`, '200 {} goes on'],
  [`${ok}Content-Length:2 \r\nX: \xe9\r\n\r\n{}`, '200 {} goes on'],
  [`${ok}content-length: 0\r\n\r\n`, '200  goes on'],
  ['HTTP/1.1 204\r\n\r\n', '204  goes on'],
  [`HTTP/1.1 103 Early\r\nlink: a\r\n\r\n${ok}content-length: 1\r\n\r\na`, '200 a goes on'],
  [`${ok}content-length: 1\r\nconnection: Close\r\n\r\na`, '200 a ends'],
  ['HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na', '200 a ends'],
  [`${ok}\r\nall of it`, '200 all of it by its end'],
  [`${chunked}1\r\na\r\n1F;x=y\r\n${'b'.repeat(31)}\r\n0\r\n\r\n`, `200 a${'b'.repeat(31)} goes on`],
  [`${chunked}1\r\na\r\n0\r\nx-trailer: 1\r\n\r\n`, '200 a goes on'],
  [`${ok}content-length: 3\r\n\r\n{}`, 'incomplete'],
  [`${chunked}5\r\nabc`, 'incomplete'],
  [ok, 'incomplete'],
  ['', 'incomplete'],
  [`${ok}content-length: 2\r\ncontent-length: 2\r\n\r\n{}`, invalid],
  [`${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, invalid],
  [`${ok}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, invalid],
  [`${ok}content-length: -1\r\n\r\n`, invalid],
  [`${ok}content-length: 0x2\r\n\r\n{}`, invalid],
  [`${ok}content-length : 2\r\n\r\n{}`, invalid],
  [`${ok}a: b\r\n folded\r\n\r\n`, invalid],
  [`${ok}a: b\nc: d\r\n\r\n`, invalid],
  [`${ok}no colon\r\n\r\n`, invalid],
  ['HTTP/2 200 OK\r\n\r\n', invalid],
  ['SSH-2.0-x\r\n\r\n', invalid],
  [`${chunked}g\r\n`, invalid],
  [`${chunked}123456789\r\n`, invalid],
  [`${chunked}1\r\nab\r\n`, invalid],
  [`${ok}a: ${'x'.repeat(17_000)}\r\n\r\n`, invalid],
  [`${ok}a: ${'x'.repeat(17_000)}`, invalid],
  [`${chunked}1;${'x'.repeat(2000)}\r\na\r\n0\r\n\r\n`, invalid],
  [`${ok}content-length: 1001\r\n\r\n${'x'.repeat(1001)}`, 'the response has more than 1000 bytes'],
  [`${chunked}3e9\r\n${'x'.repeat(1001)}\r\n0\r\n\r\n`, 'the response has more than 1000 bytes'],
  [`${ok}\r\n${'x'.repeat(1001)}`, 'the response has more than 1000 bytes'],
  [`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)}${ok}content-length: 1\r\n\r\na`, '200 a goes on'],
  [`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3000)}${ok}content-length: 1\r\n\r\na`, tooMuch],
  [`${chunked}1\r\na\r\n0\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(70)}\r\n`, tooMuch],
  [`${chunked}${`1;${'x'.repeat(1000)}\r\na\r\n`.repeat(70)}0\r\n\r\n`, tooMuch],
  ['HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n', 'the response is a redirect (302), which is not followed'],
  ['HTTP/1.1 500 Oh\r\n\r\n', 'the response has status 500'],
  ['HTTP/1.1 101 Switching Protocols\r\n\r\n', 'the response has status 101'],
  [`${ok}content-encoding: gzip\r\n\r\n`, 'the response is compressed, which was not requested'],
]

test('an HTTP response is parsed in the same way regardless of how it is split into chunks', () => {
  for (const [text, outcome] of cases)
    for (const pieceSize of [text.length || 1, 7, 1])
      assert.equal(read(text, pieceSize), outcome, `${JSON.stringify(text.slice(0, 200))} by ${pieceSize}`)
})

test('unexpected data after an HTTP response is not parsed as the next response', () => {
  const answer = `${ok}content-length: 2\r\n\r\n{}`
  assert.equal(read(answer + answer, 1000), '200 {} ends')
})

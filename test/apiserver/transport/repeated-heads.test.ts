/**
 * Tests that neither parsing a request head nor writing a response head depends on earlier heads, even though the last
 * header lines are remembered.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerHead } from '../../../src/apiserver/transport/http1/answer-head.ts'
import { HeadParser, refusals } from '../../../src/apiserver/transport/http1/head.ts'

const requestLines = [
  'GET /a HTTP/1.1',
  'POST /b?c=d HTTP/1.1',
  'GET /a HTTP/1.0',
  'CONNECT a:1 HTTP/1.1',
  'GET /a b HTTP/1.1',
  'GET /a HTTP/2.0',
  'GET',
]
const headerLines = [
  [],
  ['host: a'],
  ['host: a', 'authorization: Bearer t', 'accept: */*'],
  ['host: a', 'content-length: 5'],
  ['host: a', 'content-length: 5', 'content-length: 5'],
  ['host: a', 'transfer-encoding: chunked'],
  ['host: a', 'transfer-encoding: chunked', 'content-length: 5'],
  ['host: a', 'connection: close'],
  ['host: a', 'connection: upgrade', 'upgrade: websocket'],
  ['host: a', 'expect: 100-continue'],
  ['host: a', 'expect: else'],
  ['host: a', 'host: b'],
  ['host: a', ' continued'],
  ['host: a', `long: ${'x'.repeat(3000)}`],
  Array.from({ length: 3000 }, (_, i) => `h${i}: ${i}`),
]
const heads = requestLines.flatMap((first) => headerLines.map((lines) => [first, ...lines].join('\r\n')))

test('parsing a request head does not depend on earlier heads', () => {
  const alone = heads.map((head) => new HeadParser().parse(head))
  assert.equal(new Set(alone.map((parsed) => (typeof parsed === 'string' ? parsed : 'a request'))).size, 5)
  for (const [i, before] of heads.entries()) {
    const parser = new HeadParser()
    parser.parse(before)
    for (const [j, head] of heads.entries()) {
      if ((i + j) % 3 !== 0) continue
      assert.deepEqual(parser.parse(head), alone[j], `${head.slice(0, 100)} after ${before.slice(0, 100)}`)
      assert.deepEqual(parser.parse(head), alone[j], `${head.slice(0, 100)} repeated`)
    }
  }
})

test('a repeated request head reuses the parsed headers of the first head', () => {
  const parser = new HeadParser()
  const head = 'GET /a HTTP/1.1\r\nhost: a\r\naccept: */*'
  const [first, second] = [parser.parse(head), parser.parse(head.replace('/a', '/b'))]
  assert.ok(typeof first === 'object' && typeof second === 'object')
  assert.equal(second.target, '/b')
  assert.equal(second.rawHeaders, first.rawHeaders)
  assert.equal(parser.parse('GET /a HTTP/1.1'), refusals.bad)
})

test('writing a response head does not depend on earlier heads', () => {
  const long = 'x'.repeat(3000)
  const lists = [
    [],
    ['a', '1'],
    ['a', '2', 'b', '1'],
    ['b', '1', 'a', '2'],
    ['a', long],
    ['a', '1', 'date', 'never'],
    Array.from({ length: 200 }, (_, i) => `h${i >> 1}`),
  ]
  for (const headers of [...lists, ...lists.toReversed(), ...lists]) {
    const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []))
    for (let repeated = 0; repeated < 3; repeated++) {
      const [first, ...rest] = answerHead(200, headers, 'more: yes\r\n').split('\r\n')
      const sent = headers.includes('date') ? rest : rest.filter((line) => !line.startsWith('date: '))
      assert.deepEqual([first, ...sent], ['HTTP/1.1 200 OK', ...lines, 'more: yes', '', ''])
      assert.equal(rest.filter((line) => line.startsWith('date: ')).length, 1)
    }
    for (let repeated = 0; repeated < 3; repeated++)
      assert.throws(() => answerHead(200, [...headers, 'bad', 'a\r\nb: c']), /the response header bad/)
  }
})

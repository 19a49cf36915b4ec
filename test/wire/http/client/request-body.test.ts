/** Tests that a request body is sent only as fast as the server reads it. */
import assert from 'node:assert/strict'
import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sendBody } from '../../../../src/wire/http/client/request-body.ts'

/** Maximum number of turns of the event loop in which the socket accepts the body, one write in each turn. */
const maxTurns = 50_000

for (const [framing, length] of [
  ['a chunked body', undefined],
  ['a body of known length', 5000],
] as const)
  test(`the connection buffers only one part of ${framing} at a time, even if the parts are very small`, async () => {
    const accept: (() => void)[] = []
    let received = ''
    const socket = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        received += chunk
        accept.push(done)
      },
    })
    const stream = new PassThrough()
    let isSent = false
    sendBody(
      socket,
      { stream, length, isWhole: () => true },
      { onSent: () => (isSent = true), onBreak: () => assert.fail() },
    )
    for (let i = 0; i < 5000; i++) stream.write('a')
    stream.end()
    for (let i = 0; i < 10; i++) await setImmediate()
    assert.ok(socket.writableLength < 10, `${socket.writableLength} bytes`)
    for (let turn = 0; turn < maxTurns && !(isSent && socket.writableLength === 0); turn++) {
      accept.shift()?.()
      await setImmediate()
    }
    assert.ok(isSent)
    assert.equal(received, length === undefined ? `${'1\r\na\r\n'.repeat(5000)}0\r\n\r\n` : 'a'.repeat(length))
  })

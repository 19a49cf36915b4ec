/**
 * Tests that a truncated response never looks complete, over either protocol. A client must not mistake half of a list
 * for the whole list.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { test } from 'node:test'
import type { ServerTransport } from '../../../src/apiserver/transport/server-transport.ts'
import { closed, listen, open } from '../../support/listener.ts'

/** Starts a response, optionally sends a part of it, and cuts it off. */
function halfAnswer(part: string) {
  return async (transport: ServerTransport) => {
    transport.open(200, ['content-type', 'text/plain'])
    if (part !== '') await transport.pass(Buffer.from(part))
    transport.cut()
  }
}

for (const part of ['', 'half an answer', 'x'.repeat(100_000)]) {
  const position = `after ${part.length} bytes`

  test(`an HTTP/2 response that is truncated ${position} is recognizably incomplete`, async (t) => {
    const port = await listen(t, { onRequest: halfAnswer(part) })
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    t.after(() => session.destroy())
    for (let i = 0; i < 20; i++) {
      const stream = session.request({ ':path': '/' })
      const read = async () => {
        for await (const _ of stream);
        return stream.rstCode ?? 0
      }
      const code = await read().catch((error: { code?: string }) => error.code)
      assert.notEqual(code, 0)
    }
  })

  test(`an HTTP/1.1 response that is truncated ${position} is recognizably incomplete`, async (t) => {
    const socket = await open(await listen(t, { onRequest: halfAnswer(part) }), 'http/1.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const text = await closed(t, socket)
    assert.doesNotMatch(text, /\r\n0\r\n\r\n$/)
  })
}

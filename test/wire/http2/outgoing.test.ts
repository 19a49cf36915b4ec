/** Tests when the data of an HTTP/2 connection is written to its socket. */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Outgoing } from '../../../src/wire/http2/outgoing.ts'

/** Returns a socket's output buffer and the texts that are written to the socket. */
function recorded(t: TestContext): { readonly outgoing: Outgoing; readonly written: string[] } {
  const socket = new Socket()
  t.after(() => socket.destroy())
  const written: string[] = []
  socket._write = (chunk: Buffer, _, done) => {
    written.push(chunk.toString())
    done()
  }
  return { outgoing: new Outgoing(socket, () => {}), written }
}

test('data is written before the next event in the same event-loop turn is handled', async (t) => {
  const { outgoing, written } = recorded(t)
  const seen = await new Promise<readonly string[]>((resolve) => {
    // Both `setImmediate` callbacks run in the same iteration of the event loop.
    setImmediate(() => outgoing.add(Buffer.from('response')))
    setImmediate(() => resolve([...written]))
  })
  assert.deepEqual(seen, ['response'])
})

test('data from one event and its microtasks is sent in a single write', async (t) => {
  const { outgoing, written } = recorded(t)
  outgoing.add(Buffer.from('a'))
  await Promise.resolve()
  outgoing.add(Buffer.from('b'))
  await Promise.resolve().then(() => Promise.resolve())
  outgoing.add(Buffer.from('c'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(written, ['abc'])
})

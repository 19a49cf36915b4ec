/** Tests the back-pressure that a full socket applies to its writers. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { waitForDrain } from '../../../src/wire/streaming/wait-for-drain.ts'

test('all writers to a full socket share one pair of listeners, and continue when the socket drains', async () => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as { port: number }).port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  try {
    assert.equal(waitForDrain(socket), undefined)
    const before = socket.listenerCount('close')
    const message = Buffer.alloc(1024 * 1024)
    for (let i = 0; i < 1000 && !socket.writableNeedDrain; i++) socket.write(message)
    const waiting = Array.from({ length: 100 }, () => {
      socket.write(message)
      return waitForDrain(socket)
    })
    assert.ok(waiting.every((each) => each !== undefined))
    assert.equal(socket.listenerCount('close'), before + 1)
    assert.equal(socket.listenerCount('drain'), 1)
    client.resume()
    await Promise.all(waiting)
    assert.equal(waitForDrain(socket), undefined)
    assert.equal(socket.listenerCount('close'), before)
  } finally {
    client.destroy()
    socket.destroy()
    server.close()
  }
})

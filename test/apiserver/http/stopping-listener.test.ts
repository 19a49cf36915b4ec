/** Tests that a closing listener responds to all requests that clients have sent, even on a slow machine. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { drainTime } from '../../../src/apiserver/transport/connection-limits.ts'
import { closed, long, open, openListener } from '../../support/listener.ts'

const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const lastAnswer = /^HTTP\/1\.1 200 .*connection: close/is

test('a stopping listener that was starved of CPU reads all received data before it closes connections', async (t) => {
  const listener = await openListener(t, {})
  const { port } = listener
  const sockets = [await open(port, 'http/1.1'), await open(port, 'http/1.1')]
  const answers = sockets.map((socket) => closed(t, socket))
  const ended = listener.close(long)
  await listenerIsShut(port)
  for (const socket of sockets) socket.write(request)
  blockFor(drainTime * 1.5)
  for (const answer of await Promise.all(answers)) assert.match(answer, lastAnswer)
  await ended
})

test('a closing listener keeps connections open while slow clients send their requests', async (t) => {
  const listener = await openListener(t, {})
  const { port } = listener
  const sockets = [await open(port, 'http/1.1'), await open(port, 'http/1.1'), await open(port, 'http/1.1')]
  const answers = sockets.map((socket) => closed(t, socket))
  const ended = listener.close(long)
  for (const socket of sockets) {
    await pause(drainTime * 0.6)
    socket.write(request)
  }
  for (const answer of await Promise.all(answers)) assert.match(answer, lastAnswer)
  await ended
})

/** Waits until the listener has stopped accepting connections. After that, existing connections wait to be closed. */
async function listenerIsShut(port: number): Promise<void> {
  const connects = () =>
    open(port, 'http/1.1').then(
      (socket) => socket.destroy(),
      () => undefined,
    )
  while ((await connects()) !== undefined);
  await setImmediate()
}

function blockFor(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** Applies back-pressure to replies: the server stops reading from a client that does not read the replies. */
import type { Duplex } from 'node:stream'

/** A pending promise for each socket whose buffer is full. All writers to the socket share it. */
const draining = new WeakMap<Duplex, Promise<void>>()

/**
 * Waits until the socket has room for more data. Returns undefined if the socket has room now. Otherwise returns a
 * promise that resolves when the socket has room or is closed.
 */
export function waitForDrain(socket: Duplex): Promise<void> | undefined {
  if (!socket.writableNeedDrain || socket.destroyed) return undefined
  const waiting = draining.get(socket)
  if (waiting !== undefined) return waiting
  const drained = new Promise<void>((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      draining.delete(socket)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
  draining.set(socket, drained)
  return drained
}

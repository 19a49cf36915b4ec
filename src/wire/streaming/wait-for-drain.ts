/** Applies back-pressure to replies: the server stops reading from a client that does not read the replies. */
import type { Duplex } from 'node:stream'

/** The promises of sockets that have no room. All writers to a socket share one promise and its listeners. */
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

/** Applies back-pressure to replies: the server stops reading from a client that does not read the replies. */
import type { Duplex } from 'node:stream'

/**
 * Waits until the socket has room for more data. Returns undefined if the socket has room now. Otherwise returns a
 * promise that resolves when the socket has room or is closed.
 */
export function waitForDrain(socket: Duplex): Promise<void> | undefined {
  if (!socket.writableNeedDrain || socket.destroyed) return undefined
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}

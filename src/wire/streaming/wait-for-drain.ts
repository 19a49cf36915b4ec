/** Back-pressure for replies: the server stops reading from a client that does not read its replies. */
import type { Duplex } from 'node:stream'

/**
 * Waits until the socket has room. Returns undefined if it has. Otherwise returns a promise that resolves when it has
 * or when it is closed.
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

/** Back-pressure for answers to what a client sends: nothing more is read of a client that does not take them. */
import type { Duplex } from 'node:stream'

/** Undefined where a socket has room for more; else resolves when it has, or is closed. */
export function roomOn(socket: Duplex): Promise<void> | undefined {
  if (!socket.writableNeedDrain || socket.destroyed) return undefined
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}

/**
 * Bounds how much one connection is read in a turn of the event loop. Otherwise libuv reads a socket up to 32 times in
 * a row while its client keeps it full, which is up to 2 MiB. All other connections would wait for that.
 */
import type { Socket } from 'node:net'

/** Maximum number of bytes that a connection delivers in a turn, apart from those that are already decrypted. */
const maxBytesPerTurn = 64 * 1024
/** Cost of delivering a chunk, in bytes. Small TLS records cost far more than their bytes. */
const bytesPerChunk = 128

/** The number of the turn in which connections currently deliver. */
let turn = 0
/** Whether the next turn is scheduled. */
let isScheduled = false
/** Continues the connections that have reached the limit, in this order. */
let continuations: (() => void)[] = []

function nextTurn(): void {
  turn++
  isScheduled = false
  const due = continuations
  continuations = []
  for (const resume of due) resume()
}

/** Makes the socket stop reading for the rest of the turn after `maxBytesPerTurn`. */
export function readFairly(socket: Socket): void {
  let lastTurn = -1
  let delivered = 0
  let isStopped = false
  /** Whether the stream has asked for more while it was stopped. It does not ask again. */
  let isAwaited = false
  const push = socket.push.bind(socket)
  const read = socket._read.bind(socket)
  const resume = () => {
    isStopped = false
    if (isAwaited) read(0)
    isAwaited = false
  }
  socket._read = (size) => {
    if (isStopped) isAwaited = true
    else read(size)
  }
  // The native stream stops reading if `push` returns false.
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    if (chunk === null) return push(chunk)
    if (lastTurn !== turn) {
      lastTurn = turn
      delivered = 0
    }
    delivered += chunk.length + bytesPerChunk
    if (!isScheduled) {
      isScheduled = true
      setImmediate(nextTurn)
    }
    if (delivered >= maxBytesPerTurn && !isStopped) {
      isStopped = true
      continuations.push(resume)
    }
    return push(chunk, encoding) && !isStopped
  }
}

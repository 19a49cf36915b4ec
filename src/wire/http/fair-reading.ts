/**
 * Bounds what a connection costs this process while it is read.
 *
 * Time: libuv reads a socket up to 32 times in a row while the other side keeps it full, which is up to 2 MiB. All other
 * connections would wait for that, so a connection is read only up to a limit in each turn of the event loop.
 *
 * Memory: a stream holds each chunk separately, and a client can send each byte in a TLS record of its own. While the
 * reader of a connection is behind, small chunks are joined.
 */
import type { Socket } from 'node:net'
import { ByteQueue } from '../../base/collections/byte-queue.ts'

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

/** Makes the socket stop reading for the rest of the turn after `maxBytesPerTurn`, and join small chunks. */
export function readFairly(socket: Socket): void {
  let lastTurn = -1
  let delivered = 0
  let isStopped = false
  /** Whether the stream has asked for more while it was stopped. It does not ask again. */
  let isAwaited = false
  /** What has arrived while the reader was behind, and is not in the stream yet. */
  const late = new ByteQueue()
  const push = socket.push.bind(socket)
  const read = socket._read.bind(socket)
  const take = socket.read.bind(socket)
  const pushLate = () => {
    for (const part of late.takeParts()) push(part)
  }
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
    if (chunk === null) {
      pushLate()
      return push(chunk)
    }
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
    if (socket.readableLength === 0) return push(chunk, encoding) && !isStopped
    late.add(chunk)
    return socket.readableLength + late.size < socket.readableHighWaterMark && !isStopped
  }
  socket.read = (size) => {
    const chunk = take(size) as Buffer | null
    if (late.size > 0 && socket.readableLength === 0) pushLate()
    return chunk
  }
}

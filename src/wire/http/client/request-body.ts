/**
 * Streams the body of a request to a connection as fast as the server reads the body. If the body is truncated or does
 * not have the announced length, the connection is closed, so that the server does not mistake a part of the body for
 * the whole body.
 */
import type { Readable, Writable } from 'node:stream'
import { readStream } from '../../../base/concurrency/read-stream.ts'

/** A request body that is sent while it is being read. */
export interface StreamedBody {
  readonly stream: Readable
  /** The Content-Length of the request. Undefined if the body is sent in chunks. */
  readonly length: number | undefined
  /** Whether the stream delivered the complete body. Called after the stream has ended. */
  readonly isWhole: () => boolean
}

/**
 * Callbacks for a body that has been sent completely, and for a body that is truncated. Neither is called if sending is
 * stopped.
 */
export interface BodyOutcome {
  readonly onSent: () => void
  readonly onBreak: () => void
}

/** Returns the header that tells the server where the body ends: Content-Length or Transfer-Encoding. */
export function bodyFraming({ length }: StreamedBody): string[] {
  return length === undefined ? ['transfer-encoding', 'chunked'] : ['content-length', String(length)]
}

/**
 * Sends a body. The returned function stops sending. It discards the rest of the stream, so that the stream's producer
 * is not blocked and can read the response.
 */
export function sendBody(socket: Writable, body: StreamedBody, { onSent, onBreak }: BodyOutcome): () => void {
  const { stream, length, isWhole } = body
  const write = length === undefined ? writeChunk : writeBytes
  let sentBytes = 0
  let isOver = false
  const breakOff = () => {
    if (!isOver) onBreak()
  }
  const onData = (chunk: Buffer) => {
    sentBytes += chunk.length
    if (sentBytes > (length ?? sentBytes)) breakOff()
    // Skip empty chunks. In chunked encoding, they would end the body.
    else if (chunk.length > 0) {
      // Write one chunk at a time, because each queued chunk takes separate memory. Meanwhile, the source joins small
      // chunks.
      stream.pause()
      write(socket, chunk, () => stream.resume())
    }
  }
  const onEnd = () => {
    if (isOver) return
    if (!isWhole() || sentBytes !== (length ?? sentBytes)) {
      breakOff()
      return
    }
    isOver = true
    if (length === undefined) socket.write('0\r\n\r\n', 'latin1')
    onSent()
  }
  readStream(stream, { onData, onEnd, onBreak: breakOff })
  return () => {
    stream.off('data', onData)
    if (!isOver) stream.resume()
    isOver = true
  }
}

function writeBytes(socket: Writable, chunk: Buffer, onWritten: () => void): void {
  socket.write(chunk, onWritten)
}

function writeChunk(socket: Writable, chunk: Buffer, onWritten: () => void): void {
  socket.cork()
  socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
  socket.write(chunk)
  socket.write('\r\n', 'latin1', onWritten)
  socket.uncork()
}

/**
 * Reads a stream through its events, which for small bodies is much cheaper than using an iterator.
 *
 * A stream may end or be destroyed before its reader attaches: Node.js ends the readable side of an HTTP/2 stream as
 * soon as an empty frame ends the stream, and emits each event only once. `readStream` reports the end to late readers
 * as well.
 */
import type { Readable } from 'node:stream'

export interface StreamReader {
  readonly onData: (chunk: Buffer) => void
  readonly onEnd: () => void
  /** Called when the stream fails or closes, even after all data has been read. */
  readonly onBreak: () => void
}

/**
 * Reports the data, the end and the premature close of a stream to a reader, even if the stream has already ended or
 * closed.
 */
export function readStream(stream: Readable, { onData, onEnd, onBreak }: StreamReader): void {
  if (stream.readableEnded) onEnd()
  else if (stream.destroyed) onBreak()
  else stream.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)
}
